package claude

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// Text returns the words of an entry of this adapter, given its detail: what
// was said, thought, or given back by a tool; "" when there are none.
func Text(detail json.RawMessage) string {
	d := jsontext.Members(detail, "sdk_entry", "block", "block_index", "of")
	line := d[0]
	switch {
	case d[1] != nil: // as records of before call it
		return blockText(d[1])
	case d[3] != nil:
		return blockText(line)
	}
	content := jsontext.Get(line, "message", "content")
	for _, path := range [][]string{{"content"}, {"attachment", "prompt"}, {"row", "text"}} {
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
	want, err := strconv.Atoi(string(d[2]))
	if err == nil {
		return blockText(element(content, want))
	}
	var parts []string // one message of several blocks
	_ = jsontext.Elements(content, func(b []byte) error {
		if text := blockText(b); text != "" && jsontext.Text(jsontext.Get(b, "type")) != "tool_result" {
			parts = append(parts, text)
		}
		return nil
	})
	return strings.Join(parts, "\n")
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

// SumOf reads the line that the program writes when a session is left; nil when it
// is no such line, or nothing was counted.
func SumOf(line []byte) *kind.Sum {
	d := jsontext.Members(line, "type", "startTime", "modelUsage", "sessionId")
	if string(jsontext.Bare(d[0])) != SumLine {
		return nil
	}
	s := kind.Sum{Session: jsontext.Text(d[3])}
	s.Started, _ = strconv.ParseInt(string(d[1]), 10, 64) // else it is not known
	_ = jsontext.Walk(d[2], func(model, figures []byte) error {
		if u, ok := transcript.ReadUsage(figures); ok {
			s.Models = append(s.Models, kind.ModelSum{Model: string(model), Usage: u})
		}
		return nil
	}) // what is no object has no models
	if len(s.Models) == 0 {
		return nil
	}
	return &s
}

// SumLine is the type of that line, and the subtype of its entry.
const SumLine = "cost-state"

// ModelUsage sums the program's own totals over all models.
func ModelUsage(b []byte) (sum transcript.Usage) {
	_ = jsontext.Walk(b, func(_, model []byte) error {
		u, _ := transcript.ReadUsage(model)
		sum = sum.Add(u)
		return nil
	}) // what is no object has no models
	return sum
}
