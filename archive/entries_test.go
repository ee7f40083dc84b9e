package archive_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/archivetest"
)

// Whoever takes entries one by one, and then no more, keeps nobody from reading.
func TestEntriesHoldNothing(t *testing.T) {
	const entries = 1203 // more than are read at once
	path := filepath.Join(t.TempDir(), "00000000-0000-4000-8000-000000000000.jsonl")
	var text strings.Builder
	for n := range entries {
		fmt.Fprintf(&text, `{"type":"user","uuid":"u%d","sessionId":"00000000-0000-4000-8000-000000000000","cwd":"/p",`+
			`"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"line %d"}}`+"\n", n, n)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	a := archivetest.OpenFiles(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 4 {
		next, stop := iter.Pull2(a.Entries(ctx))
		defer stop()
		if _, err, ok := next(); err != nil || !ok {
			t.Fatal("the first entry:", err)
		}
	}
	n := 0
	for e, err := range a.Entries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("line %d", n); e.Text != want {
			t.Fatalf("%q, want %q", e.Text, want)
		}
		n++
	}
	if n != entries {
		t.Errorf("%d entries, want %d", n, entries)
	}
	if _, err := a.Status(ctx); err != nil {
		t.Error(err)
	}
	var first []archive.Entry
	for e, err := range a.Entries(ctx, "nothing of that name", path) {
		if first = append(first, e); err != nil || len(first) == 2 {
			break
		}
	}
	if len(first) != 2 {
		t.Errorf("by its path: %v", first)
	}
}
