// Package structured asks for an answer that fits a JSON schema where a program
// or a model has no way of its own to hold itself to one: the form is asked for
// in the message, the answer is read back and checked, and what does not fit is
// told once, so that it can be put right.
//
// An answer that does not fit is no structured answer; it is not repaired. A
// schema that nothing can be held to is refused with its message, before
// anything is asked. The package stores nothing.
package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/agent"
	"conclave/internal/schema"
)

// Form is what an answer is held to.
type Form struct {
	text   json.RawMessage
	schema *schema.Schema
}

// Of is what the answer to a message is held to, nil for nothing.
func Of(m agent.Message) (*Form, error) {
	if m.Schema == nil {
		return nil, nil
	}
	s, err := schema.Compile(m.Schema)
	if err != nil {
		return nil, fmt.Errorf("the schema of the answer: %w", err)
	}
	return &Form{m.Schema, s}, nil
}

// Schema is the form as it was given.
func (f *Form) Schema() json.RawMessage { return f.text }

// Request is put behind a message to ask for the form.
func (f *Form) Request() string {
	return "\n\nAnswer with one JSON value that fits this JSON schema, and with nothing else:\n\n" + string(f.text) + "\n"
}

// Find finds the JSON value in an answer: the whole of it, a fenced block, or
// the last value that stands on lines of its own. It is nil when none fits.
func (f *Form) Find(text string) json.RawMessage {
	for _, candidate := range candidates(text) {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(candidate)) == nil && f.schema.Check(compact.Bytes()) == nil {
			return compact.Bytes()
		}
	}
	return nil
}

// Correction says what is wrong with an answer in which nothing was found, and
// asks for it again. Whoever asks does so once.
func (f *Form) Correction(text string) string {
	return "Your answer is not in the form that was asked for: " + f.fault(text) + "." + f.Request()
}

// fault is that of the first candidate that is JSON.
func (f *Form) fault(text string) string {
	for _, candidate := range candidates(text) {
		if !json.Valid([]byte(candidate)) {
			continue
		}
		if err := f.schema.Check([]byte(candidate)); err != nil {
			return err.Error()
		}
	}
	return "there is no JSON value in it"
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
