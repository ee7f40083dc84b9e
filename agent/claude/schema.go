package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The program takes one schema per process, on the command line, where words
// of a conversation do not belong; a session has one per message. So the
// schema is asked for in the message itself, and the answer is read back and
// checked. An answer that does not fit is no structured answer; it is not
// repaired.

func schemaRequest(schema json.RawMessage) string {
	return "\n\nAnswer with one JSON value that fits this JSON schema, and with nothing else:\n\n" + string(schema) + "\n"
}

// structured finds the JSON value in an answer: the whole of it, a fenced
// block, or the last value that stands on lines of its own.
func structured(schema json.RawMessage, text string) json.RawMessage {
	for _, candidate := range candidates(text) {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(candidate)) == nil && fits(schema, compact.Bytes()) == nil {
			return compact.Bytes()
		}
	}
	return nil
}

func candidates(text string) []string {
	text = strings.TrimSpace(text)
	all := []string{text}
	rest := text
	for {
		_, after, ok := strings.Cut(rest, "```")
		if !ok {
			break
		}
		body, next, ok := strings.Cut(after, "```")
		if !ok {
			break
		}
		if lang, inner, ok := strings.Cut(body, "\n"); ok && !strings.ContainsAny(lang, "{[\"") {
			body = inner
		}
		all, rest = append(all, strings.TrimSpace(body)), next
	}
	if i := strings.Index(text, "\n{"); i >= 0 {
		all = append(all, strings.TrimSpace(text[i:]))
	}
	return all
}

// fits checks value against the part of JSON Schema that answers are asked for
// in: type, enum, const, required, properties, additionalProperties, items.
func fits(schema, value json.RawMessage) error {
	var s struct {
		Type                 any
		Enum                 []json.RawMessage
		Const                json.RawMessage
		Required             []string
		Properties           map[string]json.RawMessage
		AdditionalProperties json.RawMessage
		Items                json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil // true, false or something newer: not for us to judge
	}
	if err := typeFits(s.Type, value); err != nil {
		return err
	}
	if s.Const != nil && !sameJSON(s.Const, value) {
		return fmt.Errorf("%s is not %s", value, s.Const)
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e json.RawMessage) bool { return sameJSON(e, value) }) {
		return fmt.Errorf("%s is none of the values", value)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil && object != nil {
		for _, name := range s.Required {
			if _, ok := object[name]; !ok {
				return fmt.Errorf("%q is missing", name)
			}
		}
		for name, v := range object {
			sub, ok := s.Properties[name]
			if !ok && string(s.AdditionalProperties) == "false" {
				return fmt.Errorf("%q is not asked for", name)
			}
			if ok {
				if err := fits(sub, v); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	var list []json.RawMessage
	if s.Items != nil && json.Unmarshal(value, &list) == nil {
		for i, v := range list {
			if err := fits(s.Items, v); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
	}
	return nil
}

func typeFits(want any, value json.RawMessage) error {
	var names []string
	switch w := want.(type) {
	case string:
		names = []string{w}
	case []any:
		for _, x := range w {
			if s, ok := x.(string); ok {
				names = append(names, s)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	got := kindOf(value)
	if slices.Contains(names, got) || got == "integer" && slices.Contains(names, "number") {
		return nil
	}
	return fmt.Errorf("%s where %s is wanted", got, strings.Join(names, " or "))
}

func kindOf(value json.RawMessage) string {
	switch value[0] {
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
	if bytes.ContainsAny(value, ".eE") {
		return "number"
	}
	return "integer"
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}
