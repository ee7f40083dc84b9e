package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"conclave/agent/scripted"
	"conclave/audit"
	"conclave/collect"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
	"conclave/transcript"
)

// TestABundleOfASeat takes a real run: a seat with a scripted agent.
func TestABundleOfASeat(t *testing.T) {
	ws := t.TempDir()
	script, err := scripted.Parse([]byte("turn on work\n read criteria.md\n usage 3 4\n say Slain.\nturn on more\n say Again."))
	if err != nil {
		t.Fatal(err)
	}
	s, err := seat.Open(t.Context(), seat.Plan{
		Workspace: ws, Run: "run-1", Role: "dragon", PromptName: "quest.confront", Program: "conclave test",
		Agent: &scripted.Agent{Script: script}, InProcess: true,
		Room:   room.Plan{Base: filepath.Join(t.TempDir(), "rooms"), Grants: []room.Grant{{Kind: "success-criteria", Name: "criteria.md", Bytes: []byte("1. one two three\n")}}},
		Denied: []seat.Denied{{Kind: "quest-narrative", Name: "narrative", Reason: "evaluators judge the work", Text: []byte("the party struggled mightily for weeks before it found the answer at last")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"work", "more"} {
		if _, err := s.Take(t.Context(), seat.Turn{ID: "t" + string(rune('1'+i)), Parts: []audit.Part{{Origin: audit.FromPerson, Text: text}}}); err != nil {
			t.Fatal(err)
		}
	}
	seal, err := s.Close(t.Context(), "done")
	if err != nil {
		t.Fatal(err)
	}
	path, _ := record.Path(ws, "run-1")
	made := mustCreate(t, Options{Record: path, Build: Build{Version: "9", Commit: "c"}, Command: []string{"conclave", "bundle", "create", "run-1"}, Environ: os.Environ()})

	m := made.Manifest
	if m.Record.Head != seal.Head || m.Record.Frames != seal.Frames || !m.Record.Sealed || m.Record.Withheld != 0 {
		t.Errorf("the manifest says %+v, the seal %+v", m.Record, seal)
	}
	if m.Request.Status != "success" || m.Request.SessionID == nil || m.Prompt.Key != "quest.confront" || m.Prompt.Adapter != "scripted" || m.Redaction.Kinds.Total() != 0 {
		t.Errorf("manifest = %+v, redacted %v", m, m.Redaction)
	}
	files := unzip(t, made.Path)
	for _, name := range required {
		if files[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	var in struct{ Turns []audit.Message }
	var out struct{ Turns []audit.Reply }
	decode(t, files[inputFile], &in)
	decode(t, files[outputFile], &out)
	if len(in.Turns) != 2 || in.Turns[0].Parts[0].Text != "work" || len(out.Turns) != 2 || out.Turns[1].Text != "Again." {
		t.Errorf("asked %+v, answered %+v", in, out)
	}
	kinds := map[string]int{}
	for line := range bytes.Lines(files[afterFile]) {
		var item struct {
			Type string `json:"__type__"`
		}
		decode(t, line, &item)
		kinds[item.Type]++
	}
	if kinds["run"] != 1 || kinds["room"] != 1 || kinds["turn"] != 4 || kinds["receipt"] != 2 {
		t.Errorf("state items: %v", kinds)
	}
	var figures metrics
	decode(t, files[metricsFile], &figures)
	if figures.Turns != 2 || figures.OutputTokens < 4 || figures.Entries == 0 || bytes.Count(files[receiptsFile], []byte("\n")) != 2 {
		t.Errorf("metrics %+v", figures)
	}
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
}

func TestAFailedRun(t *testing.T) {
	ws := t.TempDir()
	path := newRecord(t, ws, "r", func(_ *record.Writer, e *transcript.Emitter) {
		event(t, e, audit.EventMessage, audit.Message{Turn: "a", Attempt: 1})
		event(t, e, audit.EventFailed, audit.Failed{Turn: "a", Attempt: 1, Error: "the model said no"})
	})
	made := mustCreate(t, Options{Record: path})
	files := unzip(t, made.Path)
	if made.Manifest.Request.Status != "error" || !bytes.Contains(files[errorFile], []byte("the model said no")) {
		t.Errorf("status %s, error.json %s", made.Manifest.Request.Status, files[errorFile])
	}
	if _, ok := files[TranscriptFile]; ok {
		t.Error("a transcript without entries")
	}
	again := newRecord(t, ws, "s", func(_ *record.Writer, e *transcript.Emitter) {
		event(t, e, audit.EventFailed, audit.Failed{Turn: "a", Attempt: 1, Error: "the model said no"})
		event(t, e, audit.EventReply, audit.Reply{Turn: "a", Attempt: 2, Text: "yes"})
	})
	if made := mustCreate(t, Options{Record: again}); made.Manifest.Request.Status != "success" {
		t.Error("a second attempt that went well counts")
	}
}

// TestFailedSessions: a session of somebody else's program that ended in an error
// failed, one that went on after it did not.
func TestFailedSessions(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"claude/05a-api-error-400/home/.claude/projects/*/*.jsonl":           "bad request",
		"claude/05b-api-error-retry-then-ok/home/.claude/projects/*/*.jsonl": "",
		"claude/13-interrupt/home/.claude/projects/*/*.jsonl":                "",
		"claude/02-thinking-tools/home/.claude/projects/*/*.jsonl":           "",
		"codex/06a-failed-400/server.jsonl":                                  "bad request",
		"codex/06a-failed-400/codex_home/sessions/*/*/*/*.jsonl":             "bad request",
		"codex/07-interrupted/codex_home/sessions/*/*/*/*.jsonl":             "",
		"codex/03-command-execution/codex_home/sessions/*/*/*/*.jsonl":       "",
	} {
		found, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", filepath.FromSlash(file)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", file, len(found), err)
		}
		adapter := transcript.AdapterClaude
		if strings.HasPrefix(file, "codex") {
			adapter = transcript.AdapterCodex
		}
		path := filepath.Join(t.TempDir(), "r.record")
		w, err := record.Create(path, record.Header{Run: "r", Attributes: map[string]string{"prompt_name": "p", "adapter": adapter}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect.Map(t.Context(), found[:1], w, collect.MapOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		made := mustCreate(t, Options{Record: path})
		if id := made.Manifest.Request.SessionID; id == nil || *id == "" {
			t.Errorf("%s: the manifest names no session", file)
		}
		status := map[bool]string{true: "success", false: "error"}[want == ""]
		text, has := unzip(t, made.Path)[errorFile]
		if made.Manifest.Request.Status != status || has != (want != "") || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: status %s, error.json %s, want %s %q", file, made.Manifest.Request.Status, text, status, want)
		}
	}
}

// TestACollectedSession has no turns and no receipts: its figures come from its
// entries.
func TestACollectedSession(t *testing.T) {
	path := newRecord(t, t.TempDir(), "r", func(_ *record.Writer, e *transcript.Emitter) {
		said(t, e, transcript.UserMessage, map[string]string{"text": "first"})
		said(t, e, transcript.AssistantMessage, map[string]string{"text": "one"})
		said(t, e, transcript.AssistantMessage, map[string]string{"text": "two"})
		for range 2 {
			said(t, e, transcript.TokenUsage, map[string]any{"usage": map[string]any{"input_tokens": 100, "output_tokens": 7, "service_tier": "x"}})
		}
	})
	files := unzip(t, mustCreate(t, Options{Record: path}).Path)
	var figures metrics
	decode(t, files[metricsFile], &figures)
	if figures.InputTokens != 200 || figures.OutputTokens != 14 || figures.EntriesByType["token_usage"] != 2 {
		t.Errorf("metrics %+v", figures)
	}
	if !bytes.Contains(files[inputFile], []byte(`"first"`)) || !bytes.Contains(files[outputFile], []byte(`"two"`)) || bytes.Contains(files[outputFile], []byte(`"one"`)) {
		t.Errorf("asked %s\nanswered %s", files[inputFile], files[outputFile])
	}
}

func TestOddLogs(t *testing.T) {
	path := newRecord(t, t.TempDir(), "r", func(w *record.Writer, e *transcript.Emitter) {
		for _, line := range []string{"no JSON at all \xff", `{"event":"transcript.entry"`, `[1,2]`, `{"event":"turn.receipt","context":7}`} {
			if line == `[1,2]` || strings.HasPrefix(line, `{"event":"turn.r`) {
				line = `{"timestamp":"2026-02-18T11:00:00+00:00","level":"INFO","logger":"l","event":"odd","message":"m","context":{}}`
			}
			if err := w.AppendLog([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.AppendBlob("gateway.request", bytes.Repeat([]byte{0, 255, '\n'}, 1000)); err != nil {
			t.Fatal(err)
		}
		said(t, e, transcript.UserMessage, map[string]string{"text": "x"})
	})
	files := unzip(t, mustCreate(t, Options{Record: path}).Path)
	if n := bytes.Count(files[logFile], []byte("log.undecodable")); n != 2 {
		t.Errorf("%d undecodable lines are told, want 2:\n%s", n, files[logFile])
	}
}

func TestNeverOverwritten(t *testing.T) {
	ws, dir := t.TempDir(), t.TempDir()
	path := simple(t, ws, "r")
	made := mustCreate(t, Options{Record: path, File: filepath.Join(dir, "b.zip")})
	before, err := os.ReadFile(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), Options{Record: path, File: made.Path}); err == nil || !strings.Contains(err.Error(), "never written over") {
		t.Errorf("a second one at the same place: %v", err)
	}
	if after, _ := os.ReadFile(made.Path); !bytes.Equal(before, after) {
		t.Error("the bundle was changed")
	}
	if info, _ := os.Stat(made.Path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o400 {
		t.Errorf("mode %v, want read-only", info.Mode())
	}
	if names := dirNames(t, dir); !slices.Equal(names, []string{"b.zip"}) {
		t.Errorf("left behind: %v", names)
	}
}

func TestLayoutIsTheSameEachTime(t *testing.T) {
	path := simple(t, t.TempDir(), "r")
	order := func() (names []string) {
		r, err := Open(mustCreate(t, Options{Record: path, Environ: []string{"A=b"}}).Path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		return r.Manifest().Files
	}
	if one, two := order(), order(); !slices.Equal(one, two) || !slices.IsSorted(one) {
		t.Errorf("%v\n%v", one, two)
	}
}

func TestWhatIsRefused(t *testing.T) {
	ws, dir := t.TempDir(), t.TempDir()
	path := simple(t, ws, "r")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := slices.Clone(data)
	broken[len(broken)/2] ^= 1
	damaged := filepath.Join(ws, "damaged.record")
	if err := os.WriteFile(damaged, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(ws, "empty.record")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{damaged: "damaged", empty: "never began", filepath.Join(ws, "none"): "no such file"} {
		if _, err := Create(t.Context(), Options{Record: name, Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Create(ctx, Options{Record: path, Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if names := dirNames(t, dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestARunThatGoesOn bundles a record that is being written.
func TestARunThatGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.record")
	w, err := record.Create(path, record.Header{Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: "scripted", Store: w})
	if err != nil {
		t.Fatal(err)
	}
	said(t, e, transcript.UserMessage, map[string]string{"text": "x"})
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if made := mustCreate(t, Options{Record: path}); made.Manifest.Record.Sealed || made.Manifest.Record.Frames != 2 {
		t.Errorf("%+v", made.Manifest.Record)
	}
}

func TestWorkspaceAndGit(t *testing.T) {
	ws := t.TempDir()
	path := simple(t, ws, "r")
	for name, size := range map[string]int{"a.txt": 10, "big.bin": 3000, "dir/b.md": 500, "dir/c.md": 500, ".env": 20, "key.pem": 5, ".git/config": 5, "node_modules/x.js": 9} {
		file := filepath.Join(ws, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(ws, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	made := mustCreate(t, Options{Record: path, Workspace: ws, WithWorkspace: true, maxFile: 1000, maxAll: 700, Environ: os.Environ(),
		File: filepath.Join(ws, "run.zip")}) // which is not in itself
	var got []string
	for name := range unzip(t, made.Path) {
		if rest, ok := strings.CutPrefix(name, "filesystem/"); ok {
			got = append(got, rest)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"a.txt", "dir/b.md"}) || !made.Manifest.Capture.Limits["filesystem_truncated"] {
		t.Errorf("got %v, %+v", got, made.Manifest.Filesystem)
	}
	if made.Manifest.Filesystem.LeftOut < 4 {
		t.Errorf("left out: %+v", made.Manifest.Filesystem)
	}
}

func TestGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	ws := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
		if args[0] == "add" {
			if err := os.WriteFile(filepath.Join(ws, "f.txt"), []byte("one\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(git, args...)
		cmd.Dir = ws
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(ws, "f.txt"), []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := unzip(t, mustCreate(t, Options{Record: simple(t, t.TempDir(), "r"), Workspace: ws, Environ: os.Environ()}).Path)
	var info struct {
		Commit string `json:"commit_sha"`
		Branch string `json:"branch"`
		Dirty  bool   `json:"is_dirty"`
	}
	decode(t, files["environment/git.json"], &info)
	if len(info.Commit) != 40 || info.Branch != "main" || !info.Dirty || !bytes.Contains(files["environment/git.diff"], []byte("+two")) {
		t.Errorf("git: %+v\n%s", info, files["environment/git.diff"])
	}
}

func TestMain(m *testing.M) {
	room.Init()
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	sample.Tests(14)
	sample.Checks(10, 30)
	os.Exit(m.Run())
}
