package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/screen"
	"conclave/room"
)

// planted is what foreign text must not do to a terminal; mark stands beside
// it, so that a test can see that the text was there at all.
const (
	mark    = "PLANTED"
	planted = mark + "\x1b[35m\x1b]52;c;eA==\a\u009b31m\u202e\u2028\b\r" + mark
)

// plantedName is a file's name that clears the screen and begins a line.
const plantedName = mark + "\x1b[2J\u202e\nTrusted, as it is now."

const plantedQuest = "---\ncampaign-mode: Ship\nphase: 3\ncreated: 2026-02-14\n---\n\n# " + planted + "\n\n## Quest Narrative\n\n" + planted +
	"\n\n## Success Criteria\n\n1. " + planted + "\n\n## Anticipated Dragon\n\nFog.\n\n## Party Assignments\n\n## Progress Log\n\n- **Phase 1 complete** — " +
	planted + " (2026-02-14)\n"

// plantedConversation bears the name of an animal and says too much.
const plantedConversation = "---\nagent: cat\nphase: 3\ncampaign-mode: Ship\ndate: 2026-02-14T10:00:00\n---\n\n" +
	"## Conversation Transcript\n\n### Context\n\nQuest: x\nConsultation purpose: " + planted + "\n\n### Exchange\n\n**User:** " + planted + "\x9b\n\n"

