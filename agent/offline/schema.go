package offline

import (
	"slices"
	"strings"

	"conclave/internal/schema"
)

// fill builds an answer to a schema from facts by their names. It gives none,
// rather than a guess, when a required property that has to be chosen or
// counted is not among the facts; texts and lists may be empty.
func fill(form *schema.Schema, facts map[string]any) any {
	if form == nil || kindOf(form) != "object" {
		return nil
	}
	out := map[string]any{}
	for name, p := range form.Properties() {
		v, ok := fact(facts, name)
		if ok {
			v, ok = fit(p, v)
		}
		if !ok {
			if !form.Requires(name) {
				continue
			}
			if v, ok = empty(p); !ok {
				return nil
			}
		}
		out[name] = v
	}
	return out
}

// kindOf is the type that is meant: the first that is not null.
func kindOf(s *schema.Schema) string {
	for _, name := range s.Types() {
		if name != "null" {
			return name
		}
	}
	if len(s.Properties()) > 0 {
		return "object"
	}
	return ""
}

func empty(s *schema.Schema) (any, bool) {
	switch kindOf(s) {
	case "string":
		return "", len(s.Words()) == 0
	case "array":
		return []any{}, true
	case "boolean":
		return false, true
	}
	return nil, false
}

// fit makes a fact take the form that is asked for.
func fit(s *schema.Schema, v any) (any, bool) {
	switch kindOf(s) {
	case "string":
		switch x := v.(type) {
		case string:
			return x, len(s.Words()) == 0 || slices.Contains(s.Words(), x)
		case []string:
			return strings.Join(x, "\n"), len(s.Words()) == 0
		}
		return nil, false
	case "array":
		items := s.Items()
		if items == nil || kindOf(items) != "object" {
			return v, true
		}
		if list, ok := v.([]string); ok {
			return objects(items, list)
		}
		return v, true
	}
	return v, true
}

// objects puts texts into objects that have one place for a text.
func objects(s *schema.Schema, list []string) (any, bool) {
	out := []any{}
	for i, text := range list {
		o := map[string]any{}
		for name, p := range s.Properties() {
			switch {
			case kindOf(p) == "string" && slices.Contains([]string{"text", "criterion", "step", "title", "description",
				"observation"}, name):
				o[name] = text
			case kindOf(p) == "integer":
				o[name] = i + 1
			case kindOf(p) == "string" && slices.Contains(p.Words(), sortOf(text)):
				o[name] = sortOf(text)
			default:
				v, ok := empty(p)
				if !ok && s.Requires(name) {
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
