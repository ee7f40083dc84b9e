package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/agent"
	"conclave/internal/schema"
)

// The program takes one schema per process, on the command line, where words
// of a conversation do not belong; a session has one per message. So the
// schema is asked for in the message itself, and the answer is read back and
// checked. An answer that does not fit is no structured answer; it is not
// repaired. A schema that nothing can be held to is refused with its message.

func schemaRequest(form json.RawMessage) string {
	return "\n\nAnswer with one JSON value that fits this JSON schema, and with nothing else:\n\n" + string(form) + "\n"
}

// formOf is what the answer to a message is held to, nil for nothing.
func formOf(m agent.Message) (*schema.Schema, error) {
	if m.Schema == nil {
		return nil, nil
	}
	form, err := schema.Compile(m.Schema)
	if err != nil {
		return nil, fmt.Errorf("send to claude: the schema of the answer: %w", err)
	}
	return form, nil
}

// structured finds the JSON value in an answer: the whole of it, a fenced
// block, or the last value that stands on lines of its own.
func structured(form *schema.Schema, text string) json.RawMessage {
	for _, candidate := range candidates(text) {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(candidate)) == nil && form.Check(compact.Bytes()) == nil {
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
