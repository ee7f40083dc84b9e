package app

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// While sessions are followed, what a program adds to its store becomes lines by
// itself, and a store that is made later, too.
func TestKeepUnfolding(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := &App{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	dir := filepath.Join(home, ".gemini", "tmp", "den", "chats")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer a.keepUnfolding(ctx, a.stores().Own)()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	message := `{"id":"m1","timestamp":"2026-11-16T07:33:06.563Z","type":"user","content":"Look around"}`
	for n, messages := range []string{message, message + `,{"id":"m2","type":"user","content":"And again"}`} {
		text := `{"sessionId":"s1","projectHash":"p","messages":[` + messages + `]}`
		if err := os.WriteFile(filepath.Join(dir, "session-1.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for lines := 0; lines != 2+n; {
			select {
			case <-ctx.Done():
				t.Fatalf("%d lines after a minute, want %d", lines, 2+n)
			case <-time.After(20 * time.Millisecond):
			}
			files, err := filepath.Glob(filepath.Join(a.stores().OwnSpool(), "gemini-*", "s1.jsonl"))
			if err != nil || len(files) == 0 {
				continue
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			lines = bytes.Count(text, []byte("\n"))
		}
	}
}
