package flow

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/scripted"
	"conclave/dice"
	"conclave/engine/enginetest"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/room"
	"conclave/table/look"
	"conclave/table/seating"
	"conclave/table/story"
)

func TestMain(m *testing.M) {
	room.Init()
	sample.Tests(6)
	os.Exit(m.Run())
}

// rig is a workspace with one campaign, called ash, and a script for each seat:
// "gm", "keeper", or a character.
type rig struct {
	t       testing.TB
	dir     string
	scripts map[string]string
	people  map[string]bool
	agents  map[string]agent.Agent // instead of scripts
	opts    Options
	notices []Notice
	table   *Table
}

const (
	tilda  = "tilda-brannock"
	gideon = "gideon-harrowmoor"
	sera   = "seraphine-dawnwhisper"
)

// baseFiles is a campaign as the seed draws it, made by hand.
var baseFiles = map[string]string{
	"party/tilda-brannock.md":        "# Tilda Brannock\n\nBond: the sea took her brother Finn.\n",
	"party/gideon-harrowmoor.md":     "# Gideon Harrowmoor\n\nFlaw: cannot leave a lock alone.\n",
	"party/seraphine-dawnwhisper.md": "# Seraphine Dawnwhisper\n\nIdeal: mercy.\n",
	"party-knowledge.md":             "# What the party knows\n\nThe mill is flooded.\n",
	"story-state.md":                 "# Story state\n\nThe miller drowned the heir. CANARY-STORY\n",
}

// keeperScript answers every request for an entry.
const keeperScript = `always on Event: repair
  say <<END
### Later
- What happened: a
- What I did: b
- What I learned: c
- How I feel: d
- Notes: e
END
always
  say <<END
### A moment
- What happened: something
- What I did: my part
- What I learned: a little
- How I feel: fine
- Notes: none
END
`

func newRig(t testing.TB, files map[string]string) *rig {
	dir := t.TempDir()
	if err := writeFile(filepath.Join(dir, ".conclave", "engine", look.Scope("ash")+".db"), freshDatabase(t)); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, scripts: map[string]string{"keeper": keeperScript}, people: map[string]bool{}, agents: map[string]agent.Agent{}}
	for _, who := range []string{tilda, gideon, sera} {
		r.scripts[who] = "always\n  say I wait.\n"
	}
	all := maps.Clone(baseFiles)
	maps.Copy(all, files)
	for name, text := range all {
		r.write(name, text)
	}
	r.opts = Options{Workspace: dir, Campaign: "ash", Cast: r.cast, Auto: true, TestSeed: testSeed(), Program: "test",
		JournalWait: 5 * time.Second, DrainWait: 20 * time.Second, Backoff: time.Millisecond,
		Show: func(n Notice) { r.notices = append(r.notices, n) }}
	return r
}

var fresh struct {
	sync.Once
	data string
}

// freshDatabase is an engine's database in which nothing is: making one takes
// longer than most tests.
func freshDatabase(t testing.TB) string {
	t.Helper()
	fresh.Do(func() {
		data, err := os.ReadFile(filepath.Join(enginetest.Workspace(t, look.Scope("ash")), ".conclave", "engine", look.Scope("ash")+".db"))
		if err != nil {
			t.Fatal(err)
		}
		fresh.data = string(data)
	})
	return fresh.data
}

func testSeed() *dice.Seed {
	var s dice.Seed
	for i := range s {
		s[i] = byte(i)
	}
	return &s
}

func (r *rig) path(name string) string {
	return filepath.Join(r.dir, "campaigns", "ash", filepath.FromSlash(name))
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	if err := writeFile(r.path(name), text); err != nil {
		r.t.Fatal(err)
	}
}

func writeFile(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func (r *rig) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *rig) cast(role policy.Role, character string, stepIn bool) (seating.Actor, error) {
	key := character
	switch role {
	case policy.GM:
		key = "gm"
	case policy.JournalKeeper:
		key = "keeper"
		if _, own := r.scripts["keeper of "+character]; own {
			key = "keeper of " + character
		}
	}
	if r.people[key] && !stepIn {
		return seating.Actor{Person: true}, nil
	}
	if a := r.agents[key]; a != nil {
		return seating.Actor{Agent: a, InProcess: true}, nil
	}
	text, ok := r.scripts[key]
	if !ok {
		return seating.Actor{}, fmt.Errorf("nobody plays %s", key)
	}
	script, err := scripted.Parse([]byte(text))
	if err != nil {
		return seating.Actor{}, fmt.Errorf("script of %s: %w", key, err)
	}
	return seating.Actor{Agent: &scripted.Agent{Script: script}, InProcess: true}, nil
}

func (r *rig) open() *Table {
	r.t.Helper()
	if r.opts.Here == nil { // unless a test says who is
		r.opts.Here = func(string) bool { return true }
	}
	t, err := Open(context.Background(), r.opts)
	if err != nil {
		r.t.Fatal(err)
	}
	r.table = t
	r.t.Cleanup(func() { _ = t.Close() })
	return t
}

