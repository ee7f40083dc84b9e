package claude

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/unfold"
	"conclave/transcript"
)

const capturedResult = fixtures + "/claude/34-tool-results-file/home/.claude/projects/-home-u-lab-work-proj/" +
	"a19fe56b-0559-4f5b-a105-5d1f1a7feba6/tool-results/btlcfv8cy.txt"

// unfolded is the line of a file of what a tool gave back, and what it is.
func unfolded(t *testing.T, path string) ([]byte, kind.File) {
	t.Helper()
	s := unfold.Store{Path: path, Kind: Kind}
	spool := t.TempDir()
	if err := s.Update(t.Context(), spool); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.Dir(spool), "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("unfolded into %v: %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	if len(rest) > 0 {
		t.Fatalf("more than one line: %.200s", rest)
	}
	f, told, err := Kind.Locate(files[0], func() ([]byte, error) { return line, nil })
	if !told || err != nil {
		t.Fatalf("%s is not told by its path: %v", files[0], err)
	}
	return line, f
}

// The captured file is one entry of its session: all of its text, at the time of
// the line that tells of it, with the call.
func TestResultFile(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(filepath.FromSlash(capturedResult))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, f := unfolded(t, path)
	dir := filepath.Dir(filepath.Dir(path))
	if f.Session != filepath.Base(dir) || f.Dir != filepath.Dir(dir) || f.Project != "-home-u-lab-work-proj" ||
		!f.Main() || f.Beside != "btlcfv8cy.txt" || f.Place() != "main/btlcfv8cy.txt" {
		t.Errorf("it is %+v", f)
	}
	if !Sniff(line) || Beside(line) != f.Beside {
		t.Errorf("the line is not known: %.200s", line)
	}
	m := NewMapper(Options{})
	items := m.Map(line)
	if len(items) != 1 || items[0].Type != transcript.ToolResult || !bytes.Equal(items[0].Raw, line) ||
		items[0].SessionID != f.Session || items[0].Source != transcript.Main && items[0].Source != "" {
		t.Fatalf("%d items, the first %.300v", len(items), items)
	}
	d := jsontext.Members(items[0].Detail, "subtype", "call", "tool_use_id")
	if jsontext.Text(d[0]) != ResultFile || jsontext.Text(d[1]) != "toolu_mock559621218198" || d[2] != nil {
		t.Errorf("detail: %s %s %s", d[0], d[1], d[2])
	}
	if facts := m.Facts(0); facts.ToolID != "" || facts.Subtype != ResultFile {
		t.Errorf("facts: %+v: a call has one result", facts)
	}
	said := strings.TrimRight(string(want), "\n")
	if got := m.Words(nil, 0); string(got) != said {
		t.Errorf("the words are %d bytes of %d", len(got), len(said))
	}
	if got := new(Words).Append(nil, items[0].Type, items[0].Detail); string(got) != said {
		t.Errorf("on a record the words are %d bytes of %d", len(got), len(said))
	}
	if got := Text(items[0].Detail); strings.TrimRight(got, "\n") != said {
		t.Errorf("the text is %d bytes of %d", len(got), len(said))
	}
	at, _ := Kind.Stamp(line)
	if at == 0 || at != m.Time() {
		t.Errorf("its time is %d, and by its mapping %d", at, m.Time())
	}
	if session, source := ownerIn(line); session != f.Session || source != transcript.Main {
		t.Errorf("by its content it is of %q %q", session, source)
	}
}

// Which files are taken for such, whatever is in them.
func TestResultStore(t *testing.T) {
	t.Parallel()
	const session = "/p/a19fe56b-0559-4f5b-a105-5d1f1a7feba6"
	for path, want := range map[string]bool{
		session + "/tool-results/b.txt": true, session + "/tool-results/toolu_1.json": true,
		session + "/tool-results/.txt": false, session + "/tool-results/b.pdf": false,
		session + "/tool-results/deeper/b.txt": false, session + "/b.txt": false, "/p/x/tool-results/b.txt": false,
	} {
		if got := store(filepath.FromSlash(path)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// A file of which nothing tells yet waits; later it is taken as it is. Bytes that
// are no text are kept, and of what is too large it is said that it is left out.
func TestResultFileAlone(t *testing.T) {
	t.Parallel()
	const session = "a19fe56b-0559-4f5b-a105-5d1f1a7feba6"
	dir := filepath.Join(t.TempDir(), "slug", session, resultsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "b.txt")
	bad := []byte("gone \xff wrong\n")
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(kind.Row) error { t.Error("a row of what nothing tells of"); return nil }
	if err := rows(context.Background(), path, none); !errors.Is(err, unfold.ErrNotYet) {
		t.Errorf("what was just written: %v", err)
	}
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	line, f := unfolded(t, path)
	if at, _ := Kind.Stamp(line); at != old.UnixMicro() || f.Project != "slug" || f.Session != session {
		t.Errorf("at %d: %+v", at, f)
	}
	m := jsontext.Members(jsontext.Get(line, "row"), "call", "base64", "text", "left_out")
	if b, err := base64.StdEncoding.DecodeString(jsontext.Text(m[1])); err != nil || !bytes.Equal(b, bad) || m[0] != nil ||
		m[3] != nil || jsontext.Text(m[2]) != "gone \uFFFD wrong\n" {
		t.Errorf("%q of %q: %v", b, line, err)
	}
	if err := os.Truncate(path, mostOfResult+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	line, _ = unfolded(t, path)
	if m := jsontext.Members(jsontext.Get(line, "row"), "bytes", "left_out", "text"); string(m[0]) != "33554433" ||
		string(m[1]) != "true" || !strings.Contains(jsontext.Text(m[2]), "left out: b.txt has 33554433 bytes") {
		t.Errorf("of what is too large: %.300s", line)
	}
}
