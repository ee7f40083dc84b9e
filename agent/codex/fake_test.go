package codex

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/jsonrpc"
	"conclave/transcript"
)

// fake is a program in this process, for what the real one cannot be made to
// do. It answers every request with what a thread needs, and on turn/start
// plays its lines: those that are requests wait for their answer.
type fake struct {
	play []string

	in      *io.PipeReader
	inW     *io.PipeWriter
	out     *io.PipeReader
	outW    *io.PipeWriter
	done    chan struct{}
	once    sync.Once
	mu      sync.Mutex
	answers []string
}

func (f *fake) Launch(context.Context, agent.Command) (agent.Process, error) {
	f.in, f.inW = io.Pipe()
	f.out, f.outW = io.Pipe()
	f.done = make(chan struct{})
	go f.serve()
	return f, nil
}

func (f *fake) serve() {
	defer close(f.done)
	defer f.outW.Close()
	lines := jsonrpc.NewReader(f.in)
	say := func(s string) { _, _ = io.WriteString(f.outW, s+"\n") }
	next := func() (jsonrpc.Message, bool) {
		line, err := lines.Next()
		if err != nil {
			return jsonrpc.Message{}, false
		}
		m, err := jsonrpc.Parse(line)
		if m.Kind == jsonrpc.Response {
			f.mu.Lock()
			f.answers = append(f.answers, string(line))
			f.mu.Unlock()
		}
		return m, err == nil
	}
	for {
		m, ok := next()
		if !ok {
			return
		}
		if m.Kind != jsonrpc.Request {
			continue
		}
		say(`{"id":` + string(m.ID) + `,"result":{"userAgent":"x/9.9.9 (future)","thread":{"id":"T"},"turn":{"id":"U"}}}`)
		if m.Method != "turn/start" {
			continue
		}
		say(`{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}`)
		for _, l := range f.play {
			say(l)
			if m, _ := jsonrpc.Parse([]byte(l)); m.Kind == jsonrpc.Request {
				if _, ok := next(); !ok {
					return
				}
			}
		}
		say(`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"completed"}}}`)
	}
}

func (f *fake) Stdin() io.WriteCloser { return f.inW }
func (f *fake) Stdout() io.Reader     { return f.out }
func (f *fake) Stderr() io.Reader     { return strings.NewReader("") }
func (f *fake) PID() int              { return 1 }
func (f *fake) Done() <-chan struct{} { return f.done }
func (f *fake) Err() error            { return nil }

func (f *fake) Stop(context.Context) error {
	f.once.Do(func() { f.inW.Close() })
	<-f.done
	return nil
}

// playFake runs one turn of a fake program.
func playFake(t *testing.T, o Options, f *fake) (agent.Session, *agenttest.Store, *blobs, error) {
	t.Helper()
	o.Program = "/fake/codex"
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	store, kept := &agenttest.Store{}, &blobs{}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: a.Adapter(), Store: store})
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	s, err := a.Start(t.Context(), agent.Spec{Launcher: f, Emitter: emitter, Blobs: kept, Model: agent.Model{Name: "m"},
		Place: agent.Place{Host: room, Guest: room}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
		store.Check(t)
	})
	turn, err := s.Send(t.Context(), agent.Message{Text: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = agenttest.Drain(turn)
	return s, store, kept, err
}

// Whatever the program asks, it is answered, and never with more than policy
// allows.
func TestEveryRequestIsAnswered(t *testing.T) {
	tests := []struct{ method, params, want string }{
		{"item/commandExecution/requestApproval", `{}`, `"result":{"decision":"decline"}`},
		{"item/fileChange/requestApproval", `{}`, `"result":{"decision":"decline"}`},
		{"execCommandApproval", `{}`, `"result":{"decision":"abort"}`},
		{"applyPatchApproval", `{}`, `"result":{"decision":"abort"}`},
		{"item/permissions/requestApproval", `{}`, `"result":{"permissions":{},"scope":"turn"}`},
		{"item/tool/requestUserInput", `{}`, `"result":{"answers":{}}`},
		{"mcpServer/elicitation/request", `{}`, `"action":"decline"`},
		{"currentTime/read", `{}`, `"currentTimeAt":`},
		{"item/tool/call", `{"tool":"none"}`, `"success":false`},
		{"account/chatgptAuthTokens/refresh", `{}`, `"error":`},
		{"attestation/generate", `{}`, `"error":{"code":-32601`},
		{"something/new", `{}`, `"error":{"code":-32601`},
	}
	f := &fake{}
	for _, tt := range tests {
		f.play = append(f.play, `{"method":"`+tt.method+`","id":"`+tt.method+`","params":`+tt.params+`}`)
	}
	s, _, _, err := playFake(t, Options{}, f)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.answers) != len(tests) {
		t.Fatalf("%d answers to %d requests", len(f.answers), len(tests))
	}
	for i, tt := range tests {
		if !strings.Contains(f.answers[i], tt.want) || !strings.Contains(f.answers[i], `"id":"`+tt.method+`"`) {
			t.Errorf("%s is answered with %s, want %s", tt.method, f.answers[i], tt.want)
		}
	}
	if got := s.Info(); got.Version != "9.9.9" || !slices.Equal(got.Unrecognised, []string{"something/new"}) {
		t.Errorf("info %+v", got)
	}
}

// A program of the future says things that are not known: they are kept, named
// and in nobody's way.
func TestAFutureProgram(t *testing.T) {
	f := &fake{play: []string{
		`{"method":"hologram/updated","params":{"threadId":"T","beam":1}}`,
		`not even JSON`,
		`{"method":"configWarning","params":{"summary":"Codex is ignoring 1 unrecognized configuration setting. Check for typos.\n  user (/x/config.toml): ` + "`old_lock`" + ` is ignored.","details":null}}`,
		`{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"hologram","id":"h"}}}`,
		`{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"agentMessage","id":"m","text":"Still here."}}}`,
		`{"method":"turn/completed","params":{"threadId":"other","turn":{"id":"U","status":"failed"}}}`,
		`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"another","status":"failed"}}}`,
	}}
	s, store, _, err := playFake(t, Options{}, f)
	if err != nil {
		t.Fatalf("the end of another turn ended this one: %v", err)
	}
	if got, want := s.Info().Unrecognised, []string{"hologram/updated", "item type hologram", "setting user (/x/config.toml): `old_lock` is ignored."}; !slices.Equal(got, want) {
		t.Errorf("unrecognised %q, want %q", got, want)
	}
	var unknown []string
	for _, e := range store.Entries() {
		if e.Type == transcript.Unknown {
			unknown = append(unknown, string(e.Raw))
		}
	}
	if !slices.Equal(unknown, []string{f.play[0], f.play[1], f.play[3]}) {
		t.Errorf("unknown entries %q", unknown)
	}
}

// A record that refuses bytes ends the session like one that refuses entries.
func TestBlobsFailClosed(t *testing.T) {
	a, err := New(Options{Program: "/fake/codex"})
	if err != nil {
		t.Fatal(err)
	}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: a.Adapter()})
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	full := errors.New("the disk is full")
	_, err = a.Start(t.Context(), agent.Spec{Launcher: &fake{}, Emitter: emitter, Blobs: refusing{full}, Model: agent.Model{Name: "m"},
		Place: agent.Place{Host: room, Guest: room}})
	if !errors.Is(err, full) {
		t.Errorf("start gives %v", err)
	}
}

type refusing struct{ err error }

func (r refusing) AppendBlob(string, []byte) error { return r.err }
