//go:build unix

package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// objects opens those of a workspace.
func (p *place) objects(workspace string) *Objects {
	p.t.Helper()
	r, err := Open(p.t.Context(), workspace)
	if err != nil {
		p.t.Fatal(err)
	}
	o, err := r.Objects(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = o.Close()
		_ = r.Close()
	})
	return o
}

// What git understands and we do too means the same; what could mean several
// things, or more than a commit, is refused.
func TestRevisions(t *testing.T) {
	p := newPlace(t)
	p.git("checkout", "-q", "-b", "side", "HEAD~1")
	p.put("repo/c.txt", "c\n")
	p.commit("on the side")
	p.git("checkout", "-q", "main")
	p.git("merge", "-q", "--no-edit", "side")
	p.git("tag", "-a", "-m", "x", "v1")
	p.git("tag", "-a", "-m", "x", "v2", "v1") // a tag of a tag
	p.git("tag", "light")
	p.git("branch", "feature/one.two_3-4")
	p.git("tag", "both", "HEAD~1")
	p.git("branch", "both")
	p.git("tag", "same")
	p.git("branch", "same")
	p.git("update-ref", "refs/remotes/origin/main", "HEAD~1")
	p.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	p.git("tag", "tree", "HEAD^{tree}")
	head := p.git("rev-parse", "HEAD")
	check := func(t *testing.T) {
		o := p.objects(p.repo)
		for _, rev := range []string{"HEAD", "main", "refs/heads/main", "side", "v1", "v2", "light", "feature/one.two_3-4", "origin/main", "origin",
			"HEAD~1", "HEAD~2", "HEAD^", "HEAD^2", "HEAD^2~1", "HEAD^0", "HEAD~0", "HEAD^^", "v1~1", head, head[:12], head[:12] + "~1",
			strings.ToUpper(head[:9])} {
			got, err := o.Commit(t.Context(), rev)
			want := p.git("rev-parse", "--verify", rev+"^{commit}")
			if err != nil || got != want {
				t.Errorf("%s is %s, %v; git says %s", rev, got, err, want)
			}
		}
		if got, err := o.Commit(t.Context(), "same"); err != nil || got != head {
			t.Errorf("both mean the same commit: %s, %v", got, err)
		}
		for rev, says := range map[string]string{
			"both": "means several: refs/heads/both, refs/tags/both", "nowhere": "no branch, tag", "": "no plain name", "-x": "no plain name",
			"--output=x": "no plain name", "HEAD@{1}": "no plain name", "@": "no branch, tag", "@{u}": "no plain name", ":/second": "no plain name",
			"HEAD:a.txt": "no plain name", "HEAD^{tree}": "no plain name", "HEAD^{/x}": "no plain name", "main^@": "no plain name",
			"^main": "no plain name", "main..side": "no plain name", "HEAD~99": "has no parent", "HEAD^3": "has no parent", "tree": "is a tree",
			"a b": "no plain name", "a\nb": "no plain name", "refs/heads/../../config": "no plain name", "../x": "no plain name",
			"main.lock": "no plain name", "$(x)": "no branch, tag", "a\x00b": "no plain name", strings.Repeat("a", 5000): "no plain name",
			strings.Repeat("0", 40): "not in the repository", "deadbeef": "no commit, branch or tag", "HEAD~99999999": "no plain name",
			"FETCH_HEAD": "no branch, tag", "HEAD~1000000": "no plain name",
		} {
			if got, err := o.Commit(t.Context(), rev); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%.60q: %s, %v; want %q", rev, got, err, says)
			}
		}
		if p.ran() {
			t.Error("a planted program ran")
		}
	}
	t.Run("loose", check)
	p.git("pack-refs", "--all")
	p.git("gc", "-q")
	t.Run("packed", check)
}

