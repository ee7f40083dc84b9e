package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/tail"
	"conclave/transcript"
)

const thread = "0199f0a0-1111-7222-8333-444455556666"

func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, line, adapter, want string }{
		{"p/" + thread + ".jsonl", "", "", "claude main " + thread + " p"},
		{"p/" + thread + "/subagents/deep/agent-a7.jsonl", "", "", "claude subagent:a7 " + thread + " p"},
		{"p/rollout-2026-11-15T20-00-00-" + thread + ".jsonl", `{"type":"session_meta","payload":{"cwd":"/src/den","parent_thread_id":"up"}}`, "", "codex main " + thread + " den up"},
		{"p/rollout-2026-11-15T20-00-00-" + thread + ".jsonl", "", "", "codex main " + thread + " it has no line yet"},
		{"p/x.jsonl", `{"type":"user","content":"hi"}`, "", "claude main p"},
		{"p/y.jsonl", `{"method":"turn/started","params":{}}`, "", "codex main p"},
		{"p/y.jsonl", `{"method":"turn/started","params":{}}`, transcript.AdapterClaude, "claude main p"},
		{"p/z.jsonl", `{"log":"something else"}`, "", "unknown main p " + ErrNoSession.Error()},
		{"p/z.jsonl", `{"type":"note","sessionId":"s","text":"of somebody else"}`, "", "unknown main p " + ErrNoSession.Error()},
		{"p/z.jsonl", `{"type":"queue-operation","sessionId":"s"}`, "", "claude main p"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(c.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := c.line
		if text != "" {
			text += "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Identify(path, c.adapter, false)
		got := strings.Join(strings.Fields(strings.Join([]string{f.Kind.Name, f.Source, f.Session, f.Project, f.Parent}, " ")), " ")
		if err != nil {
			got += " " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.line, got, c.want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := Identify(dir, "", true); !errors.Is(err, ErrNoSession) {
		t.Errorf("a directory is %+v, %v", f, err)
	}
}

// The lines of a subagent wait for the note that says where it hangs, and a
// nested one for the line that called it; not for ever.
func TestFollowLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), thread, "subagents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agent-a7.jsonl")
	if err := os.WriteFile(path, []byte(`{"type":"user","content":"hi"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Identify(path, "", false)
	if err != nil {
		t.Fatal(err)
	}
	callers := Callers{}
	w := Follow(f, callers, tail.Options{NoHash: true}, time.Now(), nil)
	defer w.Close()
	ready := func(last bool) bool {
		t.Helper()
		ok, err := w.Link(last)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if ready(false) {
		t.Error("it does not wait for its note")
	}
	note := filepath.Join(dir, "agent-a7.meta.json")
	if err := os.WriteFile(note, []byte(`{"agentType":"scout","toolUseId":"t1","spawnDepth":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if ready(false) {
		t.Error("it does not wait for the line that called it")
	}
	callers["t1"] = "subagent:a1"
	if !ready(false) || !w.Next() {
		t.Fatal("it waits although all is known")
	}
	items := w.Map(nil)
	if len(items) != 1 || !strings.Contains(string(items[0].Detail), `"parent":"subagent:a1","parent_tool_use_id":"t1"`) || w.Depth != 2 {
		t.Errorf("depth %d, %v", w.Depth, items)
	}
	late := Follow(f, Callers{}, tail.Options{}, time.Now().Add(-time.Minute), nil)
	defer late.Close()
	if ok, err := late.Link(false); !ok || err != nil {
		t.Errorf("it waits for ever: %v", err)
	}
}
