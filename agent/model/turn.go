package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"conclave/agent/local"
	"conclave/agent/structured"
	"conclave/gateway"
	"conclave/transcript"
)

// turn is the answer to one message, which may take several calls of the model.
type turn struct {
	*local.Turn
	*session
	form *structured.Form
	talk []message
	from int // where this turn's messages begin

	calls     int // of the model, that were answered
	tries     int // of the call that is due, that failed
	cuts      int // of its answers, that broke off
	corrected bool
	gone      int // messages that were left out

	streams bool // an answer is being told
	stream  *http.Response
	events  *events
	decoder decoder
	meter   *gateway.Meter
	answer  *answer
}

// begin reads an answer, event by event.
func (t *turn) begin(resp *http.Response, request int64) {
	t.stream, t.decoder, t.answer = resp, t.api.decoder(), &answer{}
	t.meter = gateway.NewMeter(t.Kind, request)
	t.events = newEvents(io.TeeReader(resp.Body, t.meter), t.longest)
	t.streams = true
	t.Then(t.pull)
}

// pull takes the next event.
func (t *turn) pull() error {
	e, err := t.events.next()
	if err == nil {
		err = t.decoder.event(t.answer, e)
	} else {
		t.answer.raw = append(t.answer.raw, e.raw...)
	}
	t.show()
	if err == nil {
		t.Then(t.pull)
		return nil
	}
	t.stream.Body.Close()
	if t.answer.end == unended || !errors.Is(err, io.EOF) && !t.over(err) {
		return t.broke(err)
	}
	return t.whole()
}

// over says that an answer had ended before its stream did, badly: nothing of it
// is missing.
func (t *turn) over(err error) bool {
	var f *fault
	return t.answer.end != unended && !errors.As(err, &f)
}

// show tells of pieces of words as they come.
func (t *turn) show() {
	for _, b := range t.answer.blocks {
		if b.sort == words && b.text.Len() > b.shown {
			t.Hear(b.text.String()[b.shown:])
			b.shown = b.text.Len()
		}
	}
}

// record puts a block on the record. One of an answer that broke off is known as
// such, and is no part of the reply: that is why blocks are recorded when their
// answer is whole, or is known not to be.
func (t *turn) record(b *block, partial bool) error {
	text := b.text.String()
	detail := map[string]any{}
	kind := transcript.Unknown
	switch b.sort {
	case words:
		if text == "" {
			t.answer.raw = append(t.answer.raw, b.raw...)
			return nil
		}
		if !partial {
			return t.Said(text, b.raw)
		}
		kind, detail["text"] = transcript.AssistantMessage, text
	case thought:
		kind, detail["text"] = transcript.Thinking, text
		if text == "" {
			detail["redacted"] = true
		}
	case call:
		kind, detail["tool_use_id"], detail["name"], detail["input"] = transcript.ToolUse, b.id, b.name, b.object()
	case foreign:
		if detail["text"] = "the provider sent something that is not known"; json.Valid([]byte(text)) {
			detail["block"] = json.RawMessage(text)
		}
	}
	if partial {
		detail["partial"] = true
	}
	return t.Emit(kind, detail, b.raw)
}

// consumed puts on the record what a response took.
func (t *turn) consumed() error {
	t.name(t.answer.model)
	used, estimated := t.meter.Usage()
	u := transcript.Usage(used)
	p, priced := t.Prices.Of(t.model())
	if !priced {
		p, priced = t.Prices.Of(t.spec.Model.Name)
	}
	u.CostUSD = p.Cost(u)
	t.Use(u)
	detail := map[string]any{"usage": json.RawMessage(u.AppendJSON(nil)), "model": t.model()}
	if estimated {
		detail["estimated"] = true
	}
	if !priced {
		detail["unpriced"] = true
	}
	return t.Emit(transcript.TokenUsage, detail, t.answer.raw)
}

// broke deals with an answer that was not told to its end: what was said stands
// on the record, and is asked for again.
func (t *turn) broke(cause error) error {
	if alive := t.Alive(); alive != nil {
		return alive // and cut does the rest
	}
	t.streams = false
	for _, b := range t.answer.blocks {
		if err := t.record(b, true); err != nil {
			return err
		}
	}
	if err := t.consumed(); err != nil {
		return err
	}
	var f *fault
	if !errors.As(cause, &f) {
		f = &fault{message: "the stream of the answer broke off: " + plain(cause), after: -1,
			final: errors.Is(cause, errEndless)}
	}
	switch {
	case f.overflows():
		return t.shorten(f)
	case f.passes() && t.cuts < mostCuts-1:
		t.cuts++
		return t.pause(f, "what was said of it stands on the record; asking for it again")
	}
	return t.fail(f)
}

// cut deals with an answer in the middle of which the turn is to end: what was
// said of it is the reply.
func (t *turn) cut() error {
	if !t.streams {
		return nil
	}
	t.streams = false
	t.stream.Body.Close()
	for _, b := range t.answer.blocks {
		record := t.record
		if b.sort == words && b.text.Len() > 0 {
			record = func(b *block, _ bool) error { return t.Break(b.text.String(), b.raw) }
		}
		if err := record(b, true); err != nil {
			return err
		}
	}
	t.talk = append(t.talk, message{answer: t.answer})
	return t.consumed()
}

