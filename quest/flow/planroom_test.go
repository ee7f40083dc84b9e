package flow

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/policy"
	"conclave/quest"
)

// A party seat is given the project's history (Q1), its instructions name the
// file exactly when it is there, and what could not be read is said.
func TestFurnishHistory(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	granted := func() (history string, denied bool) {
		t.Helper()
		f, err := New(Options{Root: ws}).planRoom(t.Context(), policy.Cat, quest.Material{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Plan.Grants {
			if g.Name == historyName {
				history = string(g.Bytes)
			}
		}
		for _, d := range f.Denied {
			denied = denied || d.Name == historyName && strings.Contains(d.Reason, "could not be read")
		}
		return history, denied
	}
	named := func() bool {
		t.Helper()
		o, err := (&House{opts: Options{Root: ws, Now: noon}}).readOpening(policy.Cat, "consult", "", false)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(roomGuide(o), historyName)
	}
	if h, denied := granted(); h != "" || denied || named() {
		t.Errorf("without a repository: %q, %v, %v", h, denied, named())
	}
	write(t, ws, "a.txt", "x")
	for _, args := range [][]string{{"init", "-q"}, {"add", "a.txt"}, {"-c", "user.name=Mara Kent", "-c", "user.email=m@example.com", "commit", "-qm", "Open the ledger"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = ws
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if h, denied := granted(); !strings.Contains(h, " Mara Kent\n    Open the ledger\n\nA\ta.txt\n") || denied || !named() {
		t.Errorf("with one: %q, %v, %v", h, denied, named())
	}
	if err := os.Remove(filepath.Join(ws, ".git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(ws, ".git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if h, denied := granted(); h != "" || !denied || named() {
		t.Errorf("with one that cannot be read: %q, %v, %v", h, denied, named())
	}
}
