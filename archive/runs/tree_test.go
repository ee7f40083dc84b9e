package runs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/archive/archivetest"
	"conclave/collect"
	"conclave/record"
	"conclave/transcript"
)

const captured = "44444444-4444-4444-8444-444444444444"

// captureOf copies what a program left of a captured session, without the files
// that without names.
func captureOf(t *testing.T, dir, without string) string {
	t.Helper()
	from, to := filepath.Join("..", "..", "testdata", "fixtures", filepath.FromSlash(dir)), t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, _ os.DirEntry, err error) error {
		if err == nil && without != "" && strings.HasSuffix(path, without) {
			return os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// nest makes a subagent that another one started, in the form of the capture, and
// says its lane and its starter's. Results of nested calls name no subagent.
func nest(t *testing.T, root string, noted bool) (child, parent string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "home", ".claude", "projects", "*", captured, "subagents", "agent-*.jsonl"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	parent = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(files[0]), "agent-"), ".jsonl")
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	call := fmt.Sprintf(`{"type":"assistant","uuid":"n1","isSidechain":true,"agentId":%q,"sessionId":%q,`+
		`"timestamp":"2027-01-01T00:00:00.000Z","message":{"id":"msg_n1","role":"assistant","model":"claude-opus-5-5","content":`+
		`[{"type":"tool_use","id":"toolu_nested","name":"Agent","input":{"description":"deeper","prompt":"Look deeper."}}]}}`+"\n"+
		`{"type":"user","uuid":"n2","isSidechain":true,"agentId":%[1]q,"sessionId":%[2]q,"timestamp":"2027-01-01T00:00:09.000Z",`+
		`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_nested","content":"nothing there"}]}}`+"\n",
		parent, captured)
	child = "abc"
	lines := fmt.Sprintf(`{"type":"user","uuid":"c1","isSidechain":true,"agentId":%q,"sessionId":%q,`+
		`"timestamp":"2027-01-01T00:00:01.000Z","message":{"role":"user","content":"Look deeper."}}`+"\n", child, captured)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(files[0], string(text)+call)
	write(filepath.Join(filepath.Dir(files[0]), "agent-abc.jsonl"), lines)
	if noted {
		write(filepath.Join(filepath.Dir(files[0]), "agent-abc.meta.json"),
			`{"agentType":"Explore","toolUseId":"toolu_nested","spawnDepth":2,"finished":true}`)
	}
	return transcript.Subagent(child), transcript.Subagent(parent)
}

// Each subagent hangs from the agent whose call started it, and has the number of
// that call: by what the program noted, by what the call gave back, by the words
// alone, and on a record that was made of the session.
func TestSubagentsAreATree(t *testing.T) {
	for _, version := range []string{"claude", "claude-2.1.197"} {
		for name, c := range map[string]struct {
			without  string
			recorded bool
		}{
			"notes": {}, "no notes": {without: ".meta.json"}, "record": {recorded: true},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				root := captureOf(t, version+"/04-subagents-hooks", c.without)
				child, parent := nest(t, root, c.without == "")
				roots := []string{filepath.Join(root, "home")}
				if c.recorded {
					roots[0] = record.Dir(recordOf(t, roots))
				}
				a := archivetest.Open(t)
				archivetest.Refresh(t, a, roots...)
				s := shelf(t, a)
				list := s.all(t)
				if len(list) != 1 {
					t.Fatalf("%d runs", len(list))
				}
				h := s.sheet(t, list[0].ID)
				head, err := s.Head(t.Context(), h)
				if err != nil {
					t.Fatal(err)
				}
				if len(head.Lanes) != 4 || list[0].Subagents != 3 {
					t.Fatalf("lanes: %+v", head.Lanes)
				}
				calls := map[int]bool{}
				for _, l := range head.Lanes {
					if l.Name == transcript.Main {
						if l.Parent != "" || l.Call != nil || l.Role != "" {
							t.Errorf("the main lane hangs somewhere: %+v", l)
						}
						continue
					}
					want := transcript.Main
					if l.Name == child {
						want = parent
					}
					if l.Parent != want || l.Call == nil {
						t.Errorf("%s hangs from %q by %v, want %q", l.Name, l.Parent, l.Call, want)
						continue
					}
					call, _, _, err := s.Whole(t.Context(), h, *l.Call)
					if err != nil {
						t.Fatal(err)
					}
					var in struct{ Prompt string }
					if err := json.Unmarshal(call.Input, &in); err != nil {
						t.Fatal(err)
					}
					if call.Tool != "Agent" || call.Lane != want || in.Prompt != s.firstPrompt(t, h, l.Name) || calls[call.N] {
						t.Errorf("%s was started by entry %d: %+v", l.Name, call.N, call)
					}
					calls[call.N] = true
					if c.without == "" && l.Role == "" {
						t.Errorf("as what %s was started is not told", l.Name)
					}
				}
			})
		}
	}
}

// recordOf collects sessions into a workspace.
func recordOf(t *testing.T, roots []string) string {
	t.Helper()
	workspace := t.TempDir()
	c, err := collect.New(collect.Options{Workspace: workspace, Roots: roots, Once: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return workspace
}

func (s *Shelf) firstPrompt(t *testing.T, h *Sheet, lane string) string {
	t.Helper()
	for i := range h.Total() {
		if e := h.bare(i); e.Lane == lane && e.Type == transcript.UserMessage {
			whole, _, _, err := s.Whole(t.Context(), h, i)
			if err != nil {
				t.Fatal(err)
			}
			return whole.Text
		}
	}
	return ""
}

// Where each subagent has a run of its own, every one of them shows all, with who
// started whom, and the one that started others by which calls.
func TestThreadsOfASession(t *testing.T) {
	a := archivetest.Open(t)
	archivetest.Refresh(t, a, captureOf(t, "codex/13-collab-subagent/codex_home", ""))
	s := shelf(t, a)
	list := s.all(t)
	if len(list) != 3 {
		t.Fatalf("%d runs", len(list))
	}
	roots := 0
	for _, r := range list {
		h := s.sheet(t, r.ID)
		head, err := s.Head(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if len(head.Threads) != 3 {
			t.Fatalf("%s: %+v", r.ID, head.Threads)
		}
		calls := map[int]bool{}
		for _, th := range head.Threads {
			if th.Call == nil {
				continue
			}
			if call := h.bare(*th.Call); call.Tool != "spawn_agent" || call.Type != transcript.ToolUse {
				t.Errorf("%s was started by %+v", th.Run, call)
			}
			calls[*th.Call] = true
		}
		root := head.Threads[0]
		switch {
		case root.Parent != "" || root.Run != r.Session:
			t.Errorf("%s: the first is %+v", r.ID, root)
		case r.ID == root.Run:
			if roots++; len(calls) != 2 {
				t.Errorf("%d calls are known of 2", len(calls))
			}
		case len(calls) != 0:
			t.Errorf("%s started nobody: %+v", r.ID, head.Threads)
		}
		for _, th := range head.Threads[1:] {
			if th.Parent != root.Run || th.Name == "" {
				t.Errorf("%s: %+v", r.ID, th)
			}
		}
	}
	if roots != 1 {
		t.Errorf("%d of them started the others", roots)
	}
}
