package gate

import (
	"errors"
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
		"criteria.md":                      func(r *repo) { r.must(os.Remove(filepath.Join(r.dir, "criteria.md"))) },
		"criteria.md ":                     func(r *repo) { r.must(os.Chmod(filepath.Join(r.dir, "criteria.md"), 0o700)) },
		"criteria.md  ":                    func(r *repo) { r.git("mv", "criteria.md", "moved.md") },
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
