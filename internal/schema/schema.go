// Package schema reads JSON schemas and says whether a value fits one, and if
// not, where and why, in words that the maker of the value can act on.
//
// The schemas are those of tools' inputs and of structured answers. Compile
// refuses what it cannot hold a value to: a rule that is not checked is none.
// Keywords are type, enum, const, properties, required, additionalProperties,
// items, minItems, maxItems, minimum, maximum, minLength, maxLength and
// pattern, and those that say nothing about validity.
//
// Whether a value fits is for the library to say (github.com/google/jsonschema-go);
// the words are this package's. Before that, Check refuses what two readers of
// the same bytes could read differently: no JSON, no UTF-8, a key that is there
// twice, if only in another case, a number beyond 64 bits, and what is nested
// too deeply.
//
// Nothing is stored and nothing outside is fetched. A Schema does not change and
// may be used by several at once.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"conclave/internal/jsontext"
)

// Schema is a schema that can be checked, or a part of one.
type Schema struct {
	of    *jsonschema.Schema
	whole *jsonschema.Resolved // nil for a part
}

// Compile reads a schema.
func Compile(raw []byte) (*Schema, error) {
	if err := jsontext.Check(raw); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if err := keywords(raw, "", 0); err != nil {
		return nil, err
	}
	of := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, of); err != nil {
		return nil, err
	}
	of.Schema = "" // these keywords mean the same in every draft
	whole, err := of.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return &Schema{of, whole}, nil
}

const maxSchemaDepth = 32

// silent say nothing about validity.
var silent = []string{"title", "description", "default", "examples", "$schema", "$comment"}

// checked are left to the library, each with how its value begins.
var checked = map[string]string{
	"const": "", "enum": "[", "pattern": `"`,
	"minItems": digits, "maxItems": digits, "minLength": digits, "maxLength": digits,
	"minimum": "-" + digits, "maximum": "-" + digits,
}

const digits = "0123456789"

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// keywords refuses those that no value is held to. at is where the schema
// stands, for messages.
func keywords(raw []byte, at string, depth int) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("%s: it is nested too deeply", place(at))
	}
	var properties, required []string
	closed := false
	err := jsontext.Walk(raw, func(key, value []byte) (err error) {
		name, _ := keyText(key)
		switch name {
		case "type":
			err = checkTypes(value)
		case "required":
			err = json.Unmarshal(value, &required)
		case "properties":
			err = jsontext.Walk(value, func(key, inner []byte) error {
				name, _ := keyText(key)
				properties = append(properties, name)
				return keywords(inner, join(at, name), depth+1)
			})
		case "additionalProperties":
			if closed = string(value) == "false"; !closed && string(value) != "true" {
				err = keywords(value, at+".*", depth+1)
			}
		case "items":
			err = keywords(value, at+"[]", depth+1)
		default:
			begins, ok := checked[name]
			if !ok && !slices.Contains(silent, name) {
				err = errors.New("this keyword is not checked here: leave it out, or check it in the tool")
			} else if begins != "" && strings.IndexByte(begins, value[0]) < 0 {
				err = fmt.Errorf("%s is not what it takes", clip(string(value)))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", place(at), name, err)
		}
		return nil
	})
	for _, name := range required {
		if err == nil && closed && !slices.Contains(properties, name) {
			err = fmt.Errorf("%s: %q is required and not allowed", place(at), name)
		}
	}
	return err
}

func checkTypes(value []byte) error {
	var names []string
	if text, ok := jsontext.String(value); ok {
		names = []string{text}
	} else if err := json.Unmarshal(value, &names); err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(typeNames, name) {
			return fmt.Errorf("%q is no type", name)
		}
	}
	return nil
}

// Types are the types that a value may have; none means any.
func (s *Schema) Types() []string { return types(s.of) }

// Words are the texts that are allowed, if a value is to be one of some.
func (s *Schema) Words() []string {
	var words []string
	for _, e := range s.of.Enum {
		if text, ok := e.(string); ok {
			words = append(words, text)
		}
	}
	return words
}

// Properties are the members of an object that are described.
func (s *Schema) Properties() map[string]*Schema {
	parts := make(map[string]*Schema, len(s.of.Properties))
	for name, p := range s.of.Properties {
		parts[name] = &Schema{of: p}
	}
	return parts
}

// Requires says whether an object must have a member.
func (s *Schema) Requires(name string) bool { return slices.Contains(s.of.Required, name) }

// Items describes the elements of an array, nil if nothing does.
func (s *Schema) Items() *Schema {
	if s.of.Items == nil {
		return nil
	}
	return &Schema{of: s.of.Items}
}

func types(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}
