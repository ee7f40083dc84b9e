package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is the text of the JSON string b, "" when b is none.
func Text(b []byte) string {
	s, _ := String(b)
	return s
}

// Bare returns what stands between the quotes of the JSON string b, as it is
// written, which for names and ids is the text itself; nil when b is none.
func Bare(b []byte) []byte {
	if len(b) < 2 || b[0] != '"' {
		return nil
	}
	return b[1 : len(b)-1]
}

// Quote is s as a JSON string.
func Quote(s string) []byte {
	b, _ := AppendString(nil, []byte(s))
	return b
}

// Members finds up to eight members of an object by their names, in one walk.
// Those that it does not have are nil, and all of what is no object.
func Members(object []byte, names ...string) (found [8][]byte) {
	_ = Walk(object, func(key, value []byte) error {
		for i, n := range names {
			if string(key) == n {
				found[i] = value
			}
		}
		return nil
	})
	return found
}

// Find is the text, as it is written, of the first string behind mark, which is
// how a member begins: "name":". It does not look at what is around it: it is for
// members that stand once on a line, or first where it counts. nil: none.
func Find(b []byte, mark string) []byte {
	i := bytes.Index(b, []byte(mark))
	if i < 0 {
		return nil
	}
	i += len(mark)
	end := str(b, i)
	if end < 0 {
		return nil
	}
	return b[i : end-1]
}

// AppendText appends the text of the JSON string b, which must be valid. Bytes
// that are no UTF-8 stay as they are. Escapes are dense in JSON that is quoted
// inside JSON: eight bytes are copied at a time, and to an escape is no call.
func AppendText(dst, b []byte) []byte {
	if b = Bare(b); len(b) == 0 {
		return dst
	}
	dst = slices.Grow(dst, len(b)+8) // no escape is shorter than what it stands for
	n := len(dst)
	dst = dst[:cap(dst)]
	i := 0
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(dst[n:], w)
		slash := w ^ ('\\' * ones)
		m := (slash - ones) &^ slash & highs
		if m == 0 {
			i += 8
			n += 8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		i += k
		n += k
		if i+1 < len(b) && unescaped[b[i+1]] != 0 {
			dst[n] = unescaped[b[i+1]]
			n++
			i += 2
			continue
		}
		i, n = appendOdd(dst, b, i, n)
	}
	for i < len(b) {
		if b[i] == '\\' {
			i, n = appendOdd(dst, b, i, n)
			continue
		}
		dst[n] = b[i]
		i++
		n++
	}
	return dst[:n]
}

// unescaped is what stands for a byte behind a backslash, but for u.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendOdd takes the escape at b[i], whatever it is, and puts its text at dst[n].
func appendOdd(dst, b []byte, i, n int) (int, int) {
	if i+1 >= len(b) {
		dst[n] = b[i]
		return i + 1, n + 1
	}
	if b[i+1] == 'u' {
		r, rest := unicodeEscape(b[i+2:])
		return len(b) - len(rest), n + len(utf8.AppendRune(dst[n:n], r))
	}
	if dst[n] = unescaped[b[i+1]]; dst[n] == 0 {
		dst[n] = b[i+1]
	}
	return i + 2, n + 1
}

// unicodeEscape reads the four digits of an escape, and of a surrogate its
// other half.
func unicodeEscape(b []byte) (rune, []byte) {
	hex4 := func(b []byte) (rune, bool) {
		if len(b) < 4 {
			return utf8.RuneError, false
		}
		n, err := strconv.ParseUint(string(b[:4]), 16, 32)
		return rune(n), err == nil
	}
	r, ok := hex4(b)
	if !ok {
		return utf8.RuneError, b[min(4, len(b)):]
	}
	b = b[4:]
	if utf16.IsSurrogate(r) {
		if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
			if low, ok := hex4(b[2:]); ok {
				if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
					return whole, b[6:]
				}
			}
		}
		return utf8.RuneError, b
	}
	return r, b
}

// AppendTexts appends the text of every string in a JSON value, each on lines
// of its own; members are named.
func AppendTexts(dst, v []byte) []byte { return appendTexts(dst, v, 0) }

func appendTexts(dst, v []byte, depth int) []byte {
	if len(v) == 0 || depth > 40 {
		return dst
	}
	switch v[0] {
	case '"':
		dst = append(AppendText(dst, v), '\n')
	case '{':
		_ = Walk(v, func(key, value []byte) error {
			if len(value) > 0 && value[0] != '{' && value[0] != '[' {
				dst = append(append(dst, key...), ": "...)
			}
			dst = appendTexts(dst, value, depth+1)
			return nil
		})
	case '[':
		_ = Elements(v, func(value []byte) error {
			dst = appendTexts(dst, value, depth+1)
			return nil
		})
	case 'n':
		dst = append(dst, '\n')
	default:
		dst = append(append(dst, v...), '\n')
	}
	return dst
}
