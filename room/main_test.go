package room

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/sample"
)

func TestMain(m *testing.M) {
	weakenedHelper() // returns unless this is a helper that a test asked to weaken
	Init()
	before()
	sample.Tests(8)
	os.Exit(m.Run())
}

// base is a directory for rooms that their own users can pass through, which
// those of t.TempDir are not under root. It must be empty at the end but for
// what a test says.
func base(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rooms-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v (%v)", left, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open opens a room that is closed with the test.
func open(t testing.TB, p Plan) *Room {
	t.Helper()
	if p.Base == "" {
		p.Base = base(t)
	}
	r, err := Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// write makes a file, with its directories.
func write(t testing.TB, content string, elem ...string) string {
	t.Helper()
	p := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// private is the rule of the tests, after the manner of the real one: names
// that stay outside, in any case, wherever they stand.
func private(rel string, _ bool, _ func() (io.ReadCloser, error)) string {
	for seg := range strings.SplitSeq(strings.ToLower(rel), "/") {
		switch seg {
		case ".conclave", ".git", "conclave.yaml", ".campaign", "campaigns", ".claude", "claude.md", "agents.md", "gemini.md", ".codex", ".mcp.json", "notes":
			return "is private"
		}
	}
	return ""
}
