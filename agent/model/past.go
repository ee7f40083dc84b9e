package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"conclave/agent"
	"conclave/transcript"
)

// remembered is the conversation that a record tells of. A turn whose entries are
// there is read from the very bytes that once came, and is sent again as it was;
// of another one the words are known, and the calls of the room's tools: note is
// what the next message begins with because of them.
func remembered(speaks api, past []agent.Exchange) (talk []message, note string, exact bool) {
	exact = true
	for _, x := range past {
		if turn, ok := reread(speaks, x); ok {
			turn[0].user.text = note + turn[0].user.text
			talk, note = append(talk, turn...), ""
			continue
		}
		exact = false
		talk = append(talk, message{user: &told{text: note + x.Told}})
		if x.Said != "" {
			talk = append(talk, message{answer: said(x.Said)})
		}
		note = recounted(x.Calls)
	}
	return talk, note, exact
}

// recounted tells of calls. They are not repeated as such: their ids, and what a
// provider signed of them, are not known.
func recounted(calls []agent.PastCall) string {
	if len(calls) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("(From the record of this conversation: for your last answer you called tools, which have taken effect.")
	for _, c := range calls {
		fmt.Fprintf(&b, "\n- %s with %s", c.Tool, c.Input)
		if c.Ended {
			b.WriteString(", and were told: " + c.Result)
		}
	}
	b.WriteString(")\n\n")
	return b.String()
}

// rereading is a turn that is read from its entries.
type rereading struct {
	api   api
	talk  []message
	raw   []byte   // of the answer that is being told
	parts []string // its words
	calls int
	cut   bool // it broke off
}

// errUnlike says that entries do not tell of a turn as this package records one.
var errUnlike = errors.New("the entries are of another kind")

// detail is what entries of this package hold.
type detail struct {
	Text    string          `json:"text"`
	Subtype string          `json:"subtype"`
	Partial bool            `json:"partial"`
	Images  json.RawMessage `json:"images"`
	Content string          `json:"content"`
	IsError bool            `json:"is_error"`
}

// reread reads a turn from its entries; false when they do not tell all of it.
func reread(speaks api, x agent.Exchange) ([]message, bool) {
	r := rereading{api: speaks}
	for _, e := range x.Entries {
		var d detail
		if e.Adapter != transcript.AdapterModel || json.Unmarshal(e.Detail, &d) != nil || r.entry(e, d) != nil {
			return nil, false
		}
	}
	talk := settled(r.talk)
	if len(talk) == 0 || talk[0].user == nil || len(r.raw) > 0 {
		return nil, false
	}
	return talk, true
}

func (r *rereading) entry(e transcript.Entry, d detail) error {
	switch e.Type {
	case transcript.UserMessage:
		if len(d.Images) > 0 {
			return errUnlike // their bytes are not in the entry
		}
		r.talk = append(r.talk, message{user: &told{text: d.Text}})
	case transcript.Thinking, transcript.AssistantMessage, transcript.ToolUse, transcript.Unknown:
		r.raw, r.cut = append(r.raw, e.Raw...), r.cut || d.Partial
		if e.Type == transcript.AssistantMessage {
			r.parts = append(r.parts, d.Text)
		}
		if e.Type == transcript.ToolUse {
			r.calls++
		}
	case transcript.TokenUsage:
		return r.answered(append(r.raw, e.Raw...))
	case transcript.ToolResult:
		return r.result(d)
	case transcript.SystemEvent:
		if !r.cut {
			break
		}
		if d.Subtype == "interrupt" && len(r.parts) > 0 {
			r.talk = append(r.talk, message{answer: said(strings.Join(r.parts, "\n\n"))})
		}
		r.forget() // it was asked for again
	}
	return nil
}

// answered reads an answer that has ended, from its bytes.
func (r *rereading) answered(raw []byte) error {
	if r.cut { // what follows says what became of it
		return nil
	}
	a, decoder, events := &answer{}, r.api.decoder(), newEvents(bytes.NewReader(raw), mostStream)
	for {
		e, err := events.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = decoder.event(a, e)
		}
		if err != nil || e.data == nil {
			a.end = unended
			break
		}
	}
	if decoder.finish(a); a.end == unended {
		r.cut = true // before any block of it was told
		return nil
	}
	if a.text() != strings.Join(r.parts, "\n\n") || len(a.calls()) != r.calls {
		return errUnlike
	}
	r.talk = append(r.talk, message{answer: a})
	r.forget()
	return nil
}

func (r *rereading) forget() { r.raw, r.parts, r.calls, r.cut = nil, nil, 0, false }

// result is that of the next call of the last answer.
func (r *rereading) result(d detail) error {
	n := len(r.talk)
	if n > 0 && r.talk[n-1].answer != nil {
		r.talk = append(r.talk, message{})
		n++
	}
	if n < 2 || r.talk[n-2].answer == nil {
		return errUnlike
	}
	last := &r.talk[n-1]
	calls := r.talk[n-2].answer.calls()
	if len(last.results) >= len(calls) {
		return errUnlike
	}
	last.results = append(last.results, result{call: calls[len(last.results)], text: d.Content, failed: d.IsError})
	return nil
}
