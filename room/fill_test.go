package room

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"conclave/agent"
)

func advisory(t testing.TB, grants ...Grant) *Room {
	t.Helper()
	return open(t, Plan{Role: "cat", Lower: Advisory, Grants: grants})
}

func paths(m Manifest) []string {
	var out []string
	for _, i := range m.Items {
		out = append(out, i.Path)
	}
	slices.Sort(out)
	return out
}

func TestGrantsAreCopies(t *testing.T) {
	src := t.TempDir()
	work := write(t, "final", src, "report.md")
	write(t, "#!/bin/sh\n", src, "tree", "run.sh")
	if err := os.Chmod(filepath.Join(src, "tree", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "deep", src, "tree", "a", "b", "new\nline \u202e.txt")
	r := advisory(t,
		Grant{Kind: "criteria", Name: "criteria.md", Bytes: []byte("be good")},
		Grant{Kind: "final work", Name: "final/report.md", Source: work},
		Grant{Kind: "final work", Name: "tree", Source: filepath.Join(src, "tree"), Withheld: private})
	want := []string{"work/criteria.md", "work/final/report.md", "work/tree/a/b/new\nline \u202e.txt", "work/tree/run.sh"}
	if got := paths(r.Manifest()); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	for _, i := range r.Manifest().Items {
		p := r.Place().OnHost(filepath.FromSlash(i.Path))
		b, err := os.ReadFile(p)
		sum := sha256.Sum256(b)
		if err != nil || int64(len(b)) != i.Size || hex.EncodeToString(sum[:]) != i.SHA256 || i.Kind == "" {
			t.Errorf("%+v: %q %v", i, b, err)
		}
		fi, err := os.Lstat(p)
		if err != nil || !fi.Mode().IsRegular() || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", p, fi.Mode(), err)
		}
		if x := fi.Mode().Perm()&0o100 != 0; x != strings.HasSuffix(p, ".sh") {
			t.Errorf("%s: executable %v", p, x)
		}
	}
	if err := os.WriteFile(r.Place().OnHost("work", "final", "report.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(work); string(b) != "final" {
		t.Errorf("the source changed to %q", b)
	}
}

func TestRefusedGrants(t *testing.T) {
	dir := t.TempDir()
	secret := write(t, "secret", dir, "secret.md")
	link := func(to string, elem ...string) {
		p := filepath.Join(elem...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.Symlink(to, p)); err != nil {
			t.Fatal(err)
		}
	}
	tree := func(name string) string {
		write(t, "work", dir, name, "work.md")
		return filepath.Join(dir, name)
	}
	link(secret, dir, "link")
	link(secret, tree("absolute"), "a.md")
	link("../secret.md", tree("relative"), "a.md")
	link("work.md/../../secret.md", tree("through-file"), "a.md")
	link("..", tree("up"), "sub", "up")
	link("sub/up/../../secret.md", dir, "up", "a.md")
	link("../around/work.md", tree("around"), "a.md")
	link("b.md", tree("chain"), "a.md")
	link("../secret.md", dir, "chain", "b.md")
	link(".git/config", tree("hidden"), "a.md")
	write(t, "secret", dir, "hidden", ".git", "config")
	tree("hard")
	if err := os.Link(secret, filepath.Join(dir, "hard", "a.md")); err != nil {
		t.Fatal(err)
	}
	odd(t, tree("fifo"), tree("socket"))
	for _, name := range []string{"link", "absolute", "relative", "through-file", "up", "around", "chain", "hidden", "hard", "fifo", "socket"} {
		if name == "fifo" && !hasOdd {
			continue
		}
		_, err := Open(t.Context(), Plan{Lower: Advisory, Base: base(t), Grants: []Grant{{Name: "w", Source: filepath.Join(dir, name), Withheld: private}}})
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret\n") {
			t.Errorf("%s: the error quotes content: %v", name, err)
		}
	}
}

