package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"conclave/internal/jsontext"
)

func (s *schema) checkString(v []byte, at string) error {
	if !utf8.Valid(v) {
		return fmt.Errorf("%s: the text is no UTF-8", place(at))
	}
	text, ok := jsontext.String(v)
	if !ok {
		return fmt.Errorf("%s: expected string", place(at))
	}
	if err := bounds(utf8.RuneCountInString(text), s.minLength, s.maxLength, "characters", at); err != nil {
		return err
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		return fmt.Errorf("%s: %s does not match %s", place(at), clip(v), s.pattern)
	}
	return nil
}

func (s *schema) checkNumber(v []byte, at string) error {
	if s.minimum == nil && s.maximum == nil {
		return nil
	}
	n, err := number(v)
	if err != nil {
		return fmt.Errorf("%s: %w", place(at), err)
	}
	if s.minimum != nil && n.Cmp(s.minimum) < 0 {
		return fmt.Errorf("%s: expected at least %s, got %s", place(at), s.minimum.RatString(), clip(v))
	}
	if s.maximum != nil && n.Cmp(s.maximum) > 0 {
		return fmt.Errorf("%s: expected at most %s, got %s", place(at), s.maximum.RatString(), clip(v))
	}
	return nil
}

func bounds(n int, least, most *int, what, at string) error {
	if least != nil && n < *least {
		return fmt.Errorf("%s: expected at least %d %s, got %d", place(at), *least, what, n)
	}
	if most != nil && n > *most {
		return fmt.Errorf("%s: expected at most %d %s, got %d", place(at), *most, what, n)
	}
	return nil
}

// number reads a JSON number exactly. One with a huge exponent would take as
// much memory as it says, and is refused.
func number(v []byte) (*big.Rat, error) {
	if i := bytes.IndexAny(v, "eE"); len(v) > 100 || i >= 0 && len(bytes.TrimLeft(v[i+1:], "+-0")) > 3 {
		return nil, fmt.Errorf("the number %s is too long", clip(v))
	}
	n, ok := new(big.Rat).SetString(string(v))
	if !ok {
		return nil, fmt.Errorf("%s is no number", clip(v))
	}
	return n, nil
}

// kindOf tells the type of a JSON value by its first byte.
func kindOf(v []byte) string {
	switch v[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// same compares two JSON values as values.
func same(a, b []byte) bool {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if bytes.Equal(a, b) {
		return true
	}
	if kindOf(a) != kindOf(b) {
		return false
	}
	if kindOf(a) == "number" {
		x, errX := number(a)
		y, errY := number(b)
		return errX == nil && errY == nil && x.Cmp(y) == 0
	}
	return bytes.Equal(canonical(a), canonical(b))
}

// canonical has sorted keys and no spaces.
func canonical(v []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return nil
	}
	out, _ := json.Marshal(x) // what was decoded encodes
	return out
}

// keyText is the text of a key that is given as it is written.
func keyText(key []byte) (string, bool) {
	return jsontext.String(append(append([]byte{'"'}, key...), '"'))
}

func join(at, name string) string {
	if at == "" {
		return clipText(name)
	}
	return at + "." + clipText(name)
}

// place names a place for the agent.
func place(at string) string {
	if at == "" {
		return "the input"
	}
	return at
}

func clip(v []byte) string { return clipText(string(v)) }

func clipText(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
