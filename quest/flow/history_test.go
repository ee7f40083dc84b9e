package flow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
)

const historyScript = "as cat\nturn on first\n  say One.\nturn on second\n  say Two.\n"

// TestHistories completes interactions that earlier versions of the program
// left open. Each directory of testdata/history is a workspace as it was left:
// a consultation that waits for the person's second message. To record one
// with the present version: CONCLAVE_RECORD_HISTORY=name go test -run Histories
func TestHistories(t *testing.T) {
	t.Parallel()
	const dir = "testdata/history"
	if name := os.Getenv("CONCLAVE_RECORD_HISTORY"); name != "" {
		recordHistory(t, filepath.Join(dir, name))
	}
	found, err := filepath.Glob(dir + "/*")
	if err != nil || len(found) == 0 {
		t.Fatalf("no histories in %s: %v", dir, err)
	}
	for _, from := range found {
		t.Run(filepath.Base(from), func(t *testing.T) {
			ws := t.TempDir()
			if err := os.CopyFS(ws, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			// What git does not keep: a leading dot, and the private directory.
			if err := os.Rename(filepath.Join(ws, "dot-conclave"), filepath.Join(ws, ".conclave")); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(ws, "dot-campaign"), filepath.Join(ws, ".campaign")); err != nil {
				t.Fatal(err)
			}
			s := stage{dir: ws, script: historyScript}
			res, err := s.once(t.Context(), &waiting{answer: "second"}, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			text := conversation(t, ws, res.Conversation)
			if !strings.HasSuffix(text, "**User:** first\n\n**🐱 Cat:** One.\n\n**User:** second\n\n**🐱 Cat:** Two.\n\n") {
				t.Errorf("the conversation is\n%s", text)
			}
			proved(t, ws, 1)
		})
	}
}

func recordHistory(t *testing.T, to string) {
	t.Helper()
	ws := t.TempDir()
	write(t, ws, quest.QuestFile, aQuest)
	s := stage{dir: ws, script: historyScript}
	if _, err := s.once(t.Context(), &waiting{}, true, Consult{Who: policy.Cat, Message: "first"}); !errors.As(err, new(*engine.CutError)) {
		t.Fatal(err)
	}
	for _, dir := range []string{".conclave/canaries", ".conclave/locks", ".conclave/tmp"} {
		os.RemoveAll(filepath.Join(ws, filepath.FromSlash(dir)))
	}
	for from, name := range map[string]string{".conclave": "dot-conclave", ".campaign": "dot-campaign"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(ws, from))); err != nil {
			t.Fatal(err)
		}
	}
}
