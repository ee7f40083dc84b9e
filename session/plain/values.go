package plain

import (
	"bytes"
	"math"
	"strconv"

	"conclave/internal/jsontext"
)

// Text is the text of a value that is a string, an object with a member text or
// an array of such, as a JSON string; nil when there is none. Texts of an array
// stand apart by an empty line.
func Text(v []byte) []byte { return TextOf(v, "text") }

// TextOf is Text for objects that have their text in the first of these members
// that they have.
func TextOf(v []byte, members ...string) []byte {
	if len(v) == 0 {
		return nil
	}
	switch v[0] {
	case '"':
		if len(v) > len(`""`) {
			return v
		}
	case '{':
		found := jsontext.Members(v, members...)
		for i := range members {
			if t := found[i]; len(t) > len(`""`) && t[0] == '"' {
				return t
			}
		}
	case '[':
		var all []byte
		_ = jsontext.Elements(v, func(e []byte) error {
			t := TextOf(e, members...)
			switch {
			case t == nil:
			case all == nil:
				all = t
			default:
				all = append(append(all[:len(all)-1:len(all)-1], `\n\n`...), t[1:]...)
			}
			return nil
		})
		return all
	}
	return nil
}

// Number is the whole number v, 0 when it is none.
func Number(v []byte) int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		if f, err := strconv.ParseFloat(string(v), 64); err == nil && math.Abs(f) < 1<<53 {
			return int64(f)
		}
	}
	return n
}

// Millis is a time in milliseconds since 1970 as microseconds.
func Millis(v []byte) int64 { return Number(v) * 1000 }

// Each calls fn with every element of an array; what is none has none.
func Each(v []byte, fn func(v []byte)) {
	if len(v) > 0 && v[0] == '[' {
		_ = jsontext.Elements(v, func(e []byte) error { fn(e); return nil })
	}
}

// Object says whether v is an object.
func Object(v []byte) bool { return len(v) > 0 && v[0] == '{' }

// Some is v unless it says nothing: null, or what is empty.
func Some(v []byte) []byte {
	if len(v) > 1 && (v[0] == '{' || v[0] == '[') && len(bytes.TrimSpace(v[1:len(v)-1])) == 0 {
		return nil
	}
	switch string(v) {
	case "null", `""`:
		return nil
	}
	return v
}
