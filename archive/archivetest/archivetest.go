// Package archivetest helps to test what fills an archive and what answers from
// one. It is for tests alone.
package archivetest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/sql"
	"conclave/internal/sessiongen"
	"conclave/record"
	"conclave/transcript"
)

// OpenAt opens the archive at path, until the test ends.
func OpenAt(t *testing.T, path string) *archive.Archive {
	t.Helper()
	a, err := archive.Open(path, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// Open opens an empty archive.
func Open(t *testing.T) *archive.Archive {
	t.Helper()
	return OpenAt(t, filepath.Join(t.TempDir(), "archive.db"))
}

// Refresh takes up what is new below roots.
func Refresh(t *testing.T, a *archive.Archive, roots ...string) archive.Report {
	t.Helper()
	rep, err := a.Refresh(context.Background(), roots)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// OpenFiles opens files for SQL.
func OpenFiles(t *testing.T, files ...string) *archive.Archive {
	t.Helper()
	a, err := archive.OpenFiles(context.Background(), t.TempDir(), files, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// Table is the answer to a query as text.
func Table(t *testing.T, a *archive.Archive, query string) string {
	t.Helper()
	rows, err := sql.Query(context.Background(), a, query, sql.Limits{Rows: 1 << 30, Time: time.Minute})
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

// Same fails with the first line in which two answers differ.
func Same(t *testing.T, what, got, want string) {
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

// Tree writes session files of that many bytes.
func Tree(t *testing.T, seed uint64, bytes int64) sessiongen.Tree {
	t.Helper()
	tree, err := sessiongen.WriteTree(t.TempDir(),
		sessiongen.TreeOptions{Seed: seed, Bytes: bytes, FileBytes: bytes / 6, Words: 3000})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// NewRecord makes a sealed record of what fill emits.
func NewRecord(t *testing.T, dir, run, prompt string, fill func(w *record.Writer, e *transcript.Emitter)) string {
	t.Helper()
	path := filepath.Join(dir, ".conclave", "records", run+record.Extension)
	w, err := record.Create(path, record.Header{Run: run, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := transcript.NewEmitter(
		transcript.Options{PromptName: prompt, Adapter: transcript.AdapterScripted, Store: w})
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

// Emit appends an entry with that detail.
func Emit(t *testing.T, e *transcript.Emitter, typ transcript.Type, detail map[string]any) {
	t.Helper()
	b, err := json.Marshal(detail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Emit(transcript.Item{Type: typ, Detail: b, Raw: b}); err != nil {
		t.Fatal(err)
	}
}

// WriteFile writes a file, with the directories above it.
func WriteFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Session is a generated session file.
func Session(t *testing.T, seed uint64, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := sessiongen.Write(&b, sessiongen.Options{Seed: seed, Bytes: size, Words: 1000}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Glob lists what a pattern matches; a pattern of fixtures must match something.
func Glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 && strings.Contains(pattern, "fixtures") {
		t.Fatalf("%s matches nothing", pattern)
	}
	return found
}

// Zip makes a bundle of files.
func Zip(t *testing.T, file string, files map[string]string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create("debug_bundle/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
