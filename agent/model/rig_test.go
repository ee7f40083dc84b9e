package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/agent/local"
	"conclave/gateway"
	"conclave/internal/modelstub"
	"conclave/transcript"
)

const theKey = "sk-this-is-the-real-key-0123456789"

// blobs are what the gateway puts on the record.
type blobs struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (b *blobs) AppendBlob(channel string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data[channel] = append(b.data[channel], data...)
	return nil
}

// rig is a model's server behind a gateway, and what is kept of both.
type rig struct {
	kind    gateway.Kind
	stub    *modelstub.Server
	gateway *gateway.Gateway
	blobs   *blobs
	store   *agenttest.Store
	spec    agent.Spec
	agent   *maker
	pauses  []time.Duration
	told    []string
}

var files = fstest.MapFS{
	"README.md":        {Data: []byte("# The tower\n\nOne\nTwo\nThree\n")},
	"src/dragon.go":    {Data: []byte("package dragon\n\n// Sleep is long.\nfunc Sleep() {}\n")},
	"src/deep/a/b.txt": {Data: []byte("gold\n")},
	"logo.png":         {Data: []byte("\x89PNG\x00\x00")},
}

// newRig starts a server of this kind that does what the handler says.
func newRig(t testing.TB, kind gateway.Kind, h modelstub.Handler) *rig {
	t.Helper()
	r := &rig{kind: kind, stub: modelstub.New(h), blobs: &blobs{data: map[string][]byte{}}, store: &agenttest.Store{}}
	t.Cleanup(r.stub.Close)
	var err error
	r.gateway, err = gateway.New(gateway.Options{
		Upstream: gateway.Upstream{Kind: kind, BaseURL: r.stub.URL(), Key: theKey}, Models: []string{"*"}, Blobs: r.blobs,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.gateway.Close(); err != nil {
			t.Error(err)
		}
	})
	r.agent = New(Config{Kind: kind, Provider: "mine", KeyEnv: "MY_KEY", Tell: func(s string) { r.told = append(r.told, s) }}).(*maker)
	r.agent.jitter = func() float64 { return 1 }
	r.agent.wait = func(t *local.Turn, d time.Duration) error {
		r.pauses = append(r.pauses, d)
		return t.Alive()
	}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterModel, Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	r.spec = agent.Spec{
		Role: "cat", System: "You are the Cat.", Files: files, Emitter: emitter,
		Model: agent.Model{Name: "stub-1", BaseURL: "http://gateway", Token: r.gateway.Token(), Dial: r.gateway.Dial},
		Tools: agent.Tools{Builtin: []string{ListFiles, ReadFile, SearchFiles}},
	}
	return r
}

func (r *rig) start(t testing.TB) agent.Session {
	t.Helper()
	s, err := r.agent.Start(context.Background(), r.spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

// say sends a message and pulls the turn to its end.
func (r *rig) say(t testing.TB, s agent.Session, m agent.Message) (agent.Reply, []agent.Event, error) {
	t.Helper()
	turn, err := s.Send(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	return agenttest.Drain(turn)
}

// types are the entries so far, by type and subtype.
func (r *rig) types() (out []string) {
	for _, e := range r.store.Entries() {
		name := string(e.Type)
		var d struct {
			Subtype string
			Partial bool
		}
		_ = json.Unmarshal(e.Detail, &d)
		if d.Subtype != "" {
			name += " " + d.Subtype
		}
		if d.Partial {
			name += " partial"
		}
		out = append(out, name)
	}
	return out
}

// entry is the last one of a type and subtype.
func (r *rig) entry(t testing.TB, typ transcript.Type, subtype string) transcript.Entry {
	t.Helper()
	for _, e := range slices.Backward(r.store.Entries()) {
		if e.Type == typ && (subtype == "" || strings.Contains(string(e.Detail), `"subtype":"`+subtype+`"`)) {
			return e
		}
	}
	t.Fatalf("no %s %s among %v", typ, subtype, r.types())
	return transcript.Entry{}
}

// spent is what the entries say was consumed, and what the gateway says.
func (r *rig) spent(t testing.TB) (entries, seen transcript.Usage) {
	t.Helper()
	for _, e := range r.store.Entries() {
		if e.Type == transcript.TokenUsage {
			entries = entries.Add(transcript.UsageOf(e.Detail))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return entries.Tokens(), transcript.Usage(r.gateway.Settle(ctx).Usage).Tokens()
}

// sent is the request of a number as text.
func (r *rig) sent(t testing.TB, n int) string {
	t.Helper()
	requests := r.stub.Requests()
	if n >= len(requests) {
		t.Fatalf("there were %d requests", len(requests))
	}
	return string(requests[n].Body)
}

// eachKind runs a test against every kind of server that the gateway speaks to.
func eachKind(t *testing.T, do func(t *testing.T, kind gateway.Kind)) {
	t.Helper()
	for _, kind := range gateway.Kinds() {
		t.Run(string(kind), func(t *testing.T) { do(t, kind) })
	}
}

// whole are all bytes of raw in the order of the record.
func (r *rig) whole() []byte {
	var out bytes.Buffer
	for _, e := range r.store.Entries() {
		out.Write(e.Raw)
	}
	return out.Bytes()
}

// caller is the room's tools.
type caller struct {
	calls []string
}

func (c *caller) CallTool(_ context.Context, name string, input json.RawMessage) (string, error) {
	c.calls = append(c.calls, fmt.Sprintf("%s %s", name, input))
	if name == "fail" {
		return "", fmt.Errorf("it is broken")
	}
	return "you rolled 17", nil
}

var roomTools = []agent.ToolOffer{
	{Name: "roll", Description: "Roll dice.", Schema: json.RawMessage(`{"type":"object","properties":{"expr":{"type":"string"}}}`)},
	{Name: "fail", Description: "Fail.", Schema: json.RawMessage(`{"type":"object"}`)},
}

// longCaller gives the same long result to every call.
type longCaller string

func (c longCaller) CallTool(context.Context, string, json.RawMessage) (string, error) {
	return string(c), nil
}
