// Package agenttest is the suite that every adapter passes: what a caller may
// rely on, whoever answers. An adapter's tests say how to make their agent
// answer in a certain way, and Run does the rest.
package agenttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/transcript"
)

// Answer is what the agent under test shall do with a message.
type Answer struct {
	Thinks string
	Says   []string
	Hangs  bool // says what it says and then nothing more until interrupted
}

// Subject is an adapter under test.
type Subject struct {
	// New prepares a fresh agent that gives answers in this order, and the
	// spec to start it with. The suite fills in the emitter.
	New func(t *testing.T, answers ...Answer) (agent.Agent, agent.Spec)

	// Survives says that a session can take the next message after a turn
	// that was cancelled.
	Survives bool
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	t.Run("answers a message", s.answers)
	t.Run("keeps the order over many turns", s.manyTurns)
	t.Run("records before it shows", s.recordsFirst)
	t.Run("a turn that cannot be recorded fails", s.failsClosed)
	t.Run("takes one message at a time", s.oneAtATime)
	t.Run("cancelling ends the turn", s.cancels)
	t.Run("interrupting ends the turn in order", s.interrupts)
	t.Run("stop is final and idempotent", s.stops)
	t.Run("stop ends a running turn", s.stopsRunning)
}

// Store is a transcript.Store in memory that can be told to refuse.
type Store struct {
	mu    sync.Mutex
	lines [][]byte
	after int // refuse after so many lines; 0 never
}

// ErrRefused is what a Store returns when it has been told to refuse.
var ErrRefused = errors.New("the store is full")

// AppendLog implements transcript.Store.
func (s *Store) AppendLog(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.after > 0 && len(s.lines) >= s.after {
		return ErrRefused
	}
	s.lines = append(s.lines, bytes.Clone(line))
	return nil
}

// Entries returns what the store holds.
func (s *Store) Entries() []transcript.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return transcript.Reconstruct(slices.Values(s.lines)).Entries
}

// Check fails t unless the lines keep the six invariants.
func (s *Store) Check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := transcript.Check(slices.Values(s.lines)); err != nil {
		t.Errorf("the record: %v", err)
	}
}

func (s Subject) start(t *testing.T, store *Store, answers ...Answer) agent.Session {
	t.Helper()
	a, spec := s.New(t, answers...)
	if !slices.Contains(transcript.Adapters(), a.Adapter()) {
		t.Fatalf("adapter %q is not registered", a.Adapter())
	}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "agenttest", Adapter: a.Adapter(), Store: store})
	if err != nil {
		t.Fatal(err)
	}
	spec.Emitter = emitter
	session, err := a.Start(t.Context(), spec)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := session.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return session
}

// Drain pulls a turn to its end.
func Drain(turn agent.Turn) (agent.Reply, []agent.Event, error) {
	var events []agent.Event
	for {
		e, err := turn.Next()
		if errors.Is(err, io.EOF) {
			return turn.Reply(), events, nil
		}
		if err != nil {
			return turn.Reply(), events, err
		}
		events = append(events, e)
	}
}

func send(t *testing.T, s agent.Session, text string) agent.Turn {
	t.Helper()
	turn, err := s.Send(t.Context(), agent.Message{Text: text})
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return turn
}

// until pulls the turn until it has shown an assistant's words.
func until(t *testing.T, turn agent.Turn) {
	t.Helper()
	for {
		e, err := turn.Next()
		if err != nil {
			t.Fatalf("the turn ended before it said anything: %v", err)
		}
		if e.Delta != "" || e.Entry != nil && e.Entry.Type == transcript.AssistantMessage {
			return
		}
	}
}

