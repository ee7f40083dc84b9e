package jsontext

import (
	"bytes"
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
// that are no UTF-8 stay as they are.
func AppendText(dst, b []byte) []byte {
	if b = Bare(b); cap(dst)-len(dst) < len(b) {
		dst = slices.Grow(dst, len(b))
	}
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 >= len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			var r rune
			r, b = unicodeEscape(b)
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
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
