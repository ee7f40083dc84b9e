package codex

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/clients"
	"conclave/internal/jsontext"
	"conclave/internal/modelstub"
	"conclave/internal/proc"
	"conclave/internal/sample"
	"conclave/transcript"
)

// program is the native program of the pinned client.
func program(t *testing.T) string {
	t.Helper()
	sample.Long(t)
	path, err := clients.Codex()
	if err != nil {
		t.Fatal(err)
	}
	native, err := Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	return native
}

// blobs is an agent.BlobStore in memory.
type blobs struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (b *blobs) AppendBlob(channel string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil {
		b.data = map[string][]byte{}
	}
	b.data[channel] = append(b.data[channel], data...)
	return nil
}

func (b *blobs) channel(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.data[name])
}

// rig is a session of the real program against a scripted model.
type rig struct {
	t     *testing.T
	stub  *modelstub.Server
	store *agenttest.Store
	blobs *blobs
	spec  agent.Spec
	s     agent.Session
}

// start runs the program with all its tools; change may alter what it is given.
func start(t *testing.T, h modelstub.Handler, change func(*Options, *agent.Spec)) *rig {
	t.Helper()
	r := &rig{t: t, stub: modelstub.New(h), store: &agenttest.Store{}, blobs: &blobs{}}
	t.Cleanup(r.stub.Close)
	room := t.TempDir()
	r.spec = agent.Spec{
		System:   "You are the cat.",
		Model:    agent.Model{Name: "stub-model", BaseURL: r.stub.URL(), Token: "worthless"},
		Tools:    agent.Tools{Builtin: []string{agent.AllTools}},
		Place:    agent.Place{Host: room, Guest: room},
		Launcher: proc.Launcher{}, Blobs: r.blobs,
	}
	o := Options{Program: program(t), Retries: 1}
	if change != nil {
		change(&o, &r.spec)
	}
	r.restart(o)
	return r
}

// restart starts a session with what r.spec says now.
func (r *rig) restart(o Options) {
	r.t.Helper()
	a, err := New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.spec.Emitter, err = transcript.NewEmitter(transcript.Options{PromptName: "test", Adapter: a.Adapter(), Store: r.store})
	if err != nil {
		r.t.Fatal(err)
	}
	if r.s, err = a.Start(r.t.Context(), r.spec); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(r.stop)
}

func (r *rig) stop() {
	if err := r.s.Stop(context.Background()); err != nil {
		r.t.Errorf("stop: %v", err)
	}
}

func (r *rig) begin(text string) agent.Turn {
	r.t.Helper()
	turn, err := r.s.Send(r.t.Context(), agent.Message{Text: text})
	if err != nil {
		r.t.Fatal(err)
	}
	return turn
}

// say sends a message and wants the turn to end well.
func (r *rig) say(text string) agent.Reply {
	r.t.Helper()
	reply, _, err := agenttest.Drain(r.begin(text))
	if err != nil {
		r.t.Fatalf("%q: %v", text, err)
	}
	return reply
}

// until pulls the turn until pred holds for an event.
func until(t *testing.T, turn agent.Turn, pred func(agent.Event) bool) {
	t.Helper()
	for {
		e, err := turn.Next()
		if err != nil {
			t.Fatalf("the turn ended too early: %v", err)
		}
		if pred(e) {
			return
		}
	}
}

func isDeltaEvent(e agent.Event) bool { return e.Delta != "" }

// sequence is what happened, without the life cycle: type, and what marks it.
func (r *rig) sequence() []string {
	var out []string
	for _, e := range r.store.Entries() {
		switch e.Type {
		case transcript.SystemEvent, transcript.TokenUsage:
			continue
		}
		what := string(e.Type)
		for _, name := range []string{"name", "text"} {
			if v := jsontext.Text(jsontext.Get(e.Detail, name)); v != "" {
				what += ":" + v
			}
		}
		if string(jsontext.Get(e.Detail, "is_error")) == "true" {
			what += "!"
		}
		if string(jsontext.Get(e.Detail, "partial")) == "true" {
			what += "…"
		}
		out = append(out, what)
	}
	return out
}

func (r *rig) want(want ...string) {
	r.t.Helper()
	if got := r.sequence(); !slices.Equal(got, want) {
		r.t.Errorf("entries\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func (r *rig) count(typ transcript.Type, subtype string) int {
	n := 0
	for _, e := range r.store.Entries() {
		if e.Type == typ && (subtype == "" || jsontext.Text(jsontext.Get(e.Detail, "subtype")) == subtype) {
			n++
		}
	}
	return n
}

// accounted checks that every byte of both directions is on an entry, that
// nothing was unknown, and that the record keeps its invariants.
func (r *rig) accounted() {
	r.t.Helper()
	r.stop()
	r.store.Check(r.t)
	var raw int
	for _, e := range r.store.Entries() {
		if e.Raw != nil {
			raw += len(e.Raw) + 1
		}
		if e.Type == transcript.Unknown {
			r.t.Errorf("unknown: %s", e.Raw)
		}
	}
	if crossed := len(r.blobs.channel("codex.stdin")) + len(r.blobs.channel("codex.stdout")); raw != crossed {
		r.t.Errorf("%d bytes crossed, %d are on entries", crossed, raw)
	}
	if u := r.s.Info().Unrecognised; len(u) > 0 {
		r.t.Errorf("not recognised: %q", u)
	}
}

func call(name, id, input string) modelstub.Block { return modelstub.Call(name, id, input) }
