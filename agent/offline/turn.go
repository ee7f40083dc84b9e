package offline

import (
	"encoding/json"
	"strconv"

	"conclave/agent/local"
	"conclave/internal/schema"
	"conclave/transcript"
)

// turn is a turn of the party: its mechanics, and what a mind goes by.
type turn struct {
	*local.Turn
	*session
	form   *schema.Schema // of the answer, nil for none
	text   string         // the message without the history before it
	before []exchange     // the conversation so far
}

// say plans blocks of the answer; empty ones are left out.
func (t *turn) say(blocks ...string) {
	for _, b := range blocks {
		if b = tidy(b); b == "" {
			continue
		}
		t.Then(func() error { return t.Say(b, nil) })
	}
}

// answer plans the structured answer; nil gives none.
func (t *turn) answerWith(v any) {
	if v == nil || t.form == nil {
		return
	}
	t.Then(func() error {
		b, err := json.Marshal(v)
		if err != nil || t.form.Check(b) != nil {
			return err // what does not fit is no answer
		}
		return t.Structured(b, nil)
	})
}

// look records that something was looked at, and what came of it.
func (t *turn) look(name string, input map[string]any, do func() (string, error)) error {
	t.calls++
	id := "look-" + strconv.Itoa(t.calls)
	if err := t.Emit(transcript.ToolUse, map[string]any{"tool_use_id": id, "name": name, "input": input},
		nil); err != nil {
		return err
	}
	content, failure := do()
	if err := t.Alive(); err != nil {
		return err
	}
	detail := map[string]any{"tool_use_id": id, "content": content}
	if failure != nil {
		detail["content"], detail["is_error"] = failure.Error(), true
	}
	return t.Emit(transcript.ToolResult, detail, nil)
}

// opening is the confession that each session makes once.
func (t *turn) opening(words string) string {
	if len(t.before) > 0 {
		return ""
	}
	return words
}
