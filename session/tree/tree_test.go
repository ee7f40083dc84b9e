package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestWalk: what lies below the roots has its own path, whatever links to it; what
// only a link leads to is found by the link, once; circles end; nobody is led out
// of a workspace.
func TestWalk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are a privilege there")
	}
	for _, c := range []struct {
		name  string
		files []string
		links [][2]string // from, to
		roots []string
		want  []string
	}{
		{name: "plain", files: []string{"a/x", "a/b/y"}, roots: []string{"a"}, want: []string{"a/b/y", "a/x"}},
		{name: "a linked directory", files: []string{"far/p/x"}, links: [][2]string{{"a/p", "far/p"}},
			roots: []string{"a"}, want: []string{"a/p/x"}},
		{name: "a linked root", files: []string{"far/x"}, links: [][2]string{{"a", "far"}},
			roots: []string{"a"}, want: []string{"a/x"}},
		{name: "a linked file", files: []string{"far/x"}, links: [][2]string{{"a/y", "far/x"}},
			roots: []string{"a"}, want: []string{"a/y"}},
		{name: "two links to one directory", files: []string{"far/x"},
			links: [][2]string{{"a/p", "far"}, {"a/q", "far"}}, roots: []string{"a"}, want: []string{"a/p/x"}},
		{name: "the thing itself comes first", files: []string{"a/z/x"},
			links: [][2]string{{"a/b", "a/z"}, {"a/c", "a/z/x"}}, roots: []string{"a"}, want: []string{"a/z/x"}},
		{name: "in another root, too", files: []string{"b/p/x"}, links: [][2]string{{"a/p", "b/p"}},
			roots: []string{"a", "b"}, want: []string{"b/p/x"}},
		{name: "circles", files: []string{"a/x", "far/y"},
			links: [][2]string{{"a/me", "a"}, {"a/far", "far"}, {"far/back", "a"}, {"a/o", "a/o"}},
			roots: []string{"a"}, want: []string{"a/far/y", "a/x"}},
		{name: "links beyond links", files: []string{"far/x", "farther/y"},
			links: [][2]string{{"a/p", "far"}, {"far/q", "farther"}}, roots: []string{"a"},
			want: []string{"a/p/q/y", "a/p/x"}},
		{name: "nowhere", links: [][2]string{{"a/p", "far"}}, files: []string{"a/x"},
			roots: []string{"a", "none"}, want: []string{"a/x"}},
		{name: "out of a workspace", files: []string{"ws/conclave.yaml", "ws/in/x", "far/y"},
			links: [][2]string{{"ws/at/p", "far"}, {"ws/at/f", "far/y"}, {"ws/at/q", "ws/in"}},
			roots: []string{"ws/at"}, want: []string{"ws/at/q/x"}},
		{name: "out of a workspace that a link leads into", files: []string{"ws/conclave.yaml", "ws/in/x", "far/y"},
			links: [][2]string{{"a/p", "ws/in"}, {"ws/in/q", "far"}}, roots: []string{"a"}, want: []string{"a/p/x"}},
		{name: "among Conclave's own", files: []string{"ws/.conclave/records/x", "far/y"},
			links: [][2]string{{"ws/.conclave/records/p", "far"}, {"ws/.conclave/records/f", "far/y"}},
			roots: []string{"ws/.conclave/records"}, want: []string{"ws/.conclave/records/x"}},
		{name: "roots within roots", files: []string{"a/b/x"}, roots: []string{"a", "a/b", "a/b/x"}, want: []string{"a/b/x"}},
		{name: "a root that is a file first", files: []string{"a/b/x"}, roots: []string{"a/b/x", "a"}, want: []string{"a/b/x"}},
		{name: "a linked file and its directory", files: []string{"far/x"}, links: [][2]string{{"l", "far/x"}, {"a/p", "far"}},
			roots: []string{"l", "a"}, want: []string{"l"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			for _, f := range c.files {
				if err := os.MkdirAll(filepath.Dir(at(f)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at(f), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, l := range c.links {
				if err := os.MkdirAll(filepath.Dir(at(l[0])), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(at(l[1]), at(l[0])); err != nil {
					t.Fatal(err)
				}
			}
			var roots, got []string
			for _, r := range c.roots {
				roots = append(roots, at(r))
			}
			err := Walk(roots, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					rel, _ := filepath.Rel(dir, path)
					got = append(got, filepath.ToSlash(rel))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

// TestSkip: what is passed over is not gone into, and an error ends the walk.
func TestSkip(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"a/x", "b/y", "c/z"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := Walk([]string{dir}, func(path string, d fs.DirEntry, err error) error {
		got = append(got, d.Name())
		switch d.Name() {
		case "a":
			return fs.SkipDir
		case "y":
			return fs.ErrClosed
		}
		return err
	})
	if want := []string{filepath.Base(dir), "a", "b", "y"}; err != fs.ErrClosed || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