// plain is how an end is called that came too early.
func plain(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ended before the answer did"
	}
	return err.Error()
}

// whole deals with an answer that was told to its end.
func (t *turn) whole() error {
	a := t.answer
	t.streams = false
	t.show()
	for _, b := range a.blocks {
		if err := t.record(b, false); err != nil {
			return err
		}
	}
	if err := t.consumed(); err != nil {
		return err
	}
	t.decoder.finish(a)
	t.calls++
	t.tries, t.cuts = 0, 0
	t.talk = append(t.talk, message{answer: a})
	switch a.end {
	case refused:
		return t.fail(&fault{final: true, message: refusalText(a)})
	case broken:
		return t.fail(&fault{final: true, message: fmt.Sprintf("the model's answer ended with %s: %s", a.why,
			first(a.refusal, "it says no more of it"))})
	case outOfRoom:
		return t.tooMuch(a)
	}
	if len(a.calls()) > 0 {
		t.Then(t.serve)
		return nil
	}
	return t.conclude(a)
}

func refusalText(a *answer) string {
	text := "the model refused to answer (" + first(a.why, "refusal") + ")"
	if a.refusal != "" {
		text += ": " + a.refusal
	}
	return text + "; say it in other words, or let another model answer"
}

// tooMuch ends a turn whose answer is as long as answers may be.
func (t *turn) tooMuch(a *answer) error {
	if a.text() == "" {
		return t.fail(&fault{final: true, message: fmt.Sprintf(
			"the answer reached the limit of its length (%s) before it said a word: ask for less at once", a.why)})
	}
	if err := t.Emit(transcript.SystemEvent, map[string]any{"subtype": "output_limit",
		"text": "the answer reached the limit of its length (" + a.why + ")"}, nil); err != nil {
		return err
	}
	return t.End("output limit")
}

// conclude ends a turn that the model has ended, unless it owes a form.
func (t *turn) conclude(a *answer) error {
	text := a.text()
	if text == "" && !t.spoke() {
		return t.fail(&fault{final: true, message: "the model ended its answer (" + first(a.why, "no reason given") +
			") without a word; ask again, or let another model answer"})
	}
	if t.form == nil {
		return nil
	}
	way := "native"
	if t.without[partForm] {
		way = "instruction"
	}
	if t.corrected {
		way += ", corrected"
	}
	if found := t.form.Find(text); found != nil {
		return t.StructuredBy(way, found, nil)
	}
	if t.corrected || t.spentTurns() {
		return t.Emit(transcript.SystemEvent, map[string]any{"subtype": "no_structured_answer", "way": way,
			"text": "the answer does not fit the form that was asked for"}, nil)
	}
	t.corrected = true
	correction := t.form.Correction(text)
	t.talk = append(t.talk, message{user: &told{text: correction}})
	t.Then(t.ask)
	return t.Emit(transcript.UserMessage, map[string]any{"text": correction, "subtype": "correction"}, nil)
}

// spoke says whether anything came of the turn: words, or a call.
func (t *turn) spoke() bool {
	for _, m := range t.talk[t.from:] {
		if m.answer != nil && (m.answer.text() != "" || len(m.answer.calls()) > 0) {
			return true
		}
	}
	return false
}

func (t *turn) spentTurns() bool { return t.spec.Limits.Turns > 0 && t.calls >= t.spec.Limits.Turns }

// serve plans the calls of the last answer, in their order, and the next
// question.
func (t *turn) serve() error {
	t.talk = append(t.talk, message{})
	at := len(t.talk) - 1
	for _, c := range t.talk[at-1].answer.calls() {
		t.Then(func() error {
			r, err := t.run(c)
			t.talk[at].results = append(t.talk[at].results, r)
			return err
		})
	}
	t.Then(func() error {
		if t.spentTurns() {
			return t.End("turn limit")
		}
		t.Then(t.ask)
		return nil
	})
	return nil
}

// run runs a tool and records what it gave.
func (t *turn) run(c *block) (result, error) {
	t.Called(c.name)
	text, err := t.use(c)
	if alive := t.Alive(); alive != nil {
		return result{}, alive
	}
	r := result{call: c, text: text}
	detail := map[string]any{"tool_use_id": c.id, "content": text}
	if err != nil {
		r.text, r.failed = err.Error(), true
		detail["content"], detail["is_error"] = err.Error(), true
	}
	return r, t.Emit(transcript.ToolResult, detail, nil)
}

// use finds who serves a call.
func (t *turn) use(c *block) (string, error) {
	in := c.input()
	if !json.Valid(in) {
		return "", fmt.Errorf("the input of %s is no JSON: call it again with an object that fits its schema", c.name)
	}
	for _, tool := range t.tools {
		if tool.Name != c.name {
			continue
		}
		if read := readers[c.name]; read != nil && t.reads(c.name) {
			return read(t.Context(), t.spec.Files, in)
		}
		return t.spec.Tools.Caller.CallTool(t.Context(), c.name, in)
	}
	var names []string
	for _, tool := range t.tools {
		names = append(names, tool.Name)
	}
	return "", fmt.Errorf("there is no tool %.80q (there are: %s)", c.name, first(strings.Join(names, ", "), "none"))
}
