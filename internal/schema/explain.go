package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// explain finds the first place at which a refused value does not fit. The
// library names the rule and not the place in the value.
func explain(s *jsonschema.Schema, v any, at string) error {
	if want := types(s); len(want) > 0 && !slices.ContainsFunc(want, func(t string) bool { return isA(v, t) }) {
		return fmt.Errorf("%s: expected %s, got %s", place(at), strings.Join(want, " or "), kindOf(v))
	}
	allowed := s.Enum
	if s.Const != nil {
		allowed = []any{*s.Const}
	}
	if allowed != nil && !slices.ContainsFunc(allowed, func(e any) bool { return jsonschema.Equal(e, v) }) {
		words := make([]string, len(allowed))
		for i, e := range allowed {
			words[i] = written(e)
		}
		return fmt.Errorf("%s: expected one of %s, got %s", place(at), strings.Join(words, ", "), clip(written(v)))
	}
	switch v := v.(type) {
	case map[string]any:
		return explainObject(s, v, at)
	case []any:
		return explainArray(s, v, at)
	case string:
		return explainText(s, v, at)
	case int64:
		return explainNumber(s, float64(v), v, at)
	case float64:
		return explainNumber(s, v, v, at)
	}
	return nil
}

func explainObject(s *jsonschema.Schema, v map[string]any, at string) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		inner := s.Properties[name]
		if inner == nil {
			inner = s.AdditionalProperties
		}
		if inner == nil {
			continue
		}
		if inner.Not != nil { // false: no other schema here has a "not"
			return fmt.Errorf("%s: the key %q is not known (known: %s)", place(at), clip(name), known(s))
		}
		if err := explain(inner, v[name], join(at, name)); err != nil {
			return err
		}
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s: the key %q is missing", place(at), name)
		}
	}
	return nil
}

func known(s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

func explainArray(s *jsonschema.Schema, v []any, at string) error {
	for i, e := range v {
		if s.Items == nil {
			break
		}
		if err := explain(s.Items, e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return explainCount(len(v), s.MinItems, s.MaxItems, "elements", at)
}

func explainText(s *jsonschema.Schema, v, at string) error {
	if err := explainCount(utf8.RuneCountInString(v), s.MinLength, s.MaxLength, "characters", at); err != nil {
		return err
	}
	if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(v) {
		return fmt.Errorf("%s: %s does not match %s", place(at), clip(written(v)), s.Pattern)
	}
	return nil
}

func explainCount(n int, least, most *int, what, at string) error {
	if least != nil && n < *least {
		return fmt.Errorf("%s: expected at least %d %s, got %d", place(at), *least, what, n)
	}
	if most != nil && n > *most {
		return fmt.Errorf("%s: expected at most %d %s, got %d", place(at), *most, what, n)
	}
	return nil
}

func explainNumber(s *jsonschema.Schema, n float64, v any, at string) error {
	decimal := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	if s.Minimum != nil && n < *s.Minimum {
		return fmt.Errorf("%s: expected at least %s, got %s", place(at), decimal(*s.Minimum), written(v))
	}
	if s.Maximum != nil && n > *s.Maximum {
		return fmt.Errorf("%s: expected at most %s, got %s", place(at), decimal(*s.Maximum), written(v))
	}
	return nil
}

func isA(v any, name string) bool {
	if name != "integer" {
		return kindOf(v) == name
	}
	switch n := v.(type) {
	case int64:
		return true
	case float64:
		return n == math.Trunc(n)
	}
	return false
}

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	}
	return "number"
}

// written is a value as JSON.
func written(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was read can be written
	return strings.TrimSuffix(b.String(), "\n")
}
