package schema

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/internal/jsontext"
)

const maxValueDepth = 200

// Check says where and why a value does not fit.
func (s *Schema) Check(value []byte) error {
	if err := jsontext.Check(value); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	v, err := read(bytes.TrimSpace(value), "", 0)
	if err != nil {
		return err
	}
	if err := s.whole.Validate(v); err != nil {
		if why := explain(s.of, v, ""); why != nil {
			return why
		}
		return err
	}
	return nil
}

// read makes a value that the library understands, and takes every object
// apart, also one that no rule describes: a key that stands there twice, or in
// another case, may be read one way here and another way by the tool.
func read(v []byte, at string, depth int) (any, error) {
	if depth > maxValueDepth {
		return nil, fmt.Errorf("%s: it is nested too deeply", place(at))
	}
	switch v[0] {
	case '{':
		return readObject(v, at, depth)
	case '[':
		list := []any{}
		err := jsontext.Elements(v, func(e []byte) error {
			x, err := read(e, fmt.Sprintf("%s[%d]", at, len(list)), depth+1)
			list = append(list, x)
			return err
		})
		return list, err
	case '"':
		text, ok := jsontext.String(v)
		if !ok || !utf8.Valid(v) {
			return nil, fmt.Errorf("%s: the text is no UTF-8", place(at))
		}
		return text, nil
	case 't', 'f':
		return v[0] == 't', nil
	case 'n':
		return nil, nil
	}
	return readNumber(string(v), at)
}

func readObject(v []byte, at string, depth int) (any, error) {
	object, seen := map[string]any{}, map[string]string{}
	err := jsontext.Walk(v, func(key, value []byte) (err error) {
		name, ok := keyText(key)
		if !ok {
			return fmt.Errorf("%s: a key is no text", place(at))
		}
		if before, twice := seen[strings.ToLower(name)]; twice {
			return fmt.Errorf("%s: the key %q is there twice (as %q)", place(at), clip(name), clip(before))
		}
		seen[strings.ToLower(name)] = name
		object[name], err = read(value, join(at, name), depth+1)
		return err
	})
	return object, err
}

// readNumber keeps whole numbers exact.
func readNumber(text, at string) (any, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: expected integer or number of 64 bits, got %s", place(at), clip(text))
	}
	return f, nil
}

// keyText is the text of a key that is given as it is written.
func keyText(key []byte) (string, bool) {
	return jsontext.String(append(append([]byte{'"'}, key...), '"'))
}

func join(at, name string) string {
	if at == "" {
		return clip(name)
	}
	return at + "." + clip(name)
}

// place names a place for the maker of the value.
func place(at string) string {
	if at == "" {
		return "the input"
	}
	return at
}

func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
