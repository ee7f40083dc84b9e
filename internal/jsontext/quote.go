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

// appendEscaped copies eight bytes at a time and puts a backslash before those of
// them that need one, which in JSON that is quoted inside JSON is every fifth.
// Where the next eight are does not depend on what these are, so that the
// processor can look ahead; and what is behind a backslash is the same bytes once
// more, written from the register that has them.
func appendEscaped(dst, s []byte) []byte {
	dst = slices.Grow(dst, len(s)+len(s)/8+64)
	n := len(dst)
	dst = dst[:cap(dst)]
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if n+64 > len(dst) { // more than eight escapes take
			dst = grow(dst, n, len(s)-i)
		}
		w := binary.LittleEndian.Uint64(s[i:])
		if (w-0x20*ones)&^w&highs != 0 { // a control character
			n = putEscaped(dst, n, s[i:i+8])
			continue
		}
		binary.LittleEndian.PutUint64(dst[n:], w)
		m := zeros(w^('"'*ones)) | zeros(w^('\\'*ones))
		from := 0 // where in w the bytes at n begin
		for ; m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m) >> 3
			n += k - from
			dst[n] = '\\'
			n++
			binary.LittleEndian.PutUint64(dst[n:], w>>(k*8&63))
			from = k
		}
		n += 8 - from
	}
	if n+64 > len(dst) {
		dst = grow(dst, n, len(s)-i)
	}
	return dst[:putEscaped(dst, n, s[i:])]
}

// zeros has the high bit set in every byte of w that is zero.
func zeros(w uint64) uint64 { return ^((w&^highs + ^uint64(highs)) | w) & highs }

// putEscaped puts up to eight bytes at dst[n], for which there is room, and
// returns the place behind them.
func putEscaped(dst []byte, n int, s []byte) int {
	for _, c := range s {
		if c < 0x20 || c == '"' || c == '\\' {
			n += putEscape(dst[n:n+6], c)
		} else {
			dst[n] = c
			n++
		}
	}
	return n
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
