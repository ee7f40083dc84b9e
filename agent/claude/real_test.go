package claude

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
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
	"conclave/session/claude"
	"conclave/transcript"
)

// These tests run the real program, at both versions, against a scripted model
// on loopback. The program has an empty environment, a home of its own and a
// key that is worth nothing.

var versions = []string{clients.ClaudeNew, clients.ClaudeOld}

func program(t testing.TB, version string) string {
	t.Helper()
	sample.Long(t)
	path, err := clients.Claude(version)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// blobs keeps what the program said.
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

func (b *blobs) get(channel string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.data[channel])
}

// rig is one session of the real program with all that it needs.
type rig struct {
	t       *testing.T
	agent   *Agent
	spec    agent.Spec
	session agent.Session
	server  *modelstub.Server
	store   *agenttest.Store
	blobs   *blobs
	stopped bool
}

type setup struct {
	version string
	config  Config
	spec    agent.Spec
	handler modelstub.Handler
	place   string // "" for a new one
}

func prepare(t *testing.T, s setup) *rig {
	t.Helper()
	r := &rig{t: t, server: modelstub.New(s.handler), store: &agenttest.Store{}, blobs: &blobs{}}
	t.Cleanup(r.server.Close)
	if s.place == "" {
		s.place = t.TempDir()
	}
	s.config.Program = program(t, s.version)
	r.agent = New(s.config)
	r.spec = s.spec
	r.spec.Place = agent.Place{Host: s.place, Guest: s.place}
	r.spec.Launcher = proc.Launcher{}
	r.spec.Model.BaseURL = r.server.URL()
	if r.spec.Model.Token == "" {
		r.spec.Model.Token = "dummy"
	}
	r.spec.Blobs = r.blobs
	return r
}

func start(t *testing.T, s setup) *rig {
	t.Helper()
	r := prepare(t, s)
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "test", Adapter: r.agent.Adapter(), Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	r.spec.Emitter = emitter
	if r.session, err = r.agent.Start(t.Context(), r.spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// stop ends the session and checks what must hold for each: nothing is left of
// it, the record keeps its rules, every byte of every session file is on it,
// and nothing was said that it does not hold.
func (r *rig) stop() {
	r.t.Helper()
	if err := r.session.Stop(context.Background()); err != nil {
		r.t.Errorf("stop: %v", err)
	}
	if r.stopped {
		return
	}
	r.stopped = true
	r.store.Check(r.t)
	if !r.t.Failed() && r.spec.Resume == "" {
		r.accountForFiles()
	}
	for _, u := range r.session.Info().Unrecognised {
		r.t.Errorf("not recognised: %s", u)
	}
}

// accountForFiles compares the raw lines of the entries with the files.
func (r *rig) accountForFiles() {
	r.t.Helper()
	raw := map[string][]string{}
	for _, e := range r.store.Entries() {
		if e.Raw != nil {
			raw[e.Source] = append(raw[e.Source], string(e.Raw))
		}
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(r.spec.Place.Host, "home"), func(path string, _ fs.DirEntry, err error) error {
		f, ok := claude.Locate(path)
		if err != nil || !ok || f.Session != r.session.Info().SessionID {
			return err
		}
		data, err := os.ReadFile(f.Path)
		if err != nil {
			return err
		}
		files++
		want := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		got := raw[f.Source]
		slices.Sort(want) // lines that came too early were held back
		slices.Sort(got)
		if !slices.Equal(got, want) {
			r.t.Errorf("%s: the record holds %d lines of %d, or others", f.Path, len(got), len(want))
		}
		return nil
	})
	if err != nil || files != len(raw) {
		r.t.Errorf("%d files, %d sources, %v", files, len(raw), err)
	}
}

// say sends a message and pulls the turn to its end.
func (r *rig) say(text string) (agent.Reply, error) {
	r.t.Helper()
	return r.sayMessage(agent.Message{Text: text})
}

func (r *rig) sayMessage(m agent.Message) (agent.Reply, error) {
	r.t.Helper()
	turn, err := r.session.Send(r.t.Context(), m)
	if err != nil {
		r.t.Fatalf("send: %v", err)
	}
	reply, _, err := agenttest.Drain(turn)
	return reply, err
}

// must is say for a turn that has to work out.
func (r *rig) must(text string) agent.Reply {
	r.t.Helper()
	reply, err := r.say(text)
	if err != nil {
		r.t.Fatalf("turn: %v", err)
	}
	return reply
}

// sequence is the entries of a source by type, without what the program says
// to itself, in the spelling "type name".
func (r *rig) sequence(source string) []string {
	var out []string
	for _, e := range r.store.Entries() {
		if e.Source != source || e.Type == transcript.SystemEvent || e.Type == transcript.Unknown {
			continue
		}
		word := string(e.Type)
		if name := jsontext.Bare(jsontext.Get(e.Detail, "name")); name != nil {
			word += " " + string(name)
		}
		if jsontext.Get(e.Detail, "is_error") != nil {
			word += " error"
		}
		out = append(out, word)
	}
	return out
}

func (r *rig) wantSequence(source string, want ...string) {
	r.t.Helper()
	if got := r.sequence(source); !slices.Equal(got, want) {
		r.t.Errorf("%s:\n got %s\nwant %s", source, strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// wantUsage compares the tokens on the record with those that the server gave.
func (r *rig) wantUsage(responses int64) {
	r.t.Helper()
	var sum transcript.Usage
	for _, e := range r.store.Entries() {
		if e.Type == transcript.TokenUsage {
			sum = sum.Add(transcript.UsageOf(e.Detail))
		}
	}
	if want := (transcript.Usage{Input: 100 * responses, Output: 10 * responses}); sum != want {
		r.t.Errorf("tokens %+v, want %+v", sum, want)
	}
}

// eachVersion runs a test with one version of the program, or with all of them
// in make full.
func eachVersion(t *testing.T, run func(t *testing.T, version string)) {
	for _, i := range sample.Pick(t, len(versions), 1, 1) {
		v := versions[i]
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			run(t, v)
		})
	}
}

func TestPlainAnswer(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, spec: agent.Spec{System: "You are the cat."},
			handler: modelstub.Script(modelstub.Answer(modelstub.Say("Forty-two. ünï 🐉")))})
		reply := r.must("What is the answer?")
		if reply.Text != "Forty-two. ünï 🐉" || reply.Stopped != "" {
			t.Errorf("reply %+v", reply)
		}
		if u := reply.Usage; u.Input != 100 || u.Output != 10 || u.CostUSD <= 0 {
			t.Errorf("usage %+v", u)
		}
		info := r.session.Info()
		if info.Version != version || info.Model == "" || info.Login != "api key" || info.PID == 0 {
			t.Errorf("info %+v", info)
		}
		r.stop()
		r.wantSequence("main", "user_message", "assistant_message", "token_usage")
		req := r.server.Requests()[0]
		if !strings.Contains(req.System(), "You are the cat.") || len(req.Tools()) != 0 {
			t.Errorf("system %q, tools %v", req.System(), req.Tools())
		}
		if !bytes.Contains(r.blobs.get("claude.stdout"), []byte(`"type":"result"`)) {
			t.Error("stdout is not kept")
		}
	})
}
