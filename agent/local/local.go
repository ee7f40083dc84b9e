// Package local makes an agent out of a function: for agents that run in this
// process, need no model, and answer a message with words.
//
// A turn runs while its caller pulls it; the function gets a context that ends
// when the turn is cancelled, interrupted or stopped, and everything it says is
// on the record before anyone sees it. The package stores nothing and starts
// no goroutine.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/transcript"
)

// Answerer is one conversation. Answer returns the blocks of the answer; when
// its context ends it returns what it has, with the context's error.
type Answerer interface {
	Answer(ctx context.Context, m agent.Message) ([]string, error)
}

// Agent starts conversations with New.
type Agent struct {
	Name string // the registered adapter name
	New  func(spec agent.Spec) (Answerer, error)
}

// Adapter implements agent.Agent.
func (a *Agent) Adapter() string { return a.Name }

// Start implements agent.Agent.
func (a *Agent) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if spec.Emitter == nil {
		return nil, errors.New("start a session: no emitter: what cannot be recorded does not happen")
	}
	answerer, err := a.New(spec)
	if err != nil {
		return nil, err
	}
	s := &session{name: a.Name, spec: spec, answerer: answerer}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s, nil
}

type session struct {
	name     string
	spec     agent.Spec
	answerer Answerer
	life     context.Context
	end      context.CancelCauseFunc

	mu   sync.Mutex
	busy bool
}

// Info implements agent.Session.
func (s *session) Info() agent.Info {
	return agent.Info{Adapter: s.name, Version: "1", SessionID: s.name + "-" + s.spec.Role, Model: "none"}
}

// Stop implements agent.Session.
func (s *session) Stop(context.Context) error {
	s.end(agent.ErrStopped)
	return nil
}

// Send implements agent.Session.
func (s *session) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.life.Err() != nil {
		return nil, agent.ErrStopped
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return nil, agent.ErrBusy
	}
	t := &turn{session: s, message: m}
	if err := t.emit(transcript.UserMessage, map[string]any{"text": m.Text}); err != nil {
		return nil, err
	}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.release = context.AfterFunc(s.life, func() { t.cancel(agent.ErrStopped) })
	s.busy = true
	return t, nil
}

type turn struct {
	*session
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func() bool
	message agent.Message
	queue   []agent.Event
	asked   bool
	reply   agent.Reply
	err     error
}

var errInterrupted = errors.New("interrupted")

// Interrupt implements agent.Interrupter.
func (t *turn) Interrupt(context.Context) error {
	t.cancel(errInterrupted)
	return nil
}

// Reply implements agent.Turn.
func (t *turn) Reply() agent.Reply { return t.reply }

// Next implements agent.Turn.
func (t *turn) Next() (agent.Event, error) {
	if len(t.queue) == 0 && !t.asked {
		t.asked = true
		t.err = t.answer()
		t.release()
		t.cancel(nil)
		t.mu.Lock()
		t.busy = false
		t.mu.Unlock()
	}
	if len(t.queue) > 0 {
		e := t.queue[0]
		t.queue = t.queue[1:]
		return e, nil
	}
	return agent.Event{}, t.err
}

func (t *turn) answer() error {
	blocks, err := t.answerer.Answer(t.ctx, t.message)
	for _, block := range blocks {
		t.queue = append(t.queue, agent.Event{Delta: block})
		if err := t.emit(transcript.AssistantMessage, map[string]any{"text": block}); err != nil {
			return err
		}
	}
	t.reply.Text = strings.Join(blocks, "\n\n")
	cause := context.Cause(t.ctx)
	switch {
	case errors.Is(cause, errInterrupted):
		t.reply.Stopped = "interrupted"
		if err := t.emit(transcript.SystemEvent, map[string]any{"subtype": "interrupt"}); err != nil {
			return err
		}
		return io.EOF
	case cause != nil:
		return fmt.Errorf("the turn was cut short: %w", cause)
	case err != nil:
		return errors.Join(err, t.emit(transcript.Error, map[string]any{"message": err.Error()}))
	}
	return io.EOF
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
