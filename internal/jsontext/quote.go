package jsontext

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Valid UTF-8 stays as it is,
// U+2028 included; a byte that is no UTF-8 becomes U+FFFD, and then exact is
// false: who must keep the bytes has to keep them another way.
func AppendString(dst, s []byte) (out []byte, exact bool) {
	if exact = utf8.Valid(s); !exact {
		s = []byte(string([]rune(string(s)))) // each bad byte becomes U+FFFD
	}
	dst = append(dst, '"')
	return append(appendEscaped(dst, s), '"'), exact
}

// appendEscaped copies eight bytes at a time and steps back to the first that
// needs an escape. Quotes are dense in JSON that is quoted inside JSON, so
// the step is cheap: no call per run of plain bytes.
func appendEscaped(dst, s []byte) []byte {
	dst = slices.Grow(dst, len(s)+len(s)/8+64)
	n := len(dst)
	dst = dst[:cap(dst)]
	i := 0
	for i+8 <= len(s) {
		if n+8 > len(dst) {
			dst = grow(dst, n, len(s)-i)
		}
		w := binary.LittleEndian.Uint64(s[i:])
		binary.LittleEndian.PutUint64(dst[n:], w)
		m := marks(w)
		if m == 0 {
			i += 8
			n += 8
			continue
		}
		k := bits.TrailingZeros64(m) / 8
		i += k
		n += k
		if n+6 > len(dst) {
			dst = grow(dst, n, len(s)-i)
		}
		c := s[i]
		n += putEscape(dst[n:n+6], c)
		i++
		// In JSON that is quoted, a backslash is followed by what it
		// escapes, often another special byte: do not look again for it.
		if c == '\\' && i < len(s) && (s[i] == '"' || s[i] == '\\') && n+2 <= len(dst) {
			dst[n], dst[n+1] = '\\', s[i]
			n += 2
			i++
		}
	}
	for ; i < len(s); i++ {
		if n+6 > len(dst) {
			dst = grow(dst, n, len(s)-i)
		}
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			n += putEscape(dst[n:n+6], c)
		} else {
			dst[n] = c
			n++
		}
	}
	return dst[:n]
}

func grow(dst []byte, n, left int) []byte {
	dst = slices.Grow(dst[:n], 2*left+64)
	return dst[:cap(dst)]
}

func putEscape(dst []byte, c byte) int {
	dst[0] = '\\'
	switch c {
	case '"', '\\':
		dst[1] = c
	case '\n':
		dst[1] = 'n'
	case '\t':
		dst[1] = 't'
	case '\r':
		dst[1] = 'r'
	default:
		dst[1], dst[2], dst[3] = 'u', '0', '0'
		dst[4], dst[5] = hexDigits[c>>4], hexDigits[c&0xf]
		return 6
	}
	return 2
}

// String returns the text of the JSON string b. ok is false when b is no
// string.
func String(b []byte) (s string, ok bool) {
	if len(b) < 2 || b[0] != '"' {
		return "", false
	}
	if str(b, 1) != len(b) {
		return "", false
	}
	body := b[1 : len(b)-1]
	for _, c := range body {
		if c == '\\' || c >= utf8.RuneSelf {
			// Escapes, surrogates and bad UTF-8 are rare and subtle.
			return s, json.Unmarshal(b, &s) == nil
		}
	}
	return string(body), true
}
