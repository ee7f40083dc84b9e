// Package local has the mechanics of agents that run in this process: the
// embedded party, scripts, and anyone who answers a message with words.
//
// An Agent starts a Conversation for each session. A turn takes its steps while
// its caller pulls it, and nothing happens that nobody has asked for; what it
// says is on the record before anyone sees it, and it ends early when it is
// cancelled, interrupted, stopped or out of time. The package stores nothing
// and starts no goroutine.
package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"conclave/agent"
	"conclave/transcript"
)

// Conversation is one session's mind.
type Conversation struct {
	// Answer begins to answer the turn's message: it plans steps with Then.
	Answer func(*Turn) error
	// ID is the session's id, by which it can be resumed; nil gives it one
	// without memory.
	ID func() string
	// Model is the model that answers, as its provider calls it; nil: there is
	// none.
	Model func() string
	// Close is called when the session is stopped, nil for nothing.
	Close func()
	// Cut is called when a turn is to end early, before it does, to record what
	// is under way; nil for nothing.
	Cut func(*Turn) error
	// Ended is called after a turn that ended in order, nil for none. One that
	// did not will be asked again, and must not be heard twice.
	Ended func(*Turn)
}

// Words is a conversation that answers each message with blocks of words. When
// its context ends, answer returns what it has, with the context's error.
func Words(answer func(context.Context, agent.Message) ([]string, error)) Conversation {
	return Conversation{Answer: func(t *Turn) error {
		t.Then(func() error {
			blocks, err := answer(t.Context(), t.Message)
			for _, b := range blocks {
				if err := t.Say(b, nil); err != nil {
					return err
				}
			}
			if err == nil || t.Alive() != nil {
				return t.Alive()
			}
			return errors.Join(err, t.Emit(transcript.Error, map[string]any{"message": err.Error()}, nil))
		})
		return nil
	}}
}

// Agent starts conversations with New.
type Agent struct {
	Name string // the registered adapter name
	New  func(spec agent.Spec) (Conversation, error)
}

// Adapter implements agent.Agent.
func (a *Agent) Adapter() string { return a.Name }

// Start implements agent.Agent.
func (a *Agent) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if spec.Emitter == nil {
		return nil, fmt.Errorf("start a session of %s: no emitter: what cannot be recorded does not happen", a.Name)
	}
	mind, err := a.New(spec)
	if err != nil {
		return nil, err
	}
	s := &session{name: a.Name, spec: spec, mind: mind}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s, nil
}

type session struct {
	name string
	spec agent.Spec
	mind Conversation
	life context.Context
	end  context.CancelCauseFunc

	mu   sync.Mutex
	busy bool
}

// Info implements agent.Session.
func (s *session) Info() agent.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := agent.Info{Adapter: s.name, Version: "1", SessionID: s.name + "-" + s.spec.Role, Model: "none"}
	if s.mind.ID != nil {
		info.SessionID = s.mind.ID()
	}
	if s.mind.Model != nil {
		info.Model = s.mind.Model()
	}
	return info
}

// Stop implements agent.Session.
func (s *session) Stop(context.Context) error {
	s.end(agent.ErrStopped)
	if s.mind.Close != nil {
		s.mind.Close()
	}
	return nil
}

// Send implements agent.Session.
func (s *session) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return nil, agent.ErrStopped
	}
	if s.busy {
		return nil, agent.ErrBusy
	}
	t := &Turn{Message: m, session: s}
	t.begin(ctx)
	told := map[string]any{"text": m.Text}
	if len(m.Images) > 0 {
		told["images"] = pictures(m.Images)
	}
	err := t.Emit(transcript.UserMessage, told, nil)
	if err == nil {
		err = s.mind.Answer(t)
	}
	if err != nil {
		t.release()
		return nil, err
	}
	s.busy = true
	return t, nil
}

// picture tells of an image; its bytes stand in what is sent.
type picture struct {
	Type   string `json:"type"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func pictures(images []agent.Image) (out []picture) {
	for _, img := range images {
		out = append(out, picture{img.Type, len(img.Data), fmt.Sprintf("%x", sha256.Sum256(img.Data))})
	}
	return out
}

// over ends a turn of the session.
func (s *session) over(t *Turn, inOrder bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inOrder && s.mind.Ended != nil {
		s.mind.Ended(t)
	}
	s.busy = false
}
