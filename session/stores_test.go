package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const rollout = "rollout-2026-11-15T00-16-23-01a1dc8f-f251-7030-bc88-2ed97e77d298.jsonl"

// TestPackedRollout: a rollout that Codex has packed has the lines and the identity
// of the rollout; when the program unpacks it, its own file is the only one again.
func TestPackedRollout(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(fixtures, "codex/01-simple/codex_home/sessions/2026/11/15", rollout))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join("testdata/packed", rollout+".zst"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"CODEX_HOME": home}[name] }
	for _, dir := range []string{"sessions/2026/11/15", "archived_sessions"} {
		t.Run(dir, func(t *testing.T) {
			s := Stores{Spool: t.TempDir(), Own: DefaultStores(getenv)}
			unfold := func() []string {
				t.Helper()
				dirs, err := s.Unfold(context.Background(), DefaultStores(getenv))
				if err != nil {
					t.Fatal(err)
				}
				return dirs
			}
			plain := filepath.Join(home, filepath.FromSlash(dir), rollout)
			write(t, plain+".zst", packed)
			defer os.Remove(plain + ".zst")
			if !IsStore(plain + ".zst") {
				t.Error("nobody knows the file by its name")
			}
			dirs := unfold()
			if len(dirs) != 1 || !strings.HasPrefix(dirs[0], s.OwnSpool()) {
				t.Fatalf("lines lie in %q", dirs)
			}
			path := filepath.Join(dirs[0], rollout)
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, %v; want %d", len(got), err, len(want))
			}
			f, err := Identify(path, "", false)
			write(t, plain, want)
			defer os.Remove(plain)
			g, err2 := Identify(plain, "", false)
			if err != nil || err2 != nil || f.ID() == "" || f.ID() != g.ID() {
				t.Errorf("%q, %v; unpacked it is %q, %v", f.ID(), err, g.ID(), err2)
			}
			if dirs := unfold(); len(dirs) != 0 {
				t.Errorf("the lines lie beside it, and in %q", dirs)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the lines of a rollout that was unpacked are still there")
			}
			if _, err := s.Unfold(context.Background(), []string{plain + ".zst"}); err == nil || !strings.Contains(err.Error(), "name "+plain) {
				t.Errorf("named itself: %v", err)
			}
			if err := os.Remove(plain); err != nil {
				t.Fatal(err)
			}
			if again := unfold(); !slices.Equal(again, dirs) {
				t.Errorf("packed again: %q", again)
			}
			write(t, plain+".zst", packed[:len(packed)/2])
			if _, err := s.Unfold(context.Background(), DefaultStores(getenv)); err == nil || !strings.Contains(err.Error(), plain) {
				t.Errorf("half a file: %v", err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("half a file took the place of the whole one: %d bytes, %v", len(got), err)
			}
		})
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