// plantedSession is a session of Claude Code in which a model, a tool and a
// subtype are called so.
func plantedSession(t *testing.T) string {
	t.Helper()
	const id = "11111111-1111-4111-8111-111111111111"
	var lines strings.Builder
	for _, v := range []map[string]any{
		{"type": "user", "uuid": "a", "message": map[string]any{"role": "user", "content": planted}},
		{"type": "assistant", "uuid": "b", "message": map[string]any{"role": "assistant", "id": "m", "model": planted, "usage": map[string]int{"input_tokens": 3, "output_tokens": 4},
			"content": []any{map[string]any{"type": "tool_use", "id": "t", "name": planted, "input": map[string]string{"file_path": planted}}, map[string]any{"type": "text", "text": planted}}}},
		{"type": "system", "uuid": "c", "subtype": planted, "content": planted},
	} {
		v["sessionId"], v["cwd"], v["version"], v["timestamp"] = id, "/"+planted, "2.0.0", "2026-02-18T14:32:00.000Z"
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	return lines.String()
}

// plantedWorkspace holds the text in every place that a command reads.
func plantedWorkspace(t *testing.T) *real {
	t.Helper()
	w := newReal(t, "agents:\n  default: {agent: scripted, script: party.script}\n# "+mark+"\n")
	for name, text := range map[string]string{
		"party.script":                                                 "as cat\nalways\n  say " + strings.ReplaceAll(planted, "\r", "") + "\nas owl\nalways\n  error " + strings.ReplaceAll(planted, "\r", "") + "\n",
		".campaign/quest.md":                                           plantedQuest,
		"work/" + plantedName:                                          "work\n",
		"sessions/one.jsonl":                                           plantedSession(t),
		"profile-packs/" + plantedName + "/cat.md":                     planted,
		".campaign/instructions/" + plantedName:                        planted,
		".campaign/conversations/2026-02-14-10-00-cat.md":              plantedConversation,
		".campaign/conversations/2026-02-14-10-00-" + mark + "\x1b.md": planted,
	} {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestPlantedTextIsShown: everywhere in W9's list, as a person sees it and as
// JSON, the text is there and does nothing.
func TestPlantedTextIsShown(t *testing.T) {
	w := plantedWorkspace(t)
	w.env.Stdout, w.env.Stderr = screen.New(&w.out, screen.Options{Terminal: true}), screen.New(&w.out, screen.Options{Terminal: true})
	const run, session = "RUN", "sessions/one.jsonl"
	silent := []string{"record import sessions", "record list", "record list --json", "query " + session + " --schema", "transcript verify", "doctor"}
	for _, args := range [][]string{
		{"trust"}, {"trust", "--json"}, {"trust", "--yes"}, {"record", "import", "sessions"}, {"record", "list"}, {"record", "list", "--json"},
		{"record", "show", run}, {"record", "show", run, "--raw"}, {"record", "show", run, "--json"}, {"transcript", "map", session},
		{"search", mark}, {"search", mark, "--json"}, {"search", mark, "--context", "2"}, {"usage", "--by", "model"}, {"usage", "--json"},
		{"query", session, "SELECT context FROM transcript"}, {"query", session, "--csv", "SELECT * FROM transcript"},
		{"query", session, "--table", "SELECT * FROM transcript"}, {"query", session, "--schema"}, {"query", session, "--export-jsonl=logs"},
		{"query", session, "SELECT * FROM `" + planted + "`"}, {"pack", "list"}, {"pack", "list", "--json"}, {"pack", "validate", "profile-packs/" + plantedName},
		{"pack", "validate", "--json", "profile-packs/" + plantedName}, {"pack", "show", planted}, {planted}, {"pack", planted}, {"--" + planted},
		{"quest", "status"}, {"quest", "status", "--json"}, {"quest", "show"}, {"quest", "show", "2026-02-14-10-00-cat.md"}, {"quest", "show", "--json"},
		{"quest", "show", planted}, {"room", "show", "dragon", "work"}, {"room", "show", "dragon", "work", "--json"}, {"room", "show", planted},
		{"export", session}, {"export", session, "--format", "csv"}, {"export", session, "--format", "jsonl"}, {"export", session, "--format", "html"},
		{"consult", "cat", "-m", mark}, {"consult", "owl", "-m", mark}, {"transcript", "verify"}, {"doctor"},
	} {
		for i, a := range args {
			if a == run {
				args[i] = w.onlyRun()
			}
		}
		w.out.Reset()
		code := execute(t.Context(), w.env, args)
		if at := screen.Foreign(w.out.Bytes()); at != nil {
			t.Errorf("%q (%d): foreign text at %v in\n%q", args, code, at, w.out.String())
		}
		if !strings.Contains(w.out.String(), mark) && !slices.Contains(silent, strings.Join(args, " ")) {
			t.Errorf("%q (%d) does not show what was planted:\n%s", args, code, w.out.String())
		}
		for line := range strings.Lines(w.out.String()) {
			if strings.HasPrefix(line, "Trusted, as it is now.") && args[len(args)-1] != "--yes" {
				t.Errorf("%q (%d): a name has begun a line:\n%s", args, code, w.out.String())
			}
		}
	}
}

// onlyRun names the one record that is there.
func (w *real) onlyRun() string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.dir, ".conclave", "records", "claude-*.record"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%d records, want one: %v", len(found), err)
	}
	return strings.TrimSuffix(filepath.Base(found[0]), ".record")
}

// onTerminal runs the program itself on a terminal of its own, types and
// returns what the terminal received.
func onTerminal(t *testing.T, w *real, typed string, args ...string) []byte {
	t.Helper()
	outer, inner, err := room.NewTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"conclave"}, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.dir, inner, inner, inner
	cmd.Env = []string{"HOME=" + w.env.Getenv("HOME"), "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color",
		"TMPDIR=" + os.TempDir(), "GORACE=" + os.Getenv("GORACE")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inner.Close()
	if _, err := io.WriteString(outer, typed); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(outer) // ends with an error when nobody holds the other end
	_ = cmd.Wait()              // the exit code says nothing here
	return got
}

// TestOnAPseudoTerminal: the program as it is started, a program in a room that
// writes to the terminal itself, and a shell.
func TestOnAPseudoTerminal(t *testing.T) {
	w := plantedWorkspace(t)
	show := `printf 'PLANTED\033[35m\033]52;c;eA==\007\302\23331m\342\200\256\n'`
	for _, c := range []struct {
		typed string
		args  []string
		want  string
	}{
		{"y\n", []string{"trust"}, "\x1b[1mprofile-packs/PLANTED␛[2J⟨U+202E⟩␊Trusted"},
		{"", []string{"quest", "status"}, "\x1b[1mPLANTED␛[35m"},
		{"\n\n\x04", []string{"consult", "owl", "-m", "x"}, "PLANTED␛[35m␛]52"},
		{"\n\n\x04\x04", []string{"consult", "cat", "-m", "x"}, "PLANTED␛[35m␛]52"},
		{"", []string{"room", "run", "dragon", "--", "sh", "-c", show + "; " + show + " >&2"}, "PLANTED␛[35m␛]52;c;eA==␇⟨U+009B⟩31m⟨U+202E⟩\r\n"},
		{show + "\nexit\n", []string{"room", "enter", "dragon"}, "PLANTED␛[35m␛]52"},
	} {
		got := onTerminal(t, w, c.typed, c.args...)
		if at := screen.Foreign(got); at != nil {
			t.Errorf("%q: foreign text at %v in\n%q", c.args, at, got)
		}
		if !bytes.Contains(got, []byte(c.want)) {
			t.Errorf("%q does not show %q:\n%q", c.args, c.want, got)
		}
	}
}