func TestLinksWithinTheWork(t *testing.T) {
	dir := t.TempDir()
	write(t, "one", dir, "a", "one.md")
	for name, to := range map[string]string{"two.md": "a/one.md", "three.md": "sub/../two.md", "dir": "a", "dangling": "nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o755), os.Link(filepath.Join(dir, "a", "one.md"), filepath.Join(dir, "hard.md"))); err != nil {
		t.Fatal(err)
	}
	r := advisory(t, Grant{Kind: "work", Name: "w", Source: dir, Withheld: private})
	if got, want := paths(r.Manifest()), []string{"work/w/a/one.md", "work/w/hard.md", "work/w/three.md", "work/w/two.md"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if left := r.Manifest().LeftOut; len(left) != 2 {
		t.Errorf("left out: %+v", left)
	}
	for _, name := range []string{"two.md", "three.md", "hard.md"} {
		fi, err := os.Lstat(r.Place().OnHost("work", "w", name))
		if err != nil || !fi.Mode().IsRegular() {
			t.Errorf("%s is no copy: %v %v", name, fi, err)
		}
		if _, n, ok := identity(fi); ok && n != 1 {
			t.Errorf("%s has %d names", name, n)
		}
	}
}

func TestCopyIsBounded(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a", "b", "c"} {
		write(t, strings.Repeat(n, 100), dir, n)
	}
	for _, l := range []Limits{{MaxCopy: 299}, {MaxFiles: 2}} {
		for _, p := range []Plan{
			{Grants: []Grant{{Name: "w", Source: dir, Withheld: private}}},
			{Workspace: &View{Source: dir, Withheld: private}},
		} {
			p.Limits, p.Lower, p.Base = l, Advisory, base(t)
			_, err := Open(t.Context(), p)
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "299") && !strings.Contains(err.Error(), "2 files") {
				t.Errorf("%+v: %v", l, err)
			}
		}
	}
	r := open(t, Plan{Lower: Advisory, Limits: Limits{MaxCopy: 300, MaxFiles: 3}, Grants: []Grant{{Name: "w", Source: dir, Withheld: private}}})
	if len(r.Manifest().Items) != 3 {
		t.Errorf("%+v", r.Manifest())
	}
}

func TestGrantsDoNotMeet(t *testing.T) {
	for _, g := range [][]Grant{
		{{Name: "a", Bytes: []byte("1")}, {Name: "a", Bytes: []byte("2")}},
		{{Name: "a", Bytes: []byte("1")}, {Name: "a/b", Bytes: []byte("2")}},
		{{Name: "a", Bytes: []byte("1"), Source: "/etc/passwd"}},
	} {
		if _, err := Open(t.Context(), Plan{Lower: Advisory, Base: base(t), Grants: g}); err == nil {
			t.Errorf("opened with %+v", g)
		}
	}
}

// project makes a workspace with everything that must stay outside.
func project(t testing.TB) (dir string, visible []string) {
	t.Helper()
	dir = t.TempDir()
	visible = []string{"README.md", "src/main.go", "src/deep/data.txt", "docs/claude.md.txt", "campaigns.md", "agent_1/x", "agent_10/y"}
	for _, v := range visible {
		write(t, "visible "+v, dir, v)
	}
	for _, h := range []string{".conclave/records/r1", ".git/HEAD", ".git/objects/aa/bb", "conclave.yaml", ".campaign/quest.md", "campaigns/c/story-state.md",
		".claude/settings.json", "CLAUDE.md", "src/CLAUDE.md", "AGENTS.md", ".codex/config.toml", "src/sub/.git", ".mcp.json", "src/.Claude/x", "notes/private"} {
		write(t, "hidden "+h, dir, h)
	}
	if err := os.Link(filepath.Join(dir, ".campaign/quest.md"), filepath.Join(dir, "src", "hard.md")); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"GEMINI.md": "AGENTS.md", "src/abs": filepath.Join(dir, ".git"), "src/rel": "../.conclave/records/r1"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, visible
}

