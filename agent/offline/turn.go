package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/transcript"
)

// turn takes its steps as the caller pulls: nothing happens that nobody has
// asked for.
type turn struct {
	*session
	ctx     context.Context
	cancel  context.CancelFunc
	message agent.Message
	text    string     // the message without the history before it
	before  []exchange // the conversation so far
	steps   []func() error
	said    []string
	reply   agent.Reply
	queue   []agent.Event
	end     error

	interruptOnce sync.Once
	interrupted   chan struct{}
}

var (
	errEnd         = errors.New("the turn is over")
	errInterrupted = errors.New("interrupted")
)

// Interrupt implements agent.Interrupter.
func (t *turn) Interrupt(context.Context) error {
	t.interruptOnce.Do(func() { close(t.interrupted) })
	return nil
}

// Reply implements agent.Turn.
func (t *turn) Reply() agent.Reply { return t.reply }

// Next implements agent.Turn.
func (t *turn) Next() (agent.Event, error) {
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

func (t *turn) step() error {
	if err := t.alive(); err != nil {
		return err
	}
	if len(t.steps) == 0 {
		return errEnd
	}
	next := t.steps[0]
	t.steps = t.steps[1:]
	return next()
}

// then adds steps behind those that are planned.
func (t *turn) then(steps ...func() error) { t.steps = append(t.steps, steps...) }

// alive says why the turn is to end early, nil while it may go on.
func (t *turn) alive() error {
	select {
	case <-t.ctx.Done():
		return fmt.Errorf("the turn was cut short: %w", t.ctx.Err())
	case <-t.stopped:
		return agent.ErrStopped
	case <-t.interrupted:
		return errInterrupted
	default:
		return nil
	}
}

// finish ends the turn. Only a turn that ended in order is remembered: one
// that is asked again must not be heard twice.
func (t *turn) finish(err error) {
	if errors.Is(err, errInterrupted) {
		t.reply.Stopped = "interrupted"
		if err = t.emit(transcript.SystemEvent, map[string]any{"subtype": "interrupt"}); err == nil {
			err = errEnd
		}
	}
	t.reply.Text = strings.Join(t.said, "\n\n")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = err
	if errors.Is(err, errEnd) {
		t.end = io.EOF
		t.heard = append(t.heard, exchange{told: t.text, said: t.reply.Text})
	}
	t.cancel()
	t.busy = false
}

// say plans blocks of the answer; empty ones are left out.
func (t *turn) say(blocks ...string) {
	for _, b := range blocks {
		if b = tidy(b); b == "" {
			continue
		}
		t.then(func() error {
			t.said = append(t.said, b)
			t.queue = append(t.queue, agent.Event{Delta: b})
			return t.emit(transcript.AssistantMessage, map[string]any{"text": b})
		})
	}
}

// answer plans the structured answer; nil gives none.
func (t *turn) answerWith(v any) {
	if v == nil || len(t.message.Schema) == 0 {
		return
	}
	t.then(func() error {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		t.reply.Structured = b
		return t.emit(transcript.SystemEvent, map[string]any{"subtype": "structured_answer", "answer": json.RawMessage(b)})
	})
}

// look records that something was looked at, and what came of it.
func (t *turn) look(name string, input map[string]any, do func() (string, error)) error {
	t.calls++
	id := "look-" + strconv.Itoa(t.calls)
	if err := t.emit(transcript.ToolUse, map[string]any{"tool_use_id": id, "name": name, "input": input}); err != nil {
		return err
	}
	content, failure := do()
	if err := t.alive(); err != nil {
		return err
	}
	detail := map[string]any{"tool_use_id": id, "content": content}
	if failure != nil {
		detail["content"], detail["is_error"] = failure.Error(), true
	}
	return t.emit(transcript.ToolResult, detail)
}

func (t *turn) emit(kind transcript.Type, detail map[string]any) error {
	b, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	entry, err := t.spec.Emitter.Emit(transcript.Item{Type: kind, Detail: b})
	if err != nil {
		return err
	}
	t.queue = append(t.queue, agent.Event{Entry: &entry})
	return nil
}

// opening is the confession that each session makes once.
func (t *turn) opening(words string) string {
	if len(t.before) > 0 {
		return ""
	}
	return words
}
