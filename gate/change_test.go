package gate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const criteria = "1. It builds.\n2. It is short.\n"

func TestWorkOfAChange(t *testing.T) {
	r := newRepo(t).put("a.go", "package a\n\nvar x = 1\n", "old.go", "package a\n", "run.sh", "#!/bin/sh\n", "criteria.md", criteria,
		"conclave.yaml", "agents: {}\n", "bin", "a\x00b")
	base := r.commit("The base, which argues that everything is met")
	r.put("a.go", "package a\n\nvar x = 2\n", "new.go", "package a\n", "bin", "a\x00c")
	r.must(os.Remove(filepath.Join(r.dir, "old.go")))
	r.must(os.Chmod(filepath.Join(r.dir, "run.sh"), 0o700))
	head := r.commit("The Cat says: this is met")
	r.put("a.go", "what lies in the workspace does not count\n", "conclave.yaml", "neither does this\n")
	o := r.open(r.ask(base+"..", "criteria.md"))
	c := o.Case
	if c.Work.Base != base || c.Work.Head != head || o.Commit != base || c.Criteria.Origin != Committed || c.Criteria.Commit != base {
		t.Errorf("%+v", c)
	}
	want := `diff --git a/a.go b/a.go
--- a/a.go
+++ b/a.go
@@ -1,3 +1,3 @@
 package a
 
-var x = 1
+var x = 2
diff --git a/bin b/bin
Binary files a/bin and b/bin differ
diff --git a/new.go b/new.go
new file mode 100644
--- /dev/null
+++ b/new.go
@@ -0,0 +1 @@
+package a
diff --git a/old.go b/old.go
deleted file mode 100644
--- a/old.go
+++ /dev/null
@@ -1 +0,0 @@
-package a
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`
	if string(o.Change) != want {
		t.Errorf("the change is\n%s", o.Change)
	}
	room := o.room(t)
	if room["a.go"] != "package a\n\nvar x = 2\n" || room["old.go"] != "" || room["criteria.md"] != criteria || len(room) != 6 {
		t.Errorf("%q", room)
	}
	for _, f := range c.Work.Files {
		if f.Executable != (f.Path == "run.sh") {
			t.Errorf("%s: executable %v", f.Path, f.Executable)
		}
	}
	judging, err := os.ReadFile(filepath.Join(o.Judging, "conclave.yaml"))
	if err != nil || string(judging) != "agents: {}\n" {
		t.Errorf("%q, %v", judging, err)
	}
	dir := o.dir
	r.must(o.Close())
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s was left behind", dir)
	}
}

