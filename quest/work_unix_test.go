//go:build unix

package quest

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A FIFO would make whoever opens it wait for ever.
func TestWorkRefusesWhatIsNoFile(t *testing.T) {
	dir := project(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "src", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"src", "src/pipe", "src/*"} {
		if _, err := OpenWork(dir, []string{name}); err == nil || !strings.Contains(err.Error(), "neither a file nor a directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStoreRefusesWhatIsNoFile(t *testing.T) {
	s, dir := openStore(t)
	put(t, dir, map[string]string{".campaign/conversations/2026-02-18-14-32-cat.md": "---\nagent: cat\n---\n"})
	for _, name := range []string{".campaign/quest.md", ".campaign/conversations/2026-02-18-14-33-cat.md"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Quest(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("quest: %v", err)
	}
	list, err := s.Transcripts()
	if err != nil || len(list) != 2 || list[0].Fault != "" || !strings.Contains(list[1].Fault, "not a regular file") {
		t.Errorf("transcripts: %+v, %v", list, err)
	}
}
