package claude

import (
	"encoding/json"
	"errors"
	"strings"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Text returns the words of an entry of this adapter, given its detail: what
// was said, thought, or given back by a tool; "" when there are none.
func Text(detail json.RawMessage) string {
	if b := jsontext.Get(detail, "block"); b != nil {
		return blockText(b)
	}
	line := jsontext.Get(detail, "sdk_entry")
	content := jsontext.Get(line, "message", "content")
	for _, path := range [][]string{{"content"}, {"attachment", "prompt"}} {
		if content == nil {
			content = jsontext.Get(line, path...)
		}
	}
	switch {
	case content == nil:
		for _, name := range []string{"thinking", "summary"} { // the simple form
			if s, ok := jsontext.String(jsontext.Get(line, name)); ok {
				return s
			}
		}
		return ""
	case content[0] == '"':
		s, _ := jsontext.String(content)
		return s
	}
	want := 0
	_ = json.Unmarshal(jsontext.Get(detail, "block_index"), &want) // absent: the first
	return blockText(element(content, want))
}

func element(array []byte, want int) (found []byte) {
	i := 0
	_ = jsontext.Elements(array, func(v []byte) error {
		if i == want {
			found = v
			return errEnough
		}
		i++
		return nil
	})
	return found
}

var errEnough = errors.New("enough")

func blockText(b []byte) string {
	for _, name := range []string{"text", "thinking", "content"} {
		v := jsontext.Get(b, name)
		if s, ok := jsontext.String(v); ok {
			return s
		}
		if len(v) > 0 && v[0] == '[' {
			var parts []string
			_ = jsontext.Elements(v, func(e []byte) error {
				if s, ok := jsontext.String(jsontext.Get(e, "text")); ok {
					parts = append(parts, s)
				}
				return nil
			})
			return strings.Join(parts, "\n")
		}
	}
	return ""
}

// ModelUsage sums the program's own totals over all models.
func ModelUsage(b []byte) (sum transcript.Usage) {
	_ = jsontext.Walk(b, func(_, model []byte) error {
		u, _ := transcript.ReadUsage(model)
		sum = sum.Add(u)
		return nil
	}) // what is no object has no models
	return sum
}
