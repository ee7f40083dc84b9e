package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// lockedBuffer is an output that can be looked at while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Tail prints what comes, of the types and sources that were asked for, until
// it is interrupted, and that is no failure.
func TestRecordTail(t *testing.T) {
	dir := t.TempDir()
	const id = "11111111-1111-4111-8111-111111111111"
	session := filepath.Join(dir, "sessions", id+".jsonl")
	if err := os.Mkdir(filepath.Dir(session), 0o700); err != nil {
		t.Fatal(err)
	}
	say := func(kind, text string) {
		f, err := os.OpenFile(session, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(`{"type":"` + kind + `","uuid":"` + text + `","sessionId":"` + id + `","promptSource":"sdk","message":{"role":"user","content":"` + text + `"}}` + "\n")
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	command := func(ctx context.Context, out *lockedBuffer, args ...string) int {
		env := &environment{Terminal: piped("", out, out), Dir: dir, Getenv: func(string) string { return "" }}
		return execute(ctx, env, args)
	}
	say("user", "first")
	if code := command(t.Context(), new(lockedBuffer), "record", "import", "sessions"); code != exitDone {
		t.Fatalf("import: exit code %d", code)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out lockedBuffer
	done := make(chan int, 1)
	go func() {
		done <- command(ctx, &out, "record", "tail", "claude-"+id, "--type", "user_message", "--source", "main")
	}()
	wait := func(text string) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(out.String(), text); <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("%q did not come:\n%s", text, out.String())
			}
		}
	}
	wait("user_message first")
	say("mode", "between")
	say("user", "second")
	if code := command(t.Context(), new(lockedBuffer), "record", "import", "sessions"); code != exitDone {
		t.Fatalf("import: exit code %d", code)
	}
	wait("user_message second")
	cancel()
	if code := <-done; code != exitDone {
		t.Errorf("tail: exit code %d", code)
	}
	if strings.Contains(out.String(), "between") {
		t.Errorf("an entry of another type was printed:\n%s", out.String())
	}
}