func (s Subject) answers(t *testing.T) {
	store := &Store{}
	session := s.start(t, store, Answer{Thinks: "Hm.", Says: []string{"First block.", "Second: ünïcode 🐉\nand a line."}})
	reply, _, err := Drain(send(t, session, "What do you see?"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "First block.\n\nSecond: ünïcode 🐉\nand a line."; reply.Text != want {
		t.Errorf("reply = %q, want %q", reply.Text, want)
	}
	if info := session.Info(); info.SessionID == "" || info.Adapter == "" {
		t.Errorf("info = %+v, want a session id and an adapter", info)
	}
	types := map[transcript.Type]int{}
	for _, e := range store.Entries() {
		types[e.Type]++
	}
	if types[transcript.UserMessage] != 1 || types[transcript.AssistantMessage] != 2 || types[transcript.Thinking] != 1 {
		t.Errorf("entries = %v; want one user message, one thought and two blocks", types)
	}
	store.Check(t)
}

func (s Subject) manyTurns(t *testing.T) {
	store := &Store{}
	session := s.start(t, store, Answer{Says: []string{"one"}}, Answer{Says: []string{"two"}}, Answer{Says: []string{"three"}})
	for _, want := range []string{"one", "two", "three"} {
		reply, _, err := Drain(send(t, session, "Go on: "+want))
		if err != nil || reply.Text != want {
			t.Fatalf("reply = %q, %v; want %q", reply.Text, err, want)
		}
	}
	store.Check(t)
}

func (s Subject) recordsFirst(t *testing.T) {
	store := &Store{}
	session := s.start(t, store, Answer{Says: []string{"said"}})
	turn := send(t, session, "Say it.")
	seen := 0
	for {
		e, err := turn.Next()
		if err != nil {
			break
		}
		if e.Entry == nil {
			continue
		}
		seen++
		if !slices.ContainsFunc(store.Entries(), func(x transcript.Entry) bool {
			return x.Source == e.Entry.Source && x.Sequence == e.Entry.Sequence
		}) {
			t.Fatalf("%s %d was shown before it was recorded", e.Entry.Source, e.Entry.Sequence)
		}
	}
	if seen == 0 {
		t.Error("the turn showed no entry")
	}
}

func (s Subject) failsClosed(t *testing.T) {
	store := &Store{after: 1}
	session := s.start(t, store, Answer{Says: []string{"lost"}})
	turn, err := session.Send(t.Context(), agent.Message{Text: "Say it."})
	if err == nil {
		_, _, err = Drain(turn)
	}
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a turn without a record ends with %v, want the record's error", err)
	}
}

func (s Subject) oneAtATime(t *testing.T) {
	session := s.start(t, &Store{}, Answer{Says: []string{"busy"}, Hangs: true})
	turn := send(t, session, "Begin.")
	if _, err := session.Send(t.Context(), agent.Message{Text: "And this?"}); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("a second message during a turn gives %v, want ErrBusy", err)
	}
	_ = turn
}

func (s Subject) cancels(t *testing.T) {
	store := &Store{}
	session := s.start(t, store, Answer{Says: []string{"so far"}, Hangs: true}, Answer{Says: []string{"again"}})
	ctx, cancel := context.WithCancel(t.Context())
	turn, err := session.Send(ctx, agent.Message{Text: "Begin."})
	if err != nil {
		t.Fatal(err)
	}
	until(t, turn)
	cancel()
	if _, _, err := Drain(turn); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled turn ends with %v, want context.Canceled", err)
	}
	store.Check(t)
	if s.Survives {
		if reply, _, err := Drain(send(t, session, "Once more.")); err != nil || reply.Text != "again" {
			t.Errorf("after a cancelled turn: %q, %v", reply.Text, err)
		}
	}
}

func (s Subject) interrupts(t *testing.T) {
	store := &Store{}
	session := s.start(t, store, Answer{Says: []string{"so far"}, Hangs: true})
	turn := send(t, session, "Begin.")
	interrupter, ok := turn.(agent.Interrupter)
	if !ok {
		t.Fatal("turns of this adapter cannot be interrupted")
	}
	until(t, turn)
	if err := interrupter.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	reply, _, err := Drain(turn)
	if err != nil || reply.Stopped != "interrupted" || !strings.Contains(reply.Text, "so far") {
		t.Errorf("an interrupted turn gives %+v, %v; want what was said so far", reply, err)
	}
	store.Check(t)
}

func (s Subject) stops(t *testing.T) {
	session := s.start(t, &Store{}, Answer{Says: []string{"one"}}, Answer{Says: []string{"two"}})
	if _, _, err := Drain(send(t, session, "Begin.")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := session.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session.Send(t.Context(), agent.Message{Text: "Still there?"}); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("a message after stop gives %v, want ErrStopped", err)
	}
}

func (s Subject) stopsRunning(t *testing.T) {
	session := s.start(t, &Store{}, Answer{Says: []string{"so far"}, Hangs: true})
	turn := send(t, session, "Begin.")
	until(t, turn)
	if err := session.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Drain(turn); err == nil {
		t.Error("a turn whose session was stopped ends as if it were done")
	}
}
