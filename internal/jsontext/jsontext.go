// Package jsontext reads and writes JSON text without turning it into values:
// it checks, walks and quotes bytes in place, so that what came from a source
// can be passed on as it came.
//
// It refuses what RFC 8259 refuses, and nesting deeper than MaxDepth. It
// accepts any bytes inside strings that are not control characters: whether
// text is UTF-8 is the caller's question (see AppendString). It allocates
// nothing while scanning, and a value that it returns is a part of the bytes
// that it was given.
package jsontext

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 10_000

// ErrNotObject is returned when an object was expected.
var ErrNotObject = errors.New("not a JSON object")

// SyntaxError says where the text stops being JSON.
type SyntaxError struct {
	Offset int
	Want   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("offset %d: expected %s", e.Offset, e.Want)
}

// Valid says whether b is one JSON value with nothing but white space around
// it.
func Valid(b []byte) bool { return Check(b) == nil }

// Check is Valid with the place of the fault.
func Check(b []byte) error {
	end, err := value(b, space(b, 0), 0)
	if err != nil {
		return err
	}
	if end = space(b, end); end != len(b) {
		return &SyntaxError{end, "end of text"}
	}
	return nil
}

// Walk calls fn for every member of the object b, in order. A key comes
// without its quotes and as it is written, which for an ordinary key is the
// key itself; a value comes with everything that belongs to it. All of b is
// checked, unless fn ends the walk with an error. Keys may occur twice.
func Walk(b []byte, fn func(key, value []byte) error) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return ErrNotObject
	}
	end, err := object(b, i, 0, func(key []byte, at int) (int, error) {
		end, err := value(b, at, 1)
		if err == nil {
			err = fn(key, b[at:end])
		}
		return end, err
	})
	if err != nil {
		return err
	}
	if end = space(b, end); end != len(b) {
		return &SyntaxError{end, "end of text"}
	}
	return nil
}

// Enter is Walk for members of members. It calls fn for every member of the
// object at i with the place where the value begins; fn returns where it ends,
// which Skip tells, or another Enter. So what is nested is found in one pass,
// and not by walking each object in turn. It returns where the object ends.
func Enter(b []byte, i int, fn func(key []byte, at int) (end int, err error)) (end int, err error) {
	if i = space(b, i); i >= len(b) || b[i] != '{' {
		return i, ErrNotObject
	}
	return object(b, i, 0, fn)
}

// Skip checks the value that begins at i and returns where it ends.
func Skip(b []byte, i int) (end int, err error) { return value(b, i, 0) }

// Elements calls fn for every element of the array b, and checks all of it.
func Elements(b []byte, fn func(value []byte) error) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != '[' {
		return &SyntaxError{i, "an array"}
	}
	end, err := array(b, i, 0, fn)
	if err != nil {
		return err
	}
	if end = space(b, end); end != len(b) {
		return &SyntaxError{end, "end of text"}
	}
	return nil
}

// Get returns the value at path, or nil when b is no object or has none
// there. Of a repeated key the last counts, as for encoding/json.
func Get(b []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		if err := Walk(b, func(key, value []byte) error {
			if string(key) == name {
				found = value
			}
			return nil
		}); err != nil || found == nil {
			return nil
		}
		b = found
	}
	return b
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// value checks the value that begins at i and returns its end.
func value(b []byte, i, depth int) (int, error) {
	if i >= len(b) {
		return i, &SyntaxError{i, "a value"}
	}
	switch c := b[i]; {
	case c == '"':
		return str(b, i)
	case c == '{':
		return object(b, i, depth, nil)
	case c == '[':
		return array(b, i, depth, nil)
	case c == '-' || c >= '0' && c <= '9':
		return number(b, i)
	case c == 't':
		return literal(b, i, "true")
	case c == 'f':
		return literal(b, i, "false")
	case c == 'n':
		return literal(b, i, "null")
	}
	return i, &SyntaxError{i, "a value"}
}

// object checks the object that begins at i and returns its end. With fn, the
// values are fn's to check.
func object(b []byte, i, depth int, fn func(key []byte, at int) (int, error)) (int, error) {
	if depth >= MaxDepth {
		return i, &SyntaxError{i, "less nesting"}
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, &SyntaxError{i, "a key"}
		}
		keyStart := i + 1
		end, err := str(b, i)
		if err != nil {
			return end, err
		}
		key := b[keyStart : end-1]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return i, &SyntaxError{i, "':'"}
		}
		if i = space(b, i+1); fn != nil {
			i, err = fn(key, i)
		} else {
			i, err = value(b, i, depth+1)
		}
		if err != nil {
			return i, err
		}
		i = space(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == '}':
			return i + 1, nil
		default:
			return i, &SyntaxError{i, "',' or '}'"}
		}
	}
}

func array(b []byte, i, depth int, fn func(value []byte) error) (int, error) {
	if depth >= MaxDepth {
		return i, &SyntaxError{i, "less nesting"}
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		start := i
		end, err := value(b, start, depth+1)
		if err != nil {
			return end, err
		}
		if fn != nil {
			if err := fn(b[start:end]); err != nil {
				return end, err
			}
		}
		i = space(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == ']':
			return i + 1, nil
		default:
			return i, &SyntaxError{i, "',' or ']'"}
		}
	}
}

func literal(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, &SyntaxError{i, word}
	}
	return i + len(word), nil
}

func number(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	var ok bool
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		if i, ok = digits(b, i); !ok {
			return i, &SyntaxError{i, "a digit"}
		}
	}
	if i < len(b) && b[i] == '.' {
		if i, ok = digits(b, i+1); !ok {
			return i, &SyntaxError{i, "a digit"}
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if i, ok = digits(b, i); !ok {
			return i, &SyntaxError{i, "a digit"}
		}
	}
	return i, nil
}

func digits(b []byte, i int) (int, bool) {
	start := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i, i > start
}

// str checks the string whose opening quote is at i and returns the place
// after its closing quote.
func str(b []byte, i int) (int, error) {
	i++
	for {
		i = special(b, i)
		if i >= len(b) {
			return i, &SyntaxError{i, "'\"'"}
		}
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			n := escape(b, i)
			if n == 0 {
				return i, &SyntaxError{i, "an escape sequence"}
			}
			i += n
		default:
			return i, &SyntaxError{i, "an escaped control character"}
		}
	}
}

// escape returns the length of the escape sequence at i, 0 if it is none.
func escape(b []byte, i int) int {
	if i+1 >= len(b) {
		return 0
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if i+6 > len(b) {
			return 0
		}
		for _, c := range b[i+2 : i+6] {
			if hex(c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
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

// special returns the first place from i on that holds a quote, a backslash
// or a control character.
func special(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := marks(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}
