package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsFiles: what other programs wrote is seen by every command that looks
// at sessions, where those programs keep it: counted as they count, found, put on
// the record with nothing left over, and bundled from there.
func TestAgentsFiles(t *testing.T) {
	t.Parallel()
	scenarios, err := filepath.Glob(filepath.Join("..", "..", "testdata", "fixtures", "*", "*", "expected.json"))
	if err != nil || len(scenarios) < 5 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	for _, expected := range scenarios {
		dir := filepath.Dir(expected)
		agent := filepath.Base(filepath.Dir(dir))
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]int64
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			useAgentsFiles(t, agent, filepath.Join(dir, "home"), want)
		})
	}
}

func useAgentsFiles(t *testing.T, agent, captured string, want map[string]int64) {
	home, work := t.TempDir(), t.TempDir()
	if err := os.CopyFS(home, os.DirFS(captured)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(work, ".campaign"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		env := &environment{Terminal: piped("", &stdout, &stderr), Dir: work,
			Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
		if code := execute(t.Context(), env, args); code != 0 {
			t.Errorf("%s: %v: exit code %d\n%s%s", agent, args, code, stdout.String(), stderr.String())
		}
		return stdout.String()
	}
	count := func(when string) {
		t.Helper()
		var used struct{ Total map[string]any }
		out := run("usage", "--json")
		if err := json.Unmarshal([]byte(out), &used); err != nil {
			t.Fatal(err)
		}
		for name, n := range want {
			if used.Total[name] != float64(n) {
				t.Errorf("%s, %s: %s is %v, the program says %d", agent, when, name, used.Total[name], n)
			}
		}
	}
	count("on the disk")
	if out := run("search", "hello", "notes", "--json"); !strings.Contains(out, `"kind": "`+agent+`"`) {
		t.Errorf("%s: search finds %s", agent, out)
	}
	if out := run("usage", "--by", "project"); !strings.Contains(out, "den") &&
		!strings.Contains(captured, "rewritten") { // which names its project by a digest only
		t.Errorf("%s: the project is not known: %s", agent, out)
	}
	var balance struct {
		Files, Lines, Entries int
		Unknown               map[string]int
		Unaccounted           []any
	}
	if err := json.Unmarshal([]byte(run("record", "watch", "--once", "--json")), &balance); err != nil {
		t.Fatal(err)
	}
	if balance.Files == 0 || balance.Lines == 0 || len(balance.Unknown) > 0 || len(balance.Unaccounted) > 0 {
		t.Errorf("%s: on the record: %+v", agent, balance)
	}
	list := run("record", "list")
	if !strings.Contains(list, agent+"-") {
		t.Errorf("%s: no record: %s", agent, list)
	}
	count("on the disk and on the record")
	again := run("record", "import", home, "--json")
	if !strings.Contains(again, `"entries_added": 0`) {
		t.Errorf("%s: imported again: %s", agent, again)
	}
	if out := run("transcript", "map", home); strings.Count(out, "user_message") < 2 {
		t.Errorf("%s: mapped: %.300s", agent, out)
	}
	run("bundle", "create", "last", "--out", filepath.Join(work, "run.zip"))
	run("bundle", "verify", filepath.Join(work, "run.zip"))
}
