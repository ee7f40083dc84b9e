package acp

import (
	"os"
	"path/filepath"
	"testing"
)

// A program's version is read from the package that brought it, behind npm's link.
func TestVersion(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"node_modules/mine/package.json":    `{"name": "mine", "version": "1.2.3"}`,
		"node_modules/mine/bin/mine.js":     "#!/usr/bin/env node\n",
		"node_modules/broken/package.json":  `{"version": `,
		"node_modules/broken/bin/broken.js": "#!/usr/bin/env node\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "mine")
	if err := os.Symlink(filepath.Join(dir, "node_modules/mine/bin/mine.js"), link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		link: "1.2.3", filepath.Join(dir, "node_modules/broken/bin/broken.js"): "", filepath.Join(dir, "absent"): "",
	} {
		if got := Version(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