// The view shows the same in all its forms: as a copy, as a file system for an
// agent in this process, and (elsewhere) as mounts.
func TestViewCopied(t *testing.T) {
	dir, visible := project(t)
	r := open(t, Plan{Lower: Advisory, Workspace: &View{Source: dir, Withheld: private}})
	var want []string
	for _, v := range visible {
		want = append(want, "work/workspace/"+v)
	}
	slices.Sort(want)
	if got := paths(r.Manifest()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(r.Manifest().LeftOut) < 15 {
		t.Errorf("left out: %+v", r.Manifest().LeftOut)
	}
	for _, i := range r.Manifest().Items {
		b, err := os.ReadFile(r.Place().OnHost(filepath.FromSlash(i.Path)))
		if err != nil || strings.HasPrefix(string(b), "hidden") {
			t.Errorf("%s: %q %v", i.Path, b, err)
		}
	}
}

func TestViewAtADesk(t *testing.T) {
	dir, visible := project(t)
	d := openDesk(t, Plan{Workspace: &View{Source: dir, Withheld: private}})
	if got := paths(d.Manifest()); !slices.Equal(got, []string{"work/workspace"}) || len(d.Manifest().LeftOut) < 10 {
		t.Errorf("%q, left out: %+v", got, d.Manifest().LeftOut)
	}
	fsys := d.Files()
	var found int
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		b, err := fs.ReadFile(fsys, p)
		if err != nil || strings.HasPrefix(string(b), "hidden") {
			t.Errorf("%s: %q %v", p, b, err)
		}
		found++
		return nil
	})
	if err != nil || found != len(visible) {
		t.Errorf("found %d of %d: %v", found, len(visible), err)
	}
	for _, p := range []string{"workspace/.git/HEAD", "workspace/.GIT/HEAD", "workspace/src/abs/HEAD", "workspace/src/rel", "workspace/CLAUDE.md",
		"workspace/src/hard.md", "workspace/GEMINI.md", "../home", "workspace/../../home", "/etc/passwd", "workspace/notes/private"} {
		if b, err := fs.ReadFile(fsys, p); err == nil {
			t.Errorf("%s: %q", p, b)
		}
	}
	if _, err := fs.ReadFile(fsys, "workspace/agent_1/x"); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := fs.ReadFile(fsys, "workspace/README.md"); err == nil {
		t.Errorf("read at a closed desk: %q", b)
	}
}

