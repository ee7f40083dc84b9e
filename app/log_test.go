package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"conclave/transcript"
)

const sessionID = "11111111-1111-4111-8111-111111111111"

// imported puts a session of n messages on the record, with the log stream to
// out, and returns what was told and what the record holds.
func imported(t *testing.T, n int, name string, out *writer, closing context.Context) (told []string, entries int) {
	t.Helper()
	dir := t.TempDir()
	var session strings.Builder
	for i := range n {
		fmt.Fprintf(&session, `{"type":"user","uuid":"%d","sessionId":"%s","message":{"role":"user","content":"word"}}`+"\n",
			i, sessionID)
	}
	file := filepath.Join(dir, sessionID+".jsonl")
	if err := os.WriteFile(file, []byte(session.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	a := &App{Dir: dir, Getenv: func(string) string { return "" }, Show: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if w, ok := e.(Warning); ok {
			told = append(told, w.Text.String())
		}
	}}
	log, err := a.OpenLog(name, out)
	if err != nil {
		t.Fatal(err)
	}
	a.Log = log
	if b, err := a.Import(t.Context(), []string{file}, DefaultFollow()); err != nil || b.Entries != int64(n) {
		t.Fatalf("%+v, %v", b, err)
	}
	log.Close(closing)
	for _, err := range a.Entries(t.Context(), "claude-"+sessionID, EntryPick{}) {
		if err != nil {
			t.Fatal(err)
		}
		entries++
	}
	mu.Lock()
	defer mu.Unlock()
	return told, entries
}

// writer is whatever stands at the end of a stream.
type writer struct {
	mu    sync.Mutex
	text  strings.Builder
	write func(w *writer, p []byte) (int, error)
}

func (w *writer) Write(p []byte) (int, error) {
	if w.write != nil {
		return w.write(w, p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// TestLogHasWhatTheRecordHas: line by line, and nothing is left out.
func TestLogHasWhatTheRecordHas(t *testing.T) {
	var out writer
	told, entries := imported(t, 20, "-", &out, t.Context())
	var fault error
	s, err := transcript.Check(transcript.Lines(strings.NewReader(out.text.String()), &fault))
	if err != nil || fault != nil || s.TotalEntries != 20 || entries != 20 || len(told) > 0 {
		t.Errorf("%d in the log, %d on the record, %v, %v, told %q", s.TotalEntries, entries, err, fault, told)
	}
}

// TestLogToNobody: who does not read does not hold up the run; what was left out
// is said, and is on the record.
func TestLogToNobody(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	out := &writer{write: func(*writer, []byte) (int, error) { <-hang; return 0, errors.New("too late") }}
	enough, cancel := context.WithCancel(t.Context())
	cancel()
	told, entries := imported(t, 9000, "-", out, enough)
	if entries != 9000 {
		t.Errorf("%d entries on the record, want all 9000", entries)
	}
	if len(told) != 1 || !strings.Contains(told[0], "log records were left out; the record has them") {
		t.Errorf("told %q, want how many were left out", told)
	}
}

// TestLogOnAFullDisk: the first error is said once, a line that was cut is ended
// before the next, and the run knows nothing of it.
func TestLogOnAFullDisk(t *testing.T) {
	n := 0
	out := &writer{write: func(w *writer, p []byte) (int, error) {
		if n++; n == 3 || n == 4 {
			w.text.Write(p[:len(p)/2*(4-n)])
			return len(p) / 2 * (4 - n), errors.New("no space left on device")
		}
		return w.text.Write(p)
	}}
	told, entries := imported(t, 20, "-", out, t.Context())
	if entries != 20 {
		t.Errorf("%d entries on the record, want all 20", entries)
	}
	if len(told) != 2 || !strings.Contains(told[0], "--log -: no space left on device; the run goes on") ||
		!strings.Contains(told[1], "log records were left out") {
		t.Errorf("told %q, want the first error and the sum", told)
	}
	whole := 0
	for line := range strings.Lines(out.text.String()) {
		if strings.HasPrefix(line, `{"timestamp":`) && strings.HasSuffix(line, "}}\n") {
			whole++
		}
	}
	if whole < 18 {
		t.Errorf("%d whole lines in\n%s", whole, out.text.String())
	}
}

// TestLogIsAppendedToForThePersonAlone: and what cannot be opened is an error
// before anything runs.
func TestLogIsAppendedToForThePersonAlone(t *testing.T) {
	dir := t.TempDir()
	a := &App{Dir: dir, Getenv: func(string) string { return "" }}
	for range 2 {
		l, err := a.OpenLog("log.jsonl", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Write([]byte("{}\n")); err != nil {
			t.Fatal(err)
		}
		l.Close(t.Context())
	}
	file := filepath.Join(dir, "log.jsonl")
	if data, err := os.ReadFile(file); err != nil || string(data) != "{}\n{}\n" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(file); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	_, err := a.OpenLog(filepath.Join("none", "log.jsonl"), nil)
	if err == nil || KindOf(err) != Environment {
		t.Errorf("%v", err)
	}
}

// TestLogIsKeptOutOfTheWorkspace: seats see the project while the log is written.
// What was made for a run that was refused is gone; what was there stays.
func TestLogIsKeptOutOfTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	for _, d := range []string{filepath.Join(root, ".campaign"), filepath.Join(root, ".conclave")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "old.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for name, refused := range map[string]bool{
		"log.jsonl": true, ".campaign/log.jsonl": true, "old.jsonl": true, "../link/log.jsonl": true,
		".conclave/log.jsonl": false, "../log.jsonl": false, "../project.jsonl": false,
	} {
		a := &App{Dir: root, Getenv: func(string) string { return "" }}
		log, err := a.OpenLog(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		a.Log = log
		_, err = a.enter()
		if (err != nil) != refused || refused && KindOf(err) != Usage {
			t.Errorf("%s: %v, want it refused: %v", name, err, refused)
		}
		log.Close(t.Context())
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != (name == "old.jsonl") {
			t.Errorf("%s: %v; only what was there stays", name, err)
		}
	}
}

// What is no log is not appended to, and no link is followed to one.
func TestWhatIsNoLog(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link.jsonl")
	loose := filepath.Join(dir, "loose.jsonl")
	for name, to := range map[string]string{link: write("x.jsonl", "{}\n"), loose: filepath.Join(dir, "nowhere")} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip(err)
		}
	}
	a := &App{Dir: dir}
	for _, name := range []string{write("bashrc", "alias x=y\n"), write("old.record", "CNCLV\n"), link, loose} {
		if l, err := a.OpenLog(name, nil); err == nil {
			l.Close(t.Context())
			t.Errorf("%s was opened", name)
		}
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("the end of a link was made")
	}
	for _, name := range []string{write("empty", ""), write("log.jsonl", "{\"event\":\"x\"}\n"), filepath.Join(dir, "new")} {
		l, err := a.OpenLog(name, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l.Close(t.Context())
	}
}
