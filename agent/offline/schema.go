package offline

import (
	"encoding/json"
	"slices"
	"strings"
)

// shape is as much of a JSON schema as it takes to fill one.
type shape struct {
	Type       any              `json:"type"`
	Enum       []string         `json:"enum"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
	Items      *shape           `json:"items"`
}

// fill builds an answer to a schema from facts by their names. It gives none,
// rather than a guess, when a required property that has to be chosen or
// counted is not among the facts; texts and lists may be empty.
func fill(schema []byte, facts map[string]any) any {
	if len(schema) == 0 {
		return nil
	}
	var s shape
	if err := json.Unmarshal(schema, &s); err != nil || s.kind() != "object" {
		return nil
	}
	out := map[string]any{}
	for name, p := range s.Properties {
		v, ok := fact(facts, name)
		if ok {
			v, ok = p.fit(v)
		}
		if !ok {
			if !slices.Contains(s.Required, name) {
				continue
			}
			if v, ok = p.empty(); !ok {
				return nil
			}
		}
		out[name] = v
	}
	return out
}

func (s shape) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, x := range t {
			if name, ok := x.(string); ok && name != "null" {
				return name
			}
		}
	}
	if s.Properties != nil {
		return "object"
	}
	return ""
}

func (s shape) empty() (any, bool) {
	switch s.kind() {
	case "string":
		return "", len(s.Enum) == 0
	case "array":
		return []any{}, true
	case "boolean":
		return false, true
	}
	return nil, false
}

// fit makes a fact take the form that is asked for.
func (s shape) fit(v any) (any, bool) {
	switch s.kind() {
	case "string":
		switch x := v.(type) {
		case string:
			return x, len(s.Enum) == 0 || slices.Contains(s.Enum, x)
		case []string:
			return strings.Join(x, "\n"), len(s.Enum) == 0
		}
		return nil, false
	case "array":
		if s.Items == nil || s.Items.kind() != "object" {
			return v, true
		}
		if list, ok := v.([]string); ok {
			return s.Items.objects(list)
		}
		return v, true
	}
	return v, true
}

// objects puts texts into objects that have one place for a text.
func (s shape) objects(list []string) (any, bool) {
	out := []any{}
	for i, text := range list {
		o := map[string]any{}
		for name, p := range s.Properties {
			switch {
			case p.kind() == "string" && slices.Contains([]string{"text", "criterion", "step", "title", "description", "observation"}, name):
				o[name] = text
			case p.kind() == "integer":
				o[name] = i + 1
			case p.kind() == "string" && slices.Contains(p.Enum, sortOf(text)):
				o[name] = sortOf(text)
			default:
				v, ok := p.empty()
				if !ok && slices.Contains(s.Required, name) {
					return nil, false
				}
				if ok {
					o[name] = v
				}
			}
		}
		out = append(out, o)
	}
	return out, true
}

func sortOf(text string) string {
	if strings.Contains(text, growTag) {
		return "transformation"
	}
	return "deliverable"
}

// fact finds a fact by a name, whatever its form: nextSteps, next_steps.
func fact(facts map[string]any, name string) (any, bool) {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
	}
	for k, v := range facts {
		if plain(k) == plain(name) {
			return v, true
		}
	}
	return nil, false
}