func openDesk(t *testing.T, p Plan) *Desk {
	t.Helper()
	d, err := OpenDesk(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// A desk holds what a room of the same plan holds, and refuses the same.
func TestDesk(t *testing.T) {
	dir := t.TempDir()
	write(t, "one", dir, "a", "one.md")
	write(t, "two", dir, "two.md")
	p := Plan{Lower: Advisory, Grants: []Grant{
		{Kind: "stage", Name: "work", Source: dir, Withheld: private},
		{Kind: "quest", Name: "docs/quest.md", Bytes: []byte("The quest")},
	}}
	d, r := openDesk(t, p), open(t, p)
	if !reflect.DeepEqual(d.Manifest(), r.Manifest()) {
		t.Errorf("%+v, not %+v", d.Manifest(), r.Manifest())
	}
	if err := fstest.TestFS(d.Files(), "work/a/one.md", "work/two.md", "docs/quest.md"); err != nil {
		t.Error(err)
	}
	outside := write(t, "secret", t.TempDir(), "s")
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	refused := map[string]Plan{
		"a link that leaves":         p,
		"a name twice":               {Grants: []Grant{{Name: "a", Bytes: []byte("1")}, {Name: "a", Bytes: []byte("2")}}},
		"below a file":               {Grants: []Grant{{Name: "a", Bytes: []byte("1")}, {Name: "a/b", Bytes: []byte("2")}}},
		"over a directory":           {Grants: []Grant{{Name: "a/b", Bytes: []byte("1")}, {Name: "a", Bytes: []byte("2")}}},
		"a name that leaves":         {Grants: []Grant{{Name: "../a", Bytes: []byte("1")}}},
		"a taken view":               {Grants: []Grant{{Name: "workspace/a", Bytes: []byte("1")}}, Workspace: &View{Source: dir, Withheld: private}},
		"a view without a rule":      {Workspace: &View{Source: dir}},
		"a directory without a rule": {Grants: []Grant{{Name: "w", Source: filepath.Join(dir, "a")}}},
	}
	for name, p := range refused {
		if _, err := OpenDesk(t.Context(), p); err == nil {
			t.Errorf("%s: at a desk", name)
		}
		p.Lower = Advisory
		if name == "a taken view" {
			continue // a room that copies joins the two
		}
		if r, err := Open(t.Context(), p); err == nil {
			r.Close()
			t.Errorf("%s: in a room", name)
		}
	}
}

func TestHandIn(t *testing.T) {
	d := openDesk(t, Plan{})
	for _, f := range []File{{"verdict.md", []byte("no")}, {"sub/more", []byte("more")}, {"verdict.md", []byte("yes")}} {
		if err := d.HandIn(f.Name, f.Data); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "../up", "/abs", "sub", "verdict.md/x"} {
		if err := d.HandIn(name, []byte("x")); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	if err := d.HandIn("large", make([]byte, maxOutboxFile+1)); err == nil {
		t.Error("a file over the cap was taken")
	}
	files, left, err := d.TakeOutbox()
	want := []File{{"verdict.md", []byte("yes")}, {"sub/more", []byte("more")}}
	if err != nil || len(left) > 0 || !reflect.DeepEqual(files, want) {
		t.Errorf("%q %v %v", files, left, err)
	}
	if files, _, err := d.TakeOutbox(); err != nil || len(files) > 0 {
		t.Errorf("taken twice: %q %v", files, err)
	}
	for i := range maxOutboxFiles + 1 {
		err = d.HandIn(fmt.Sprintf("many/%d", i), nil)
	}
	if !errors.Is(err, errFull) {
		t.Errorf("%d files: %v", maxOutboxFiles+1, err)
	}
}

func TestOutbox(t *testing.T) {
	r := advisory(t)
	out := r.Place().OnHost(agent.OutboxDir)
	secret := write(t, "secret", t.TempDir(), "s")
	write(t, "verdict", out, "verdict.md")
	write(t, "more", out, "sub", "new\nline")
	for name, to := range map[string]string{"abs": secret, "up": "../home", "ok": "verdict.md"} {
		if err := os.Symlink(to, filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "large"), make([]byte, maxOutboxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	odd(t, out, "")
	files, left, err := r.TakeOutbox()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name+"="+string(f.Data))
	}
	if !slices.Equal(names, []string{"sub/new\nline=more", "verdict.md=verdict"}) {
		t.Errorf("%q", names)
	}
	if want := 4; len(left) < want {
		t.Errorf("left %+v", left)
	}
	if rest, err := os.ReadDir(out); err != nil || len(rest) > 0 {
		t.Errorf("still there: %v %v", rest, err)
	}
	if _, err := os.Stat(secret); err != nil {
		t.Errorf("emptying went through a link: %v", err)
	}
	for i := range maxOutboxFiles + 5 {
		write(t, "x", out, "many", strings.Repeat("x", i+1)[:min(i+1, 20)]+string(rune('a'+i%26))+strings.Repeat("y", i/26))
	}
	files, left, err = r.TakeOutbox()
	if err != nil || len(files) > maxOutboxFiles || !strings.Contains(left[len(left)-1].Why, "more than") {
		t.Errorf("%d files, left %+v, %v", len(files), left, err)
	}
}
