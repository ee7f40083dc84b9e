package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"conclave/session"
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

// A page that waits looks at those stores that have changed, and at nothing
// otherwise.
func TestUnfolderLooksAtWhatHasChanged(t *testing.T) {
	t.Parallel()
	a := &App{Getenv: func(name string) string { return map[string]string{"HOME": "/home/ada"}[name] }}
	u := newUnfolder(a)
	chat, database := "/home/ada/.gemini/tmp/den/chats/session-1.json", "/home/ada/.local/share/opencode/opencode.db"
	for _, c := range []struct{ changed, look []string }{
		{[]string{"/home/ada/.claude/projects/-p/s.jsonl"}, nil},
		{[]string{chat, chat, "/home/ada/notes.txt"}, []string{chat}},
		{[]string{database + "-wal", database}, []string{database}},
		{nil, u.own},
	} {
		u.changed(c.changed)
		woken := len(u.wake) > 0
		if look := u.take(); !slices.Equal(look, c.look) || woken != (len(c.look) > 0) {
			t.Errorf("%v: looks at %v, want %v", c.changed, look, c.look)
		}
		for len(u.wake) > 0 {
			<-u.wake
		}
	}
	u.changed(nil)
	u.changed([]string{chat})
	if look := u.take(); len(look) != len(u.own)+1 || len(session.DefaultStores(a.Getenv)) != len(u.own) {
		t.Errorf("looks at %v", look)
	}
}

// What a program adds to its store is told while sessions are followed.
func TestLiveUnfolds(t *testing.T) {
	a, _ := liveHome(t, 1)
	changes := follow(t, openLibrary(t, a))
	dir := filepath.Join(a.Getenv("HOME"), ".gemini", "tmp", "den", "chats")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	message := func(n int) string {
		return fmt.Sprintf(`{"id":"m%d","timestamp":"2026-11-16T07:33:0%[1]d.563Z","type":"user","content":"Look %[1]d"}`, n)
	}
	for n, messages := range []string{message(0), message(0) + "," + message(1)} {
		text := `{"sessionId":"s1","projectHash":"p","messages":[` + messages + `]}`
		if err := os.WriteFile(filepath.Join(dir, "session-1.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, changes, "a message", func(c Change) bool { return c.Last == fmt.Sprintf("Look %d", n) })
	}
}