func TestRange(t *testing.T) {
	p := newPlace(t)
	base := p.git("rev-parse", "HEAD")
	p.git("checkout", "-q", "-b", "side")
	p.put("repo/c.txt", "c\n")
	p.commit("on the side")
	side := p.git("rev-parse", "HEAD")
	p.git("checkout", "-q", "main")
	p.put("repo/d.txt", "d\n")
	p.commit("on main")
	main := p.git("rev-parse", "HEAD")
	o := p.objects(p.repo)
	for text, want := range map[string]Range{
		"main..side": {main, main, side}, "main...side": {main, base, side}, "side": {side, side, main}, "side..": {side, side, main},
		"side...": {side, base, main}, base + ".." + side: {base, base, side},
	} {
		if got, err := o.Range(t.Context(), text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "..", "...", "..side", "a..b..c", "main....side", "main..--help", "-O..x"} {
		if got, err := o.Range(t.Context(), text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
	p.git("checkout", "-q", "--orphan", "alone")
	p.commit("alone")
	if _, err := p.objects(p.repo).Range(t.Context(), "main...alone"); err == nil || !strings.Contains(err.Error(), "no commit in common") {
		t.Error(err)
	}
}

// A clone that ends early says how to get the rest, and one without files too.
func TestShallow(t *testing.T) {
	p := newPlace(t)
	p.git("config", "uploadpack.allowFilter", "true")
	first := p.git("rev-parse", "HEAD~1")
	for name, args := range map[string][]string{"shallow": {"--depth=1"}, "blobless": {"--filter=blob:none", "--no-checkout"}} {
		if out, err := p.plain(p.base, append([]string{"clone", "-q", "file://" + p.repo, name}, args...)...); err != nil {
			t.Fatal(out)
		}
	}
	o := p.objects(filepath.Join(p.base, "shallow"))
	for _, rev := range []string{"HEAD~1", first, first[:8], "nowhere"} {
		if _, err := o.Commit(t.Context(), rev); err == nil || !strings.Contains(err.Error(), "fetch-depth: 0") {
			t.Errorf("%s: %v", rev, err)
		}
	}
	o = p.objects(filepath.Join(p.base, "blobless"))
	id, err := o.Commit(t.Context(), "HEAD~1")
	p.must(err)
	tree, err := o.Tree(id)
	p.must(err)
	if _, err := o.Extract(t.TempDir(), tree, Limits{10, 1 << 20}); err == nil || !strings.Contains(err.Error(), "--refetch") {
		t.Error(err)
	}
}

// Every form of repository gives its trees: other hashes, tables of references,
// linked work trees, a workspace below the top.
func TestTreesOfEveryForm(t *testing.T) {
	forms := map[string]func(p *place) string{
		"plain": func(p *place) string { return p.repo },
		"linked": func(p *place) string {
			p.git("worktree", "add", "-q", "-b", "other", "../linked")
			return filepath.Join(p.base, "linked")
		},
		"below": func(p *place) string {
			p.put("repo/sub/a.txt", "one\n")
			p.put("repo/sub/b.txt", "bee\n")
			p.commit("below")
			return filepath.Join(p.repo, "sub")
		},
	}
	for _, args := range []string{"--object-format=sha256", "--ref-format=reftable"} {
		forms[args] = func(p *place) string {
			if out, err := p.plain(p.base, "init", "-q", args, "-b", "main", "other"); err != nil {
				if !strings.Contains(out, "unknown option") {
					p.t.Fatal(out)
				}
				return p.repo // before 2.45 nobody can have one
			}
			p.repo = filepath.Join(p.base, "other")
			p.put("other/a.txt", "one\n")
			p.put("other/b.txt", "bee\n")
			p.commit("first")
			return p.repo
		}
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			o := p.objects(form(p))
			id, err := o.Commit(t.Context(), "HEAD")
			p.must(err)
			tree, err := o.Tree(id)
			p.must(err)
			dir := t.TempDir()
			skipped, err := o.Extract(dir, tree, Limits{10, 100})
			p.must(err)
			if got := listing(t, dir); got != "a.txt -rw------- one\n b.txt -rw------- bee\n" || len(skipped) > 0 {
				t.Errorf("%q, %v", got, skipped)
			}
		})
	}
}

// listing is what a directory holds: names, modes and words.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, _ := os.Readlink(path)
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		}
		out = append(out, fmt.Sprintf("%s %v %s", rel, info.Mode(), text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// raw stores an object that git itself would not write, under the name that its
// content has, or under another.
func (p *place) raw(kind, content, name string) string {
	p.t.Helper()
	whole := fmt.Sprintf("%s %d\x00%s", kind, len(content), content)
	sum := sha1.Sum([]byte(whole))
	if name == "" {
		name = hex.EncodeToString(sum[:])
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write([]byte(whole))
	p.must(err)
	p.must(z.Close())
	p.put("repo/.git/objects/"+name[:2]+"/"+name[2:], b.String())
	return name
}

// tree is the bytes of one: mode, name, id, mode, name, id …
func treeBytes(entries ...string) string {
	var b strings.Builder
	for i := 0; i < len(entries); i += 3 {
		id, _ := hex.DecodeString(entries[i+2])
		b.WriteString(entries[i] + " " + entries[i+1] + "\x00" + string(id))
	}
	return b.String()
}

func (p *place) commitOf(tree string) string {
	return p.raw("commit", "tree "+tree+"\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n", "")
}

// Trees that git would not have written are refused, and none leaves the
// directory that it is extracted to.
func TestHostileTrees(t *testing.T) {
	p := newPlace(t)
	blob := p.raw("blob", "evil\n", "")
	out := p.raw("blob", p.base+"/outside", "")
	sub := p.raw("tree", treeBytes("100644", "x", blob), "")
	deep := sub
	for range 20 {
		deep = p.raw("tree", treeBytes("40000", strings.Repeat("d", 250), deep), "")
	}
	wide := sub
	for range 12 { // 8^12 files
		var entries []string
		for i := range 8 {
			entries = append(entries, "40000", fmt.Sprint(i), wide)
		}
		wide = p.raw("tree", treeBytes(entries...), "")
	}
	p.must(os.Mkdir(filepath.Join(p.base, "outside"), 0o700))
	for name, c := range map[string]struct {
		tree string // its bytes, or the id of one
		says string
	}{
		"up":                  {treeBytes("100644", "..", blob), "no name of a file"},
		"here":                {treeBytes("40000", ".", sub), "no name of a file"},
		"nothing":             {treeBytes("100644", "", blob), "no name of a file"},
		"a path":              {treeBytes("100644", "../outside/x", blob), "no name of a file"},
		"an absolute path":    {treeBytes("100644", p.base+"/outside/x", blob), "no name of a file"},
		"twice":               {treeBytes("100644", "a", blob, "100755", "a", blob), "twice"},
		"below a link":        {treeBytes("120000", "a", out, "40000", "a", sub), "twice"},
		"a device":            {treeBytes("20000", "a", blob), "neither file nor link"},
		"a set-uid file":      {treeBytes("104755", "a", blob), "neither file nor link"},
		"a mode of its own":   {treeBytes("0100644", "a", blob), "neither file nor link"},
		"cut":                 {treeBytes("100644", "a", blob)[:20], "damaged"},
		"no tree":             {"garbage", "damaged"},
		"a file as directory": {treeBytes("40000", "a", blob), "is a blob and no tree"},
		"a tree as file":      {treeBytes("100644", "a", sub), "is a tree and no blob"},
		"missing":             {treeBytes("100644", "a", strings.Repeat("ab", 20)), "not in the repository"},
		"deep":                {deep, "more than 4096 bytes"},
		"a bomb":              {wide, "more than 500000"},
	} {
		t.Run(name, func(t *testing.T) {
			id := c.tree
			if !objectName.MatchString(id) {
				id = p.raw("tree", c.tree, "")
			}
			o := p.objects(p.repo)
			entries, err := o.Tree(p.commitOf(id))
			if err == nil {
				_, err = o.Extract(t.TempDir(), entries, Limits{10, 100})
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	if left := listing(t, filepath.Join(p.base, "outside")); left != "" {
		t.Errorf("outside there is %s", left)
	}
}

// What is extracted stays in its directory, whatever it is called.
func TestExtract(t *testing.T) {
	p := newPlace(t)
	blob := p.raw("blob", "x", "")
	long := strings.Repeat("n", 300)
	to := p.raw("blob", "../../../etc/passwd", "")
	names := []string{"\n", "a\x1b[2Jb", "\u202egnp.txt", "-rf", ".git", ".GIT", "git~1", "CON", "a:b", `a\b`, "The Cat says that this is met.txt", "ü"}
	slices.Sort(names)
	entries := []string{"160000", "module", strings.Repeat("ab", 20), "120000", "link", to, "100644", long, blob, "100664", "old", blob, "100755", "run", blob}
	for _, name := range names {
		entries = append(entries, "100644", name, blob)
	}
	o := p.objects(p.repo)
	tree, err := o.Tree(p.commitOf(p.raw("tree", treeBytes(entries...), "")))
	p.must(err)
	dir := t.TempDir()
	skipped, err := o.Extract(dir, tree, Limits{100, 1000})
	p.must(err)
	var left []string
	for _, s := range skipped {
		left = append(left, s.Path)
		if strings.Contains(s.Reason, dir) {
			t.Errorf("a path of this machine: %s", s.Reason)
		}
	}
	if slices.Sort(left); !slices.Equal(left, []string{"module", long}) {
		t.Errorf("left out: %q", left)
	}
	for _, name := range names {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "x" {
			t.Errorf("%q: %q, %v", name, b, err)
		}
	}
	if l, err := os.Readlink(filepath.Join(dir, "link")); err != nil || l != "../../../etc/passwd" {
		t.Errorf("the link leads to %q, %v", l, err)
	}
	for _, limits := range []Limits{{3, 1000}, {100, 5}} {
		if _, err := o.Extract(t.TempDir(), tree, limits); err == nil || !strings.Contains(err.Error(), "name less") {
			t.Errorf("%+v: %v", limits, err)
		}
	}
}

// An object that is not what its name says is found, wherever it stands; git
// itself hands it out.
func TestEveryObjectIsHeldAgainstItsName(t *testing.T) {
	p := newPlace(t)
	good := p.git("rev-parse", "HEAD")
	blob := p.raw("blob", "evil\n", "")
	tree := p.raw("tree", treeBytes("100644", "a.txt", blob), "")
	forged := map[string]string{
		"commit": "tree " + tree + "\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n",
		"tree":   treeBytes("100644", "a.txt", blob),
		"blob":   "evil\n",
	}
	for kind, name := range map[string]string{"commit": good, "tree": p.git("rev-parse", "HEAD^{tree}"), "blob": p.git("rev-parse", "HEAD:a.txt")} {
		path := filepath.Join(p.repo, ".git/objects", name[:2], name[2:])
		before, err := os.ReadFile(path)
		p.must(err)
		p.must(os.Remove(path))
		p.raw(kind, forged[kind], name)
		if got := p.git("cat-file", kind, name); kind != "tree" && !strings.Contains(got+"\n", strings.TrimSpace(forged[kind])) {
			t.Errorf("the trap is dead: git gives %q", got)
		}
		o := p.objects(p.repo)
		entries, err := o.Tree(good)
		if err == nil {
			_, err = o.Extract(t.TempDir(), entries, Limits{10, 100})
		}
		if err == nil || !strings.Contains(err.Error(), "another name") {
			t.Errorf("a forged %s: %v", kind, err)
		}
		p.must(os.Remove(path))
		p.must(os.WriteFile(path, before, 0o400))
	}
}

// An object that says it has 3 GB costs neither memory nor time.
func TestInflatedObjects(t *testing.T) {
	p := newPlace(t)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := fmt.Fprintf(z, "blob %d\x00x", int64(3)<<30)
	p.must(err)
	p.must(z.Close())
	id := strings.Repeat("ab", 20)
	p.put("repo/.git/objects/ab/"+id[2:], b.String())
	o := p.objects(p.repo)
	tree, err := o.Tree(p.commitOf(p.raw("tree", treeBytes("100644", "a", id), "")))
	p.must(err)
	if _, err := o.Extract(t.TempDir(), tree, Limits{10, 100}); err == nil {
		t.Error("it was extracted")
	}
}
