package claude

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/session"
	"conclave/transcript"
)

// TestPollIntervalIsObeyed: the files of a driven session are looked at as often
// as the settings say, and at once when the turn was answered.
func TestPollIntervalIsObeyed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "-x")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path, seen := filepath.Join(dir, "s.jsonl"), 0
	s := &driven{cfg: Config{Poll: time.Hour}, out: newQueue(), errs: newQueue(), turn: &turn{}, polled: time.Now()}
	s.follow = &follower{projects: filepath.Dir(dir), session: "s", agents: map[string]*followed{}, callers: session.Callers{},
		emit: func(transcript.Item) error { seen++; return nil }, seen: func(string) {}, began: func(session.File) error { return nil },
		every: time.Hour, searched: time.Now()}
	defer s.follow.close()
	write := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(`{"type":"user","uuid":"u","message":{"content":"hi"}}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pump := func(want int, why string) {
		t.Helper()
		if err := s.pump(); err != nil || seen != want {
			t.Errorf("%s: %d entries, want %d; %v", why, seen, want, err)
		}
	}
	write(path)
	pump(0, "before the interval is over")
	s.polled = time.Now().Add(-2 * time.Hour)
	pump(1, "after the interval")
	write(filepath.Join(dir, "s", "subagents", "agent-a.jsonl"))
	s.turn.answered = true
	pump(1, "answered, and subagents were looked for just now")
	if err := s.follow.poll(true); err != nil || seen != 2 {
		t.Errorf("at the end: %d entries, %v", seen, err)
	}
}
