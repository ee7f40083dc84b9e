package jsontext

import (
	"encoding/binary"
	"math/bits"
)

// Each function of the grammar returns the place after what it has checked, or
// a fault: one number, because most of the time is spent here.

// want says what was expected where a text stops being JSON.
type want int

const (
	wantValue want = iota
	wantKey
	wantColon
	wantMember
	wantElement
	wantDigit
	wantEscape
	wantControl
	wantQuote
	wantTrue
	wantFalse
	wantNull
	wantLess
)

var wanted = [16]string{"a value", "a key", "':'", "',' or '}'", "',' or ']'", "a digit", "an escape sequence",
	"an escaped control character", "'\"'", "true", "false", "null", "less nesting"}

// fault is the end of what is no JSON from i on.
func fault(i int, w want) int { return -1 - (i<<4 | int(w)) }

func syntaxError(fault int) *SyntaxError {
	f := -1 - fault
	return &SyntaxError{f >> 4, wanted[f&15]}
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

func value(b []byte, i, depth int) int {
	if i >= len(b) {
		return fault(i, wantValue)
	}
	switch c := b[i]; {
	case c == '"':
		return str(b, i+1)
	case c == '{':
		return object(b, i, depth, nil)
	case c == '[':
		return array(b, i, depth, nil)
	case c == '-' || c >= '0' && c <= '9':
		return number(b, i)
	case c == 't':
		return literal(b, i, "true", wantTrue)
	case c == 'f':
		return literal(b, i, "false", wantFalse)
	case c == 'n':
		return literal(b, i, "null", wantNull)
	}
	return fault(i, wantValue)
}

// object checks the object that begins at i. With fn, the values are fn's to
// check.
func object(b []byte, i, depth int, fn func(key []byte, at int) int) int {
	if depth >= MaxDepth {
		return fault(i, wantLess)
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return fault(i, wantKey)
		}
		start := i + 1
		if i = str(b, start); i < 0 {
			return i
		}
		key := b[start : i-1]
		if i >= len(b) || b[i] != ':' {
			if i = space(b, i); i >= len(b) || b[i] != ':' {
				return fault(i, wantColon)
			}
		}
		if i = space(b, i+1); fn != nil {
			i = fn(key, i)
		} else {
			i = value(b, i, depth+1)
		}
		if i < 0 {
			return i
		}
		switch i = space(b, i); {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == '}':
			return i + 1
		default:
			return fault(i, wantMember)
		}
	}
}

// array checks the array that begins at i. With fn, the elements are fn's to
// check.
func array(b []byte, i, depth int, fn func(at int) int) int {
	if depth >= MaxDepth {
		return fault(i, wantLess)
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if fn != nil {
			i = fn(i)
		} else {
			i = value(b, i, depth+1)
		}
		if i < 0 {
			return i
		}
		switch i = space(b, i); {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == ']':
			return i + 1
		default:
			return fault(i, wantElement)
		}
	}
}

func literal(b []byte, i int, word string, w want) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return fault(i, w)
	}
	return i + len(word)
}

func number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digits(b, i); i < 0 {
		return i
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return i
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digits(b, i)
	}
	return i
}

func digits(b []byte, i int) int {
	start := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == start {
		return fault(i, wantDigit)
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// marks has the high bit set in the first byte of w that needs attention
// inside a string: a quote, a backslash or a control character. Bits above
// the first may be wrong (the subtraction borrows), so only the lowest counts.
func marks(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return ((w-0x20*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// str checks the string whose text begins at i, eight bytes at a time. Texts
// are most of a file, and escapes dense in them: all is in one loop.
func str(b []byte, i int) int {
	for i+8 <= len(b) {
		m := marks(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\' && i+1 < len(b) && escapes[b[i+1]] == 2:
			i += 2
		default:
			if i = escape(b, i); i < 0 {
				return i
			}
		}
	}
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\' || c < 0x20:
			if i = escape(b, i); i < 0 {
				return i
			}
		default:
			i++
		}
	}
	return fault(i, wantQuote)
}

// escape steps over the escape sequence at i.
func escape(b []byte, i int) int {
	if b[i] != '\\' {
		return fault(i, wantControl)
	}
	if i+1 < len(b) {
		switch escapes[b[i+1]] {
		case 2:
			return i + 2
		case 6:
			if i+6 <= len(b) && isHex(b[i+2]) && isHex(b[i+3]) && isHex(b[i+4]) && isHex(b[i+5]) {
				return i + 6
			}
		}
	}
	return fault(i, wantEscape)
}

// escapes has the length of an escape sequence by the byte after its backslash.
var escapes = [256]uint8{'"': 2, '\\': 2, '/': 2, 'b': 2, 'f': 2, 'n': 2, 'r': 2, 't': 2, 'u': 6}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
