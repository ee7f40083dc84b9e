package local

import (
	"context"
	"errors"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/transcript"
)

// player gives prepared answers in order.
type player struct {
	answers []agenttest.Answer
	next    int
	hangs   func() // called when an answer begins to hang
}

func (p *player) Answer(ctx context.Context, _ agent.Message) ([]string, error) {
	a := p.answers[p.next]
	p.next++
	if a.Hangs {
		p.hangs()
		<-ctx.Done()
		return a.Says, ctx.Err()
	}
	return a.Says, nil
}

// TestTurns holds the suite's promises that a function can keep: it shows its
// words when it has them all, so a turn cannot be caught half said.
func TestTurns(t *testing.T) {
	store := &agenttest.Store{}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterOffline, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{answers: []agenttest.Answer{{Says: []string{"one", "two"}}, {Says: []string{"so far"}, Hangs: true}, {Says: []string{"so far"}, Hangs: true}, {Says: []string{"again"}}}}
	a := &Agent{Name: transcript.AdapterOffline, New: func(agent.Spec) (Conversation, error) { return Words(p.Answer), nil }}
	s, err := a.Start(t.Context(), agent.Spec{Role: "gm", Emitter: emitter})
	if err != nil {
		t.Fatal(err)
	}
	turn := send(t, s, t.Context())
	if _, err := s.Send(t.Context(), agent.Message{Text: "and?"}); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("a second message gives %v", err)
	}
	if reply, _, err := agenttest.Drain(turn); err != nil || reply.Text != "one\n\ntwo" {
		t.Errorf("%q, %v", reply.Text, err)
	}

	turn = send(t, s, t.Context())
	p.hangs = func() {
		if err := turn.(agent.Interrupter).Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if reply, _, err := agenttest.Drain(turn); err != nil || reply.Stopped != "interrupted" || reply.Text != "so far" {
		t.Errorf("interrupted: %+v, %v", reply, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	turn = send(t, s, ctx)
	p.hangs = cancel
	if _, _, err := agenttest.Drain(turn); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if reply, _, err := agenttest.Drain(send(t, s, t.Context())); err != nil || reply.Text != "again" {
		t.Errorf("afterwards: %q, %v", reply.Text, err)
	}
	store.Check(t)

	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Send(t.Context(), agent.Message{}); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("after stop: %v", err)
	}
}

func send(t *testing.T, s agent.Session, ctx context.Context) agent.Turn {
	t.Helper()
	turn, err := s.Send(ctx, agent.Message{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestAFailureIsOnTheRecord(t *testing.T) {
	store := &agenttest.Store{}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterOffline, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{Name: transcript.AdapterOffline, New: func(agent.Spec) (Conversation, error) { return Words(failing{}.Answer), nil }}
	s, err := a.Start(t.Context(), agent.Spec{Emitter: emitter})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := agenttest.Drain(send(t, s, t.Context())); err == nil || !strings.Contains(err.Error(), "out of ink") {
		t.Errorf("error = %v", err)
	}
	entries := store.Entries()
	if last := entries[len(entries)-1]; last.Type != transcript.Error {
		t.Errorf("the last entry is %s", last.Type)
	}
}

type failing struct{}

func (failing) Answer(context.Context, agent.Message) ([]string, error) {
	return nil, errors.New("out of ink")
}
