package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/sessiongen"
	"conclave/record"
	"conclave/transcript"
)

var ctx = context.Background()

func openAt(t *testing.T, path string) *Archive {
	t.Helper()
	a, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func newTestArchive(t *testing.T) *Archive {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "archive.db"))
}

func refresh(t *testing.T, a *Archive, roots ...string) Report {
	t.Helper()
	rep, err := a.Refresh(ctx, roots)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func openFiles(t *testing.T, files ...string) *Archive {
	t.Helper()
	a, err := OpenFiles(ctx, t.TempDir(), files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// table is the answer to a query as text.
func table(t *testing.T, a *Archive, query string) string {
	t.Helper()
	rows, err := a.SQL(ctx, query, Limits{Rows: 1 << 30, Time: time.Minute})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var b strings.Builder
	for _, r := range rows.Rows {
		for i, v := range r {
			if i > 0 {
				b.WriteByte('|')
			}
			if v == nil {
				v = "-"
			}
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var searches = []Query{
	{Words: "dragon"}, {Words: "the party", Context: 1}, {Words: `"not know"`}, {Words: "sess* -dragon"},
	{Words: "grep", In: []transcript.Type{transcript.ToolUse}}, {Words: "cafe"}, {Words: "日本"}, {Words: "water", Role: "Explore"},
}

// answers is everything that an archive says: the whole transcript, the usage,
// and what some searches find. Archives of the same files say the same.
func answers(t *testing.T, a *Archive) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(table(t, a, `SELECT t.bundle, s.path, s.generation, t.transcript_source, t.sequence_number, t.entry_type, t.subtype, t.tool_name, t.tool_use_id, t.is_error,
		t.timestamp, t.project, t.seat, t.session_id, t.content, t.raw_json, t.characters FROM transcript t JOIN sources s ON s.id = t.source_id ORDER BY s.path, s.generation, t.rowid`))
	b.WriteString(table(t, a, "SELECT * FROM usage ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"))
	for _, q := range searches {
		res, err := a.Search(ctx, q)
		if err != nil {
			t.Fatalf("search %+v: %v", q, err)
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s\n", q.Words, text)
	}
	return b.String()
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s: line %d differs:\n got %.600s\nwant %.600s", what, i, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(g), len(w))
}

func smallTree(t *testing.T, seed uint64, bytes int64) sessiongen.Tree {
	t.Helper()
	tree, err := sessiongen.WriteTree(t.TempDir(), sessiongen.TreeOptions{Seed: seed, Bytes: bytes, FileBytes: bytes / 6, Words: 3000})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// newRecord makes a sealed record of what fill emits.
func newRecord(t *testing.T, dir, run, prompt string, fill func(w *record.Writer, e *transcript.Emitter)) string {
	t.Helper()
	path := filepath.Join(dir, ".conclave", "records", run+record.Extension)
	w, err := record.Create(path, record.Header{Run: run, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := transcript.NewEmitter(transcript.Options{PromptName: prompt, Adapter: transcript.AdapterScripted, Store: w})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	fill(w, e)
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal("done"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func emit(t *testing.T, e *transcript.Emitter, typ transcript.Type, detail map[string]any) {
	t.Helper()
	b, err := json.Marshal(detail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Emit(transcript.Item{Type: typ, Detail: b, Raw: b}); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func itoa(n int) string { return fmt.Sprint(n) }
