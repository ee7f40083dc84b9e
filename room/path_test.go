package room

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A name that is accepted stays below work, whatever it is joined to.
func TestNamesStayBelow(t *testing.T) {
	seg := rapid.OneOf(rapid.SampledFrom([]string{"a", "..", ".", "", "...", " ", "\n", "a\nb", "agent_1", "agent_10", "~", "\u202e", "C:", "nul", "\\", "..\\x", "\x00"}), rapid.StringN(0, 6, 20))
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(seg, 0, 6).Draw(t, "segments"), "/")
		if rapid.Bool().Draw(t, "slash") {
			name += "/"
		}
		if checkName(name) != nil {
			return
		}
		root := "/room/work"
		if got := path.Join(root, name); !within(root, got) || got == root || got != root+"/"+name {
			t.Fatalf("%q leads to %q", name, got)
		}
	})
	for _, bad := range []string{"", ".", "..", "/a", "a/", "a//b", "./a", "a/.", "a/..", "../a", "a/../b", "a\x00b", `a\b`} {
		if checkName(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	for _, good := range []string{"a", "a/b", "a\nb", "...", "..a", "a b", " ", "ä/\u202e"} {
		if err := checkName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

// within compares segments: a path is within another exactly when its
// segments begin with those of the other.
func TestWithinIsBySegment(t *testing.T) {
	seg := rapid.SampledFrom([]string{"agent_1", "agent_10", "agent", "a", "ä", "A", "a b", "a\nb", "..."})
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(seg, 1, 4).Draw(t, "a")
		b := rapid.SliceOfN(seg, 1, 5).Draw(t, "b")
		if rapid.Bool().Draw(t, "below") {
			b = append(slices.Clone(a), b...)
		}
		want := len(b) >= len(a) && slices.Equal(a, b[:len(a)])
		if got := within("/"+filepath.Join(a...), "/"+filepath.Join(b...)); got != want {
			t.Fatalf("within(%q, %q) = %v", a, b, got)
		}
	})
}

// A tree of directories, files and links that point anywhere: what resolve
// says lies within the tree, is no link, is not hidden, and is what the system
// itself finds there.
func TestResolveStaysInside(t *testing.T) {
	top := t.TempDir()
	names := []string{"a", "b", "A", "agent_1", "agent_10", "n\nl", "ü", ".git", "link1", "link2"}
	var n int
	rapid.Check(t, func(t *rapid.T) {
		n++
		outer := filepath.Join(top, "t"+string(rune('0'+n%10))+strings.Repeat("x", n/10))
		dir := filepath.Join(outer, "work")
		noErr(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
		defer os.RemoveAll(outer)
		noErr(t, os.WriteFile(filepath.Join(outer, "secret"), []byte("secret"), 0o644))
		noErr(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
		noErr(t, os.WriteFile(filepath.Join(dir, ".git", "a"), []byte("hidden"), 0o644))
		path := rapid.Custom(func(t *rapid.T) string {
			segs := rapid.SliceOfN(rapid.SampledFrom(append([]string{"..", ".", "", "secret", "work"}, names...)), 1, 5).Draw(t, "segs")
			p := strings.Join(segs, "/")
			if rapid.IntRange(0, 5).Draw(t, "absolute") == 0 {
				p = dir + "/" + p
			}
			return p
		})
		for range rapid.IntRange(1, 6).Draw(t, "entries") {
			at := filepath.Join(dir, rapid.SampledFrom([]string{".", "a", "a/b"}).Draw(t, "in"), rapid.SampledFrom(names).Draw(t, "name"))
			if rapid.Bool().Draw(t, "file") {
				_ = os.WriteFile(at, []byte("inside"), 0o644) // may exist as something else
			} else if to := path.Draw(t, "to"); to != "" {
				_ = os.Symlink(to, at)
			}
		}
		root, err := os.OpenRoot(dir)
		noErr(t, err)
		defer root.Close()
		asked := path.Draw(t, "asked")
		if filepath.IsAbs(asked) {
			asked = strings.TrimLeft(asked, "/")
		}
		got, err := resolve(root, asked, private)
		if err != nil {
			return
		}
		full := filepath.Join(dir, got)
		real, err := filepath.EvalSymlinks(full)
		realDir, _ := filepath.EvalSymlinks(dir)
		if err != nil || real != filepath.Join(realDir, got) {
			t.Fatalf("%q resolved to %q, which is %q (%v)", asked, got, real, err)
		}
		if !within(realDir, real) || private(got, false, nil) != "" {
			t.Fatalf("%q resolved to %q", asked, got)
		}
		if b, err := os.ReadFile(full); err == nil && string(b) != "inside" {
			t.Fatalf("%q reads %q", asked, b)
		}
	})
}

func noErr(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The same trees, granted whole: nothing but what is inside comes along.
func TestFillStaysInside(t *testing.T) {
	top := base(t)
	t.Cleanup(func() { os.RemoveAll(filepath.Join(top, "outer")) })
	rapid.Check(t, func(t *rapid.T) {
		outer := filepath.Join(top, "outer")
		noErr(t, os.RemoveAll(outer))
		dir := filepath.Join(outer, "agent_1")
		for _, d := range []string{filepath.Join(dir, "sub"), filepath.Join(outer, "agent_10"), filepath.Join(outer, "to")} {
			noErr(t, os.MkdirAll(d, 0o755))
		}
		for _, f := range []string{filepath.Join(outer, "secret"), filepath.Join(outer, "agent_10", "f")} {
			noErr(t, os.WriteFile(f, []byte("secret"), 0o644))
		}
		noErr(t, os.WriteFile(filepath.Join(dir, "f"), []byte("inside"), 0o644))
		for i := range rapid.IntRange(0, 4).Draw(t, "links") {
			to := rapid.SampledFrom([]string{"f", "../f", "../../secret", "../agent_10/f", "sub/../../secret", "../secret", outer + "/secret", dir + "/f",
				"../agent_1/f", "sub/f", "l0", "l1", ".", "..", "sub", "nothing", "f/", "f\n"}).Draw(t, "to")
			at := rapid.SampledFrom([]string{"", "sub"}).Draw(t, "in")
			_ = os.Symlink(to, filepath.Join(dir, at, "l"+string(rune('0'+i))))
		}
		if rapid.IntRange(0, 3).Draw(t, "hard") == 0 {
			noErr(t, os.Link(filepath.Join(outer, "secret"), filepath.Join(dir, "h")))
		}
		to, err := os.OpenRoot(filepath.Join(outer, "to"))
		noErr(t, err)
		defer to.Close()
		m, err := fill(diskSink{Root: to}, []Grant{{Name: "w", Source: dir, Withheld: private}}, nil, Limits{}.withDefaults())
		if err != nil {
			if !errors.Is(err, ErrRefused) {
				t.Fatal(err)
			}
			return
		}
		for _, i := range m.Items {
			b, err := os.ReadFile(filepath.Join(outer, "to", strings.TrimPrefix(i.Path, "work/")))
			if err != nil || string(b) != "inside" {
				t.Fatalf("%s: %q %v", i.Path, b, err)
			}
		}
	})
}
