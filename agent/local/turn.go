package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"conclave/agent"
	"conclave/transcript"
)

// Turn is the answer to one message. It implements agent.Turn and
// agent.Interrupter; everything else is for the conversation that answers.
type Turn struct {
	Message agent.Message

	session *session
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func()
	steps   []func() error
	said    []string
	reply   agent.Reply
	queue   []agent.Event
	end     error // why the turn is over
}

var (
	errEnd         = errors.New("the turn is over")
	errInterrupted = errors.New("interrupted")
)

// begin starts the turn's clock.
func (t *Turn) begin(ctx context.Context) {
	timed := func() {}
	if wall := t.session.spec.Limits.Wall; wall > 0 {
		ctx, timed = context.WithTimeout(ctx, wall)
	}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	unhook := context.AfterFunc(t.session.life, func() { t.cancel(agent.ErrStopped) })
	t.release = func() {
		unhook()
		t.cancel(nil)
		timed()
	}
}

// Interrupt implements agent.Interrupter.
func (t *Turn) Interrupt(context.Context) error {
	t.cancel(errInterrupted)
	return nil
}

// Reply implements agent.Turn.
func (t *Turn) Reply() agent.Reply { return t.reply }

// Next implements agent.Turn.
func (t *Turn) Next() (agent.Event, error) {
	for len(t.queue) == 0 && t.end == nil {
		if err := t.step(); err != nil {
			t.finish(err)
		}
	}
	if len(t.queue) > 0 {
		e := t.queue[0]
		t.queue = t.queue[1:]
		return e, nil
	}
	return agent.Event{}, t.end
}

func (t *Turn) step() error {
	if err := t.Alive(); err != nil {
		return err
	}
	if len(t.steps) == 0 {
		return errEnd
	}
	next := t.steps[0]
	t.steps = t.steps[1:]
	return next()
}

func (t *Turn) finish(err error) {
	if cut := t.session.mind.Cut; cut != nil && !errors.Is(err, errEnd) {
		if cerr := cut(t); cerr != nil {
			err = cerr
		}
	}
	if errors.Is(err, errInterrupted) {
		t.reply.Stopped = "interrupted"
		if err = t.Emit(transcript.SystemEvent, map[string]any{"subtype": "interrupt"}, nil); err == nil {
			err = errEnd
		}
	}
	t.reply.Text = strings.Join(t.said, "\n\n")
	inOrder := errors.Is(err, errEnd)
	if t.end = err; inOrder {
		t.end = io.EOF
	}
	t.release()
	t.session.over(t, inOrder)
}

// Context ends when the turn is to end early.
func (t *Turn) Context() context.Context { return t.ctx }

// Alive says why the turn is to end early, nil while it may go on. Steps return
// what it says.
func (t *Turn) Alive() error {
	cause := context.Cause(t.ctx)
	switch {
	case cause == nil, errors.Is(cause, errInterrupted):
		return cause
	case errors.Is(cause, agent.ErrStopped):
		return agent.ErrStopped
	}
	return fmt.Errorf("the turn was cut short: %w", cause)
}

// Wait waits for d, for ever if it is negative, and returns early with what
// Alive says.
func (t *Turn) Wait(d time.Duration) error {
	var after <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
	case <-t.ctx.Done():
	}
	return t.Alive()
}

// Then adds steps behind those that are planned.
func (t *Turn) Then(steps ...func() error) { t.steps = append(t.steps, steps...) }

// Hear shows a piece of a block that is being said; Said follows with the whole.
func (t *Turn) Hear(delta string) { t.queue = append(t.queue, agent.Event{Delta: delta}) }

// Say says a block of the answer.
func (t *Turn) Say(text string, raw []byte) error {
	t.Hear(text)
	return t.Said(text, raw)
}

// Said says a block of the answer that was heard piece by piece.
func (t *Turn) Said(text string, raw []byte) error {
	t.said = append(t.said, text)
	return t.Emit(transcript.AssistantMessage, map[string]any{"text": text}, raw)
}

// Break says a block that the turn did not live to end: it is on the record as
// such, and on no screen.
func (t *Turn) Break(text string, raw []byte) error {
	t.said = append(t.said, text)
	return t.Emit(transcript.AssistantMessage, map[string]any{"text": text, "partial": true}, raw)
}

// Structured gives the answer to the message's schema.
func (t *Turn) Structured(answer, raw []byte) error { return t.StructuredBy("", answer, raw) }

// StructuredBy is Structured, and says in which way the form was asked for.
func (t *Turn) StructuredBy(way string, answer, raw []byte) error {
	t.reply.Structured = answer
	detail := map[string]any{"subtype": "structured_answer", "answer": json.RawMessage(answer)}
	if way != "" {
		detail["way"] = way
	}
	return t.Emit(transcript.SystemEvent, detail, raw)
}

// End ends the turn in order before the agent was done; a step returns what it
// returns.
func (t *Turn) End(why string) error {
	t.reply.Stopped = why
	return errEnd
}

// Use adds to what the turn consumed.
func (t *Turn) Use(u transcript.Usage) { t.reply.Usage = t.reply.Usage.Add(u) }

// Called notes that the agent called a tool, at this point of what it says.
func (t *Turn) Called(tool string) {
	t.reply.Uses = append(t.reply.Uses, agent.ToolUse{Name: tool, Said: len(strings.Join(t.said, "\n\n"))})
}

// Leave ends the session, as if its program had died.
func (t *Turn) Leave() { t.session.end(agent.ErrStopped) }

// Emit records an entry and offers it to the caller. raw is what gave rise to
// it, nil for nothing.
func (t *Turn) Emit(kind transcript.Type, detail map[string]any, raw []byte) error {
	b, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	entry, err := t.session.spec.Emitter.Emit(transcript.Item{Type: kind, Detail: b, Raw: raw})
	if err != nil {
		return err
	}
	t.queue = append(t.queue, agent.Event{Entry: &entry})
	return nil
}
