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
	"bytes"
	"errors"
	"fmt"
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
func Check(b []byte) error { return whole(b, value(b, space(b, 0), 0)) }

// Shallow says at a glance that b, which is JSON, can be put inside some other
// values and still nests less deep than MaxDepth. It may be false for what can.
func Shallow(b []byte) bool {
	const around = 100
	return len(b) < 2*(MaxDepth-around) ||
		bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("[")) < MaxDepth-around
}

// whole says whether b ends, but for white space, at end.
func whole(b []byte, end int) error {
	if end < 0 {
		return syntaxError(end)
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
	var failed error
	end := object(b, i, 0, func(key []byte, at int) int {
		end := value(b, at, 1)
		if end >= 0 {
			if failed = fn(key, b[at:end]); failed != nil {
				return -1
			}
		}
		return end
	})
	if failed != nil {
		return failed
	}
	return whole(b, end)
}

// Elements calls fn for every element of the array b, and checks all of it.
func Elements(b []byte, fn func(value []byte) error) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != '[' {
		return &SyntaxError{i, "an array"}
	}
	var failed error
	end := array(b, i, 0, func(at int) int {
		end := value(b, at, 1)
		if end >= 0 {
			if failed = fn(b[at:end]); failed != nil {
				return -1
			}
		}
		return end
	})
	if failed != nil {
		return failed
	}
	return whole(b, end)
}

// The next four read what is nested in one pass, and not by walking each object
// in turn. A place is where a value begins or ends in b; an end below zero says
// that the text stops being JSON. depth is how deep the value lies, which for b
// itself is 0.

// Object calls fn for every member of the object b, with the place where its
// value begins; fn returns where it ends, which Skip tells, or Enter, or Each.
// It is false when b is no object, or something stands behind it.
func Object(b []byte, fn func(key []byte, at int) (end int)) bool {
	end := Enter(b, space(b, 0), 0, fn)
	return end >= 0 && space(b, end) == len(b)
}

// Enter is Object for the object at i. It returns where that ends.
func Enter(b []byte, i, depth int, fn func(key []byte, at int) (end int)) (end int) {
	if i >= len(b) || b[i] != '{' {
		return fault(i, wantValue)
	}
	return object(b, i, depth, fn)
}

// Each calls fn with the place of every element of the array at i. It returns
// where the array ends.
func Each(b []byte, i, depth int, fn func(at int) (end int)) (end int) {
	if i >= len(b) || b[i] != '[' {
		return fault(i, wantValue)
	}
	return array(b, i, depth, fn)
}

// Skip checks the value that begins at i and returns where it ends.
func Skip(b []byte, i, depth int) (end int) { return value(b, i, depth) }

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
