package quest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSplitPaths(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a plan.md", "README.md", "docs/guide.md", "docs/my notes.md"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"README.md docs":                 "README.md|docs",
		"a plan.md":                      "a plan.md", // it is there as a whole
		"'a plan.md' README.md":          "a plan.md|README.md",
		`"a plan.md" "docs/my notes.md"`: "a plan.md|docs/my notes.md",
		"*.md docs/*.md":                 "*.md|docs/*.md",
		"  README.md  ":                  "README.md",
		`''`:                             "",
	} {
		got, err := SplitPaths(root, line)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q names %q, %v; want %s", line, got, err, want)
		}
	}
	if _, err := SplitPaths(root, "'a plan.md"); err == nil {
		t.Error("a quote that is not closed was taken")
	}
	for name, want := range map[string]string{
		"READEM.md": "README.md", "redme.md": "README.md", "docs/giude.md": "docs/guide.md", "dcos/guide.md": "docs/guide.md",
		"zzz": "", "README.md": "", "../x": "", "docs/guide.md/x": "",
	} {
		if got := NearestPath(root, name); got != want {
			t.Errorf("%q is nearest to %q, want %q", name, got, want)
		}
	}
}
