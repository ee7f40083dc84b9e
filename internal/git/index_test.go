package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What git has in an index is found in every form that git writes one in, and what
// only looks like it is not.
func TestTracked(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		make   func(p *place) string
		want   bool
	}{
		"nothing of it": {make: func(p *place) string { return p.repo }},
		"not added": {make: func(p *place) string {
			p.put("repo/.conclave/records/x.record", "x")
			return p.repo
		}},
		"committed": {make: func(p *place) string { return p.foreign(".conclave/records/x.record") }, want: true},
		"a file":    {make: func(p *place) string { return p.foreign(".conclave") }, want: true},
		"names that only begin or end so": {make: func(p *place) string {
			p.foreign(".conclaves/x")
			p.foreign("doc/.conclave/x")
			return p.foreign("x.conclave/x")
		}},
		"in a workspace below": {make: func(p *place) string {
			return filepath.Join(p.foreign("sub/.conclave/x"), "sub")
		}, want: true},
		"above the workspace": {make: func(p *place) string {
			p.put("repo/sub/file", "x")
			return filepath.Join(p.foreign(".conclave/x"), "sub")
		}},
		"taken out again": {make: func(p *place) string {
			p.foreign(".conclave/x")
			p.git("rm", "-q", "-r", "--cached", ".conclave")
			return p.repo
		}},
		"version 3": {make: func(p *place) string {
			p.put("repo/.conclave/x", "x")
			p.git("add", "--intent-to-add", "-f", ".conclave/x")
			return p.repo
		}, want: true},
		"version 4": {make: func(p *place) string {
			p.foreign(".concert/y")
			p.foreign(".conclave/x")
			p.git("update-index", "--index-version", "4")
			return p.repo
		}, want: true},
		"version 4 without": {make: func(p *place) string {
			p.foreign(".concert/y")
			p.git("update-index", "--index-version", "4")
			return p.repo
		}},
		"SHA-256":         {format: "sha256", make: func(p *place) string { return p.foreign(".conclave/x") }, want: true},
		"SHA-256 without": {format: "sha256", make: func(p *place) string { return p.foreign("x") }},
		"split": {make: func(p *place) string {
			p.foreign(".conclave/x")
			p.git("update-index", "--split-index")
			p.put("repo/later", "x")
			p.git("add", "later")
			return p.repo
		}, want: true},
		"split, and taken out": {make: func(p *place) string {
			p.foreign(".conclave/x")
			p.git("update-index", "--split-index")
			p.git("rm", "-q", "-r", "--cached", ".conclave")
			p.git("update-index", "--no-split-index")
			return p.repo
		}},
		"linked work tree": {make: func(p *place) string {
			p.foreign(".conclave/x")
			p.git("worktree", "add", "-q", "-b", "side", "../side")
			return filepath.Join(p.base, "side")
		}, want: true},
		"no repository": {make: func(p *place) string {
			p.put("elsewhere/.conclave/x", "x")
			return filepath.Join(p.base, "elsewhere")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if c.format != "" {
				if err := os.RemoveAll(filepath.Join(p.repo, ".git")); err != nil {
					t.Fatal(err)
				}
				p.git("init", "-q", "-b", "main", "--object-format="+c.format)
			}
			if got, err := Tracked(c.make(p), ".conclave"); err != nil || got != c.want {
				t.Errorf("tracked: %v, %v", got, err)
			}
		})
	}
}

// foreign commits a file as somebody does who wants others to have it.
func (p *place) foreign(name string) string {
	p.t.Helper()
	p.put("repo/"+name, "x")
	p.git("add", "-f", name)
	p.git("commit", "-q", "-m", "bring "+name)
	return p.repo
}

// An index that nobody can read is an error, and neither waits nor crashes.
func TestTrackedUnreadable(t *testing.T) {
	p := newPlace(t)
	index := filepath.Join(p.foreign(".conclave/x"), ".git", "index")
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole[:len(whole)-20] {
		if _, _, err := searchIndex(whole[:cut], func([]byte) bool { return false }); err == nil && cut < 100 {
			t.Errorf("an index of %d bytes was read", cut)
		}
	}
	if err := os.WriteFile(index, []byte("DIRC\x00\x00\x00\x05more of it than there is"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Tracked(p.repo, ".conclave"); err == nil || !strings.Contains(err.Error(), p.repo) {
		t.Errorf("said of an index of another version: %v", err)
	}
}

// FuzzIndex: whatever an index holds, reading it ends, and finds only what stands
// there.
func FuzzIndex(f *testing.F) {
	p := newPlace(f)
	for _, version := range []string{"2", "4"} {
		p.foreign(".conclave/" + version)
		p.git("update-index", "--index-version", version)
		b, err := os.ReadFile(filepath.Join(p.repo, ".git", "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		total := 0
		_, _, _ = searchIndex(b, func([]byte) bool { total++; return false })
		if total > len(b) {
			t.Errorf("%d paths in %d bytes", total, len(b))
		}
	})
}

// BenchmarkTracked is what it costs to ask in a repository of 50,000 files.
func BenchmarkTracked(b *testing.B) {
	p := newPlace(b)
	object := p.git("rev-parse", "HEAD:a.txt")
	var list strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&list, "100644 %s\tsome/directory-%d/with/a/file-%d.txt\n", object, i%100, i)
	}
	p.put("list", list.String())
	in, err := os.Open(filepath.Join(p.base, "list"))
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command("git", "update-index", "--add", "--index-info")
	cmd.Dir, cmd.Stdin = p.repo, in
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for b.Loop() {
		if found, err := Tracked(p.repo, ".conclave"); err != nil || found {
			b.Fatal(found, err)
		}
	}
}