// say runs a cycle that must be committed.
func (r *rig) say(in story.Input) Result {
	r.t.Helper()
	if r.table == nil {
		r.open()
	}
	res, err := r.table.Say(r.t.Context(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

func (r *rig) drain() {
	r.t.Helper()
	if err := r.table.Drain(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) end() {
	r.t.Helper()
	if err := r.table.End(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) close() {
	r.t.Helper()
	if err := r.table.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.table = nil
}

func (r *rig) tmp() []string {
	r.t.Helper()
	entries, err := os.ReadDir(r.path("tmp"))
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (r *rig) events() []story.Event {
	r.t.Helper()
	e, err := story.ReadLog(r.dir, "ash")
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// lastCommit is the newest commit in the log.
func (r *rig) lastCommit() story.Event {
	r.t.Helper()
	list := r.events()
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == story.EventCommit {
			return list[i]
		}
	}
	r.t.Fatal("nothing is committed")
	return story.Event{}
}

// prompt is a file block with a prompt of a type.
func prompt(who, kind string) string {
	return fmt.Sprintf("[FILE: tmp/%s-prompt.md]\n---\nrequest_type: %s\n---\n\n## Scene\nThe mill at night.\n\n## Just Happened\nA splash below.\n\n## Request\nWhat do you do?\n[/FILE]\n", who, kind)
}

const gmContext = "[FILE: tmp/gm-context.md]\n## Expecting\nA careful look.\n[/FILE]\n"

// gmSays makes a turn of a GM's script. Its text must not hold the word END.
func gmSays(on, text string) string {
	if on != "" {
		on = " on " + on
	}
	return "turn" + on + "\n  say <<EOT\n" + strings.TrimRight(text, "\n") + "\nEOT\n"
}

func has(t testing.TB, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s does not contain %q:\n%s", what, want, got)
	}
}

func hasNot(t testing.TB, what, got, bad string) {
	t.Helper()
	if strings.Contains(got, bad) {
		t.Errorf("%s contains %q:\n%s", what, bad, got)
	}
}

func eq[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func eqs(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

var start = story.Input{Kind: story.InputStart}

func said(text string) story.Input {
	return story.Input{Kind: story.InputSaid, Who: "table", Text: text}
}

// outcome finds what a character's newest request came to.
func outcome(e story.Event, who string) story.Asked {
	var a story.Asked
	for _, x := range e.Asked {
		if x.Character == who {
			a = x
		}
	}
	return a
}

// talker is an agent made of a function. It keeps every message it was sent,
// and what stood in its room.
type talker struct {
	reply func(ctx context.Context, message string) (string, error)
	mu    sync.Mutex
	heard []string
	files []string // names and contents
}

func (k *talker) Adapter() string { return "scripted" }

func (k *talker) Start(_ context.Context, spec agent.Spec) (agent.Session, error) {
	err := fs.WalkDir(spec.Files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(spec.Files, p)
		k.mu.Lock()
		k.files = append(k.files, p+"\n"+string(data))
		k.mu.Unlock()
		return err
	})
	return &talk{k, spec}, err
}

// all is everything that the agent could know.
func (k *talker) all() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(append(slices.Clone(k.heard), k.files...), "\n")
}

type talk struct {
	*talker
	spec agent.Spec
}

func (s *talk) Info() agent.Info { return agent.Info{Adapter: "scripted", SessionID: "talk"} }

func (s *talk) Stop(context.Context) error { return nil }

func (s *talk) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	s.mu.Lock()
	s.heard = append(s.heard, m.Text)
	s.mu.Unlock()
	text, err := s.reply(ctx, m.Text)
	if err != nil {
		return nil, err
	}
	return &replied{agent.Reply{Text: text}}, nil
}

// replied is a turn of which nothing is seen but the reply.
type replied struct{ reply agent.Reply }

func (r *replied) Next() (agent.Event, error) { return agent.Event{}, io.EOF }

func (r *replied) Reply() agent.Reply { return r.reply }

func says(text string) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return text, nil }
}

// listening wraps a script so that what its agent is told can be looked at.
func (r *rig) listening(key, text string) *talker {
	r.t.Helper()
	turns := parseTurns(r.t, text)
	k := &talker{}
	k.reply = func(_ context.Context, message string) (string, error) {
		for i, turn := range turns {
			if turn.On != "" && !strings.Contains(message, turn.On) {
				continue
			}
			if !turn.Always {
				turns = slices.Delete(slices.Clone(turns), i, i+1)
			}
			var said []string
			for _, s := range turn.Steps {
				if s.Verb == "say" {
					said = append(said, s.Text)
				}
			}
			return strings.Join(said, "\n\n"), nil
		}
		return "", fmt.Errorf("no turn for %q", message)
	}
	r.agents[key] = k
	return k
}

func parseTurns(t testing.TB, text string) []scripted.ScriptTurn {
	t.Helper()
	script, err := scripted.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return script.Turns
}

// only are the seats whose people are here.
func only(seats ...string) func(string) bool {
	return func(seat string) bool { return slices.Contains(seats, seat) }
}
