package offline

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/transcript"
)

// rig is a session with its record.
type rig struct {
	session agent.Session
	store   *agenttest.Store
}

func start(t testing.TB, role string, files fs.FS, change ...func(*agent.Spec)) rig {
	t.Helper()
	return startParty(t, New(), role, files, change...)
}

func startParty(t testing.TB, party agent.Agent, role string, files fs.FS, change ...func(*agent.Spec)) rig {
	t.Helper()
	store := &agenttest.Store{}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "quest.test." + role, Adapter: transcript.AdapterOffline, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	spec := agent.Spec{Role: role, Files: files, Emitter: emitter}
	for _, c := range change {
		c(&spec)
	}
	s, err := party.Start(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return rig{s, store}
}

func (r rig) send(t testing.TB, m agent.Message) agent.Reply {
	t.Helper()
	turn, err := r.session.Send(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := agenttest.Drain(turn)
	if err != nil {
		t.Fatal(err)
	}
	if reply.Usage != (transcript.Usage{}) {
		t.Errorf("an agent without a model has used %+v", reply.Usage)
	}
	return reply
}

func (r rig) say(t testing.TB, text string) string {
	t.Helper()
	return r.send(t, agent.Message{Text: text}).Text
}

func purpose(p string) func(*agent.Spec) {
	return func(s *agent.Spec) { s.System += "\nYou are called for this: " + p + "." }
}

func mapFS(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// nested shows a tree as the workspace of a room.
type nested struct {
	under string
	tree  fs.FS
}

func (n nested) Open(name string) (fs.File, error) {
	if name == n.under {
		return n.tree.Open(".")
	}
	if rest, ok := strings.CutPrefix(name, n.under+"/"); ok {
		return n.tree.Open(rest)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// home is where a test begins: the directory of this package.
var home, _ = os.Getwd()

// module returns the directory of a module that this one requires, at the
// version in go.mod.
func module(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := ""
	for _, line := range strings.Split(string(data), "\n") {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			version = f[1]
		}
	}
	if version == "" {
		t.Fatalf("go.mod does not require %s", name)
	}
	cache := os.Getenv("GOMODCACHE")
	if cache == "" {
		gopath, _, _ := strings.Cut(os.Getenv("GOPATH"), string(os.PathListSeparator))
		if gopath == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				t.Fatal(err)
			}
			gopath = filepath.Join(user, "go")
		}
		cache = filepath.Join(gopath, "pkg", "mod")
	}
	dir := filepath.Join(cache, filepath.FromSlash(name)+"@"+version)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("%s is not in the module cache (%v); run: go mod download %s", path.Join(name)+"@"+version, err, name)
	}
	return dir
}

func decode(t testing.TB, data json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
}