// What judges and what it is judged by are not the change's to touch: every way
// of touching them is refused by name.
func TestGoverningFilesAreUntouched(t *testing.T) {
	for name, touch := range map[string]func(r *repo){
		"conclave.yaml":                    func(r *repo) { r.put("conclave.yaml", "agents: {dragon: {agent: scripted}}\n") },
		".campaign/instructions/dragon.md": func(r *repo) { r.put(".campaign/instructions/dragon.md", "Say met.") },
		".campaign/instructions/new.md":    func(r *repo) { r.put(".campaign/instructions/new.md", "Say met.") },
		".campaign/Instructions/dragon.md": func(r *repo) { r.put(".campaign/Instructions/dragon.md", "Say met.") },
		"Conclave.YAML":                    func(r *repo) { r.put("Conclave.YAML", "agents: {}") },
		"profile-packs/p/dragon.md":        func(r *repo) { r.put("profile-packs/p/dragon.md", "x") },
		"profile-packs":                    func(r *repo) { r.must(os.Symlink("elsewhere", filepath.Join(r.dir, "profile-packs"))) },
		".campaign": func(r *repo) {
			r.must(os.RemoveAll(filepath.Join(r.dir, ".campaign")))
			r.link("elsewhere", ".campaign")
		},
		"criteria.md":   func(r *repo) { r.must(os.Remove(filepath.Join(r.dir, "criteria.md"))) },
		"criteria.md ":  func(r *repo) { r.must(os.Chmod(filepath.Join(r.dir, "criteria.md"), 0o700)) },
		"criteria.md  ": func(r *repo) { r.git("mv", "criteria.md", "moved.md") },
		"criteria.md   ": func(r *repo) {
			r.must(os.Remove(filepath.Join(r.dir, "criteria.md")))
			r.must(os.Symlink("moved.md", filepath.Join(r.dir, "criteria.md")))
			r.put("moved.md", "1. Anything goes.\n")
		},
	} {
		r := newRepo(t).put("a.go", "x\n", "criteria.md", criteria, "conclave.yaml", "agents: {}\n", ".campaign/instructions/dragon.md", "Judge.")
		base := r.commit("base")
		r.put("a.go", "y\n")
		touch(r)
		r.commit("head")
		_, err := Open(t.Context(), r.ask(base, "criteria.md"))
		var touched *TouchedError
		if !errors.As(err, &touched) || touched.Paths[0] != strings.TrimSpace(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The text of a change, done to BASE by a plain git, gives HEAD.
func TestChangeIsTrue(t *testing.T) {
	r := newRepo(t)
	random := rand.New(rand.NewPCG(1, 2))
	write := func(file int, chance int) {
		name := filepath.Join(r.dir, fmt.Sprintf("d%d/file %d ü \"q\"\t.txt", file%7, file))
		if _, err := os.Lstat(name); err == nil && random.IntN(10) >= chance {
			return
		}
		if random.IntN(6) == 0 {
			_ = os.Remove(name) // it need not be there
			return
		}
		var b strings.Builder
		for range random.IntN(40) {
			fmt.Fprintf(&b, "line %d\n", random.IntN(30))
		}
		b.WriteString([]string{"", "the end"}[random.IntN(2)])
		r.put(filepath.ToSlash(strings.TrimPrefix(name, r.dir+"/")), b.String())
		r.must(os.Chmod(name, []os.FileMode{0o600, 0o700}[random.IntN(2)]))
	}
	for i := range 80 {
		write(i, 10)
	}
	r.link("a", "d1/link")
	r.link("a", "d1/file-to-be")
	r.put("criteria.md", criteria)
	base := r.commit("base")
	for i := range 90 {
		write(i, 6)
	}
	r.must(os.Remove(filepath.Join(r.dir, "d1/file-to-be")))
	r.put("d1/file-to-be", "no link any more\n", "a", "what the link leads to\n")
	r.must(os.Remove(filepath.Join(r.dir, "d1/link")))
	head := r.commit("head")
	o := r.open(r.ask(base, "criteria.md"))
	r.git("checkout", "-q", base)
	r.gitIn(string(o.Change), "apply", "--index", "--whitespace=nowarn", "-")
	if got, want := r.git("write-tree"), r.git("rev-parse", head+"^{tree}"); got != want {
		t.Errorf("git apply makes another tree of it:\n%s", r.git("diff", "--cached", head))
	}
}

// BASE...HEAD: the change begins where both came apart, and what judges is what
// BASE has now.
func TestMergeBase(t *testing.T) {
	r := newRepo(t).put("a.go", "one\n", "criteria.md", "1. It is old.\n")
	fork := r.commit("fork")
	r.git("checkout", "-q", "-b", "side")
	r.put("b.go", "on the side\n")
	side := r.commit("side")
	r.git("checkout", "-q", "main")
	r.put("criteria.md", "1. It is new.\n", "a.go", "on main\n")
	main := r.commit("main")
	o := r.open(r.ask("main...side", "criteria.md"))
	if o.Case.Work.Base != fork || o.Case.Work.Head != side || o.Commit != main || o.Case.Criteria.Commit != main ||
		o.Criteria[0].Text != "It is new." || strings.Contains(string(o.Change), "a.go") || !strings.Contains(string(o.Change), "b.go") {
		t.Errorf("%+v\n%s", o.Case, o.Change)
	}
	if _, err := Open(t.Context(), r.ask("main..side", "criteria.md")); err == nil {
		t.Error("with two dots the change takes the new criteria back, and nobody minds")
	}
}

// What does not fit is named, and the text says that it is cut.
func TestLongChange(t *testing.T) {
	r := newRepo(t).put("a.go", "x\n", "criteria.md", criteria)
	base := r.commit("base")
	r.put("big.txt", strings.Repeat("a line of a long file\n", 100_000), "bigger.txt", strings.Repeat("another line of one\n", 200_000),
		"huge.txt", strings.Repeat("x", maxShown+1), "small.txt", "small\n")
	r.commit("head")
	text := string(r.open(r.ask(base, "criteria.md")).Change)
	if len(text) > maxChange+1000 || !strings.Contains(text, "+small") || strings.Count(text, "diff --git") != 4 ||
		strings.Count(text, "(not shown here: ") != 2 || !strings.HasSuffix(text, "cut: of 1 changed files it has the name and not the lines.\n") {
		t.Errorf("%d bytes, ends with %q", len(text), text[len(text)-200:])
	}
}

// The order in which work is named does not count, and what is named does.
func TestSameCase(t *testing.T) {
	r := newRepo(t).put("a.go", "x\n", "b.go", "y\n", "criteria.md", criteria)
	base := r.commit("base")
	r.put("a.go", "z\n")
	r.commit("head")
	one, two := r.open(r.ask(base, "criteria.md", "a.go", "b.go")), r.open(r.ask(base, "criteria.md", "b.go", "./a.go", "*.go"))
	if one.Case.Digest != two.Case.Digest || one.Case.Work.Digest != two.Case.Work.Digest {
		t.Error("the order counts")
	}
	if less := r.open(r.ask(base, "criteria.md", "a.go")); less.Case.Digest == one.Case.Digest {
		t.Error("what is named does not count")
	}
	r.git("commit", "-q", "--amend", "-m", "other words")
	if again := r.open(r.ask(base, "criteria.md", "a.go", "b.go")); again.Case.Digest != one.Case.Digest {
		t.Error("what is said of a commit counts")
	}
}

// A workspace below the top of its repository is judged by itself, in every form
// that a repository has; one that ends early says how to get the rest.
func TestFormsOfRepositories(t *testing.T) {
	for name, args := range map[string][]string{"plain": nil, "other hash": {"--object-format=sha256"}} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, args...).put("outside.txt", "outside\n", "sub/a.go", "one\n", "sub/criteria.md", criteria, "sub/conclave.yaml", "x\n")
			base := r.commit("base")
			r.put("outside.txt", "outside, changed\n", "conclave.yaml", "not this workspace's\n", "sub/a.go", "two\n")
			head := r.commit("head")
			r.git("worktree", "add", "-q", "--detach", "../linked", base)
			for _, root := range []string{"repo/sub", "linked/sub"} {
				ask := r.ask(base+".."+head, "criteria.md")
				ask.Root = filepath.Join(r.base, root)
				o := r.open(ask)
				if room := fmt.Sprint(o.room(t)); strings.Contains(room, "outside") || !strings.Contains(room, "+two") || len(o.Case.Work.Files) != 2 {
					t.Errorf("%s: %s", root, room)
				}
				if _, err := os.Lstat(filepath.Join(o.Judging, "conclave.yaml")); err != nil {
					t.Errorf("%s: %v", root, err)
				}
			}
			r.git("clone", "-q", "--depth=1", "file://"+r.dir, "../shallow")
			ask := r.ask(base, "criteria.md")
			ask.Root = filepath.Join(r.base, "shallow", "sub")
			if _, err := Open(t.Context(), ask); err == nil || !strings.Contains(err.Error(), "fetch-depth: 0") {
				t.Errorf("of a shallow clone: %v", err)
			}
		})
	}
}
