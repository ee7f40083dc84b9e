package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/jsontext"
)

// schema is the part of JSON Schema that inputs are checked by: type, enum,
// const, properties, required, additionalProperties, items, minItems,
// maxItems, minimum, maximum, minLength, maxLength, pattern. Of the others only
// those that say nothing about validity are let through.
type schema struct {
	types      []string
	enum       []json.RawMessage
	properties map[string]*schema
	required   []string
	closed     bool    // additionalProperties is false
	additional *schema // additionalProperties is a schema
	items      *schema

	minItems, maxItems   *int
	minLength, maxLength *int
	minimum, maximum     *big.Rat
	pattern              *regexp.Regexp
}

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

const maxSchemaDepth = 32

// compile reads a schema; at is where it stands, for messages.
func compile(raw []byte, at string) (*schema, error) {
	return compileDepth(raw, at, 0)
}

func compileDepth(raw []byte, at string, depth int) (*schema, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("%s: it is nested too deeply", place(at))
	}
	s := &schema{}
	err := jsontext.Walk(raw, func(key, value []byte) error {
		name, _ := keyText(key)
		if err := s.keyword(name, value, at, depth); err != nil {
			return fmt.Errorf("%s: %s: %w", place(at), name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range s.required {
		if s.closed && s.properties[name] == nil {
			return nil, fmt.Errorf("%s: %q is required and not allowed", place(at), name)
		}
	}
	return s, nil
}

func (s *schema) keyword(name string, value []byte, at string, depth int) (err error) {
	switch name {
	case "title", "description", "default", "examples", "$schema", "$comment":
	case "type":
		return s.readTypes(value)
	case "enum":
		return json.Unmarshal(value, &s.enum)
	case "const":
		s.enum = []json.RawMessage{value}
	case "required":
		return json.Unmarshal(value, &s.required)
	case "properties":
		return s.readProperties(value, at, depth)
	case "additionalProperties":
		if s.closed = string(value) == "false"; !s.closed && string(value) != "true" {
			s.additional, err = compileDepth(value, at+".*", depth+1)
		}
	case "items":
		s.items, err = compileDepth(value, at+"[]", depth+1)
	case "minItems":
		return json.Unmarshal(value, &s.minItems)
	case "maxItems":
		return json.Unmarshal(value, &s.maxItems)
	case "minLength":
		return json.Unmarshal(value, &s.minLength)
	case "maxLength":
		return json.Unmarshal(value, &s.maxLength)
	case "minimum":
		s.minimum, err = number(value)
	case "maximum":
		s.maximum, err = number(value)
	case "pattern":
		text, _ := jsontext.String(value)
		s.pattern, err = regexp.Compile(text)
	default:
		return fmt.Errorf("this keyword is not checked here: leave it out, or check it in the tool")
	}
	return err
}

func (s *schema) readTypes(value []byte) error {
	if text, ok := jsontext.String(value); ok {
		s.types = []string{text}
	} else if err := json.Unmarshal(value, &s.types); err != nil {
		return err
	}
	for _, name := range s.types {
		if !slices.Contains(typeNames, name) {
			return fmt.Errorf("%q is no type", name)
		}
	}
	return nil
}

func (s *schema) readProperties(value []byte, at string, depth int) error {
	s.properties = map[string]*schema{}
	return jsontext.Walk(value, func(key, inner []byte) (err error) {
		name, _ := keyText(key)
		s.properties[name], err = compileDepth(inner, join(at, name), depth+1)
		return err
	})
}

// check says where and why a value does not fit.
func (s *schema) check(value []byte) error {
	if err := jsontext.Check(value); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	return s.checkAt(bytes.TrimSpace(value), "", 0)
}

const maxInputDepth = 200

func (s *schema) checkAt(v []byte, at string, depth int) error {
	if depth > maxInputDepth {
		return fmt.Errorf("%s: it is nested too deeply", place(at))
	}
	kind := kindOf(v)
	if err := s.checkType(v, kind, at); err != nil {
		return err
	}
	if err := s.checkEnum(v, at); err != nil {
		return err
	}
	switch kind {
	case "object":
		return s.checkObject(v, at, depth)
	case "array":
		return s.checkArray(v, at, depth)
	case "string":
		return s.checkString(v, at)
	case "number":
		return s.checkNumber(v, at)
	}
	return nil
}

func (s *schema) checkType(v []byte, kind, at string) error {
	if len(s.types) == 0 || slices.Contains(s.types, kind) {
		return nil
	}
	if kind == "number" && slices.Contains(s.types, "integer") {
		if n, err := number(v); err == nil && n.IsInt() {
			return nil
		}
	}
	return fmt.Errorf("%s: expected %s, got %s", place(at), strings.Join(s.types, " or "), kind)
}

func (s *schema) checkEnum(v []byte, at string) error {
	if s.enum == nil {
		return nil
	}
	for _, e := range s.enum {
		if same(e, v) {
			return nil
		}
	}
	var words []string
	for _, e := range s.enum {
		words = append(words, string(e))
	}
	return fmt.Errorf("%s: expected one of %s, got %s", place(at), strings.Join(words, ", "), clip(v))
}

// checkObject takes every object apart, also one that no rule describes: a
// key that stands there twice, or in another case, may be read one way here
// and another way by the tool.
func (s *schema) checkObject(v []byte, at string, depth int) error {
	seen := map[string]string{}
	err := jsontext.Walk(v, func(key, value []byte) error {
		name, ok := keyText(key)
		if !ok {
			return fmt.Errorf("%s: a key is no text", place(at))
		}
		if before, twice := seen[strings.ToLower(name)]; twice {
			return fmt.Errorf("%s: the key %q is there twice (as %q)", place(at), clipText(name), clipText(before))
		}
		seen[strings.ToLower(name)] = name
		inner := s.properties[name]
		switch {
		case inner != nil:
		case s.closed:
			return fmt.Errorf("%s: the key %q is not known (known: %s)", place(at), clipText(name), s.known())
		case s.additional != nil:
			inner = s.additional
		default:
			inner = &schema{}
		}
		return inner.checkAt(value, join(at, name), depth+1)
	})
	if err != nil {
		return err
	}
	for _, name := range s.required {
		if seen[strings.ToLower(name)] != name {
			return fmt.Errorf("%s: the key %q is missing", place(at), name)
		}
	}
	return nil
}

func (s *schema) known() string {
	names := make([]string, 0, len(s.properties))
	for name := range s.properties {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (s *schema) checkArray(v []byte, at string, depth int) error {
	n := 0
	inner := s.items
	if inner == nil {
		inner = &schema{}
	}
	err := jsontext.Elements(v, func(e []byte) error {
		n++
		return inner.checkAt(e, fmt.Sprintf("%s[%d]", at, n-1), depth+1)
	})
	if err != nil {
		return err
	}
	return bounds(n, s.minItems, s.maxItems, "elements", at)
}
