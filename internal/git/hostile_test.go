//go:build unix

package git

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// trap is a way to make git do something that a workspace must not.
type trap struct {
	plant func(p *place) (workspace string)
	// live is the plain command that runs what was planted; without one no
	// plain command does that without a terminal or a network.
	live []string
	// refused is what the error says; without one the repository is read.
	refused string
	// unsure: whether files changed is not known, and an error says why
	unsure bool
	// silent: not all is known, and an error says why
	silent bool
}

const canary = "canary-of-another-repository"

// config appends to the repository's configuration.
func (p *place) config(text string) {
	p.t.Helper()
	f, err := os.OpenFile(filepath.Join(p.repo, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.ReplaceAll(text, "EVIL", p.evil)); err != nil {
		p.t.Fatal(err)
	}
}

// configured is a repository with these settings, attributes for every file,
// and a changed and a touched file.
func configured(text, attributes string) func(p *place) string {
	return func(p *place) string {
		if attributes != "" {
			p.put("repo/.gitattributes", attributes)
			p.commit("attributes")
		}
		p.config(text)
		p.touch("a.txt")
		p.put("repo/b.txt", "changed\n")
		return p.repo
	}
}

// other makes another repository of the same person, with a canary in it.
func (p *place) other() string {
	dir := filepath.Join(p.base, "other")
	mine := p.repo
	defer func() { p.repo = mine }()
	if err := os.Mkdir(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.repo = dir
	p.git("init", "-q", "-b", "main")
	p.put("other/secret.txt", canary+"\n")
	p.commit(canary)
	p.put("other/secret.txt", canary+" changed\n")
	return dir
}

// must ends the test for an error of its own.
func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// replaced puts something else in the place of a file of .git.
func replaced(name string, put func(p *place, path string)) func(p *place) string {
	return func(p *place) string {
		path := filepath.Join(p.repo, ".git", filepath.FromSlash(name))
		p.must(os.RemoveAll(path))
		p.must(os.MkdirAll(filepath.Dir(path), 0o700))
		put(p, path)
		return p.repo
	}
}

func fifo(p *place, path string) { p.must(syscall.Mkfifo(path, 0o600)) }

func linkTo(name string) func(p *place, path string) {
	return func(p *place, path string) {
		p.other()
		p.must(os.Symlink(filepath.Join(p.base, "other", filepath.FromSlash(name)), path))
	}
}

func text(s string) func(p *place, path string) {
	return func(p *place, path string) { p.must(os.WriteFile(path, []byte(s), 0o600)) }
}

// missingTree takes the newest tree away, so that a promisor would be asked.
func missingTree(remote string) func(p *place) string {
	return func(p *place) string {
		tree := p.git("rev-parse", "HEAD^{tree}")
		p.must(os.Remove(filepath.Join(p.repo, ".git", "objects", tree[:2], tree[2:])))
		p.git("config", "core.repositoryformatversion", "1")
		p.config("[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\tpromisor = true\n" + remote)
		return p.repo
	}
}

func hostile() map[string]trap {
	status, log, diff := []string{"status"}, []string{"log", "--name-status"}, []string{"diff"}
	out := map[string]trap{
		"clean filter":    {plant: configured("[filter \"evil\"]\n\tclean = EVIL\n", "* filter=evil\n"), live: status},
		"process filter":  {plant: configured("[filter \"evil\"]\n\tprocess = EVIL\n\trequired\n", "* filter=evil\n"), live: status},
		"smudge filter":   {plant: configured("[filter \"evil\"]\n\tsmudge = EVIL\n", "* filter=evil\n"), live: []string{"checkout", "b.txt"}},
		"external diff":   {plant: configured("[diff]\n\texternal = EVIL\n", ""), live: diff},
		"diff driver":     {plant: configured("[diff \"evil\"]\n\tcommand = EVIL\n", "* diff=evil\n"), live: diff},
		"text conversion": {plant: configured("[diff \"evil\"]\n\ttextconv = EVIL\n", "* diff=evil\n"), live: diff},
		"file monitor":    {plant: configured("[core]\n\tfsmonitor = EVIL\n", ""), live: status},
		"hooks path": {plant: func(p *place) string {
			p.must(os.Symlink(p.evil, filepath.Join(p.base, "post-index-change")))
			return configured("[core]\n\thooksPath = "+p.base+"\n", "")(p)
		}, live: status},
		"pager": {plant: configured("[core]\n\tpager = EVIL\n[pager]\n\tlog = EVIL\n\tstatus = EVIL\n\tdiff = EVIL\n", "")},
		"alias": {plant: configured("[alias]\n\tst = !EVIL\n\tstatus = !EVIL\n\tlog = !EVIL\n\tconfig = !EVIL\n", ""), live: []string{"st"}},
		"include": {plant: func(p *place) string {
			p.put("repo/.git/more", "[core]\n\tfsmonitor = "+p.evil+"\n")
			return configured("[include]\n\tpath = more\n", "")(p)
		}, live: status},
		"conditional include": {plant: func(p *place) string {
			p.put("more", "[core]\n\tfsmonitor = "+p.evil+"\n")
			return configured("[includeIf \"gitdir:**\"]\n\tpath = "+p.base+"/more\n", "")(p)
		}, live: status},
		"configuration of a work tree": {plant: func(p *place) string {
			p.put("repo/.git/config.worktree", "[core]\n\tfsmonitor = "+p.evil+"\n")
			p.git("config", "core.repositoryformatversion", "1")
			return configured("[extensions]\n\tworktreeConfig = true\n", "")(p)
		}, live: status},
		"lazy fetch by ssh":     {plant: missingTree("\turl = ssh://127.0.0.1/x\n[core]\n\tsshCommand = EVIL\n"), live: log, silent: true},
		"lazy fetch by program": {plant: missingTree("\turl = /nonexistent\n\tuploadpack = EVIL\n"), live: nil, silent: true},
		"lazy fetch by ext":     {plant: missingTree("\turl = ext::EVIL\n[protocol \"ext\"]\n\tallow = always\n"), live: log, silent: true},
		"lazy fetch by file":    {plant: missingTree("\turl = file://BASE\n\tuploadpack = EVIL\n"), live: nil, silent: true},
		"signature program": {plant: func(p *place) string {
			raw := p.git("cat-file", "commit", "HEAD")
			head, body, _ := strings.Cut(raw, "\n\n")
			p.put("signed", head+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"+body+"\n")
			p.git("update-ref", "refs/heads/main", p.git("hash-object", "-t", "commit", "-w", "../signed"))
			return configured("[gpg]\n\tprogram = EVIL\n[log]\n\tshowSignature = true\n", "")(p)
		}, live: log},
		"credential helper and prompts": {plant: configured("[credential]\n\thelper = !EVIL\n[core]\n\taskPass = EVIL\n\tgitProxy = EVIL\n\tsshCommand = EVIL\n", "")},
		"editor":                        {plant: configured("[core]\n\teditor = EVIL\n[sequence]\n\teditor = EVIL\n", ""), live: []string{"commit", "--amend"}},
		"a submodule's own settings": {plant: func(p *place) string {
			p.git("clone", "-q", ".", "../lib")
			p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "lib")
			p.commit("second commit: lib")
			p.must(os.WriteFile(filepath.Join(p.repo, ".git/modules/lib/config"), []byte("[core]\n\trepositoryformatversion = 0\n\tworktree = ../../../lib\n\tfsmonitor = "+p.evil+"\n"), 0o600))
			return p.repo
		}, live: status},
		"a submodule's update": {plant: func(p *place) string {
			p.git("clone", "-q", ".", "../lib")
			p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "lib")
			p.commit("second commit: lib")
			return configured("[submodule \"lib\"]\n\tupdate = !EVIL\n\tactive = true\n", "")(p)
		}, live: []string{"submodule", "update", "--force"}},
		"a nested repository": {plant: func(p *place) string {
			p.git("clone", "-q", ".", "nested")
			p.must(os.WriteFile(filepath.Join(p.repo, "nested/.git/config"), []byte("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "+p.evil+"\n"), 0o600))
			p.git("add", "nested")
			p.git("commit", "-qm", "second commit: nested")
			return p.repo
		}, live: status},
		"bare and embedded, W2": {plant: embeddedBare, live: status, refused: ErrNone.Error()},
		"work tree elsewhere": {plant: func(p *place) string {
			p.other()
			p.put("other/b.txt", canary)
			return configured("[core]\n\tworktree = "+p.base+"/other\n", "")(p)
		}},
		"replaced commit": {plant: func(p *place) string {
			p.other()
			p.git("fetch", "-q", "../other")
			p.git("replace", "HEAD", "FETCH_HEAD")
			return p.repo
		}},
		"graft": {plant: func(p *place) string {
			p.other()
			p.git("fetch", "-q", "../other")
			p.put("repo/.git/info/grafts", p.git("rev-parse", "HEAD")+" "+p.git("rev-parse", "FETCH_HEAD")+"\n")
			return p.repo
		}},
		"huge index of a pack": {plant: func(p *place) string {
			for _, ext := range []string{"idx", "pack"} {
				path := filepath.Join(p.repo, ".git/objects/pack/pack-"+strings.Repeat("a", 40)+"."+ext)
				p.put("repo/.git/objects/pack/"+filepath.Base(path), "\377tOc\000\000\000\002")
				p.must(os.Truncate(path, 1<<33))
			}
			return p.repo
		}},
		"broken commit graph": {plant: replaced("objects/info/commit-graph", text("CGPH\x01\x01\x04\x00garbage"))},
		"chain of references": {plant: func(p *place) string {
			for i := range 12 {
				p.put(fmt.Sprintf("repo/.git/refs/heads/r%d", i), fmt.Sprintf("ref: refs/heads/r%d\n", i+1))
			}
			p.put("repo/.git/HEAD", "ref: refs/heads/r0\n")
			return p.repo
		}, refused: "more than 5 references"},
		"circle of references":     {plant: replaced("refs/heads/main", text("ref: refs/heads/main\n")), refused: "more than 5 references"},
		"reference that is a path": {plant: replaced("HEAD", text("ref: refs/heads/../../../other/.git/refs/heads/main\n")), refused: "is no name of a reference"},
		"HEAD that is an option":   {plant: replaced("HEAD", text("--output=x\n")), refused: "no name of a commit"},
		"unknown references":       {plant: configured("[extensions]\n\trefStorage = evil\n", ""), refused: "refStorage"},
		"reftable that is none":    {plant: configured("[extensions]\n\trefStorage = reftable\n", ""), refused: "tables.list"},
		"reftable that leads out": {plant: func(p *place) string {
			p.put("repo/.git/reftable/tables.list", "../../../other/x\n")
			return configured("[extensions]\n\trefStorage = reftable\n", "")(p)
		}, refused: "none of its own"},
		"reftable of garbage": {plant: func(p *place) string {
			const name = "0x000000000001-0x000000000001-0badcafe.ref"
			p.put("repo/.git/reftable/tables.list", name+"\n")
			p.put("repo/.git/reftable/"+name, "REFT\x01\xff\xff\xffgarbage")
			return configured("[extensions]\n\trefStorage = reftable\n", "")(p)
		}, refused: "git symbolic-ref"},
		"settings that are none":    {plant: replaced("config", text("[core\n\x00 = = [\n")), refused: "config"},
		"huge settings":             {plant: replaced("config", text(strings.Repeat("[a]\n", 2<<20))), refused: "more than"},
		"shallow list that is none": {plant: replaced("shallow", text("--upload-pack=x\n")), refused: "no name of a commit"},
		"index that is none":        {plant: replaced("index", text("DIRC\x00\x00\x00\x02\xff\xff\xff\xff")), unsure: true},
		"inflated commit":           {plant: inflated, silent: true},
		"other common directory":    {plant: replaced("commondir", text("../../other/.git\n")), refused: "commondir"},
		"alternates": {plant: func(p *place) string {
			p.put("repo/.git/objects/info/alternates", p.other()+"/.git/objects\n")
			p.put("repo/.git/HEAD", mustHead(p)+"\n")
			return p.repo
		}, refused: "alternates", live: nil},
		"objects that are a link":   {plant: replaced("objects", linkTo(".git/objects")), refused: "another repository"},
		"packs that are a link":     {plant: replaced("objects/pack", linkTo(".git/objects")), refused: "another repository"},
		"an object that is a link":  {plant: replaced("objects/ab/"+strings.Repeat("c", 38), linkTo("secret.txt")), refused: "another repository"},
		"HEAD that is a link":       {plant: replaced("HEAD", linkTo("secret.txt")), refused: "HEAD"},
		"branch that is a link":     {plant: replaced("refs/heads/main", linkTo(".git/refs/heads/main")), refused: "escapes"},
		"settings that are a link":  {plant: replaced("config", linkTo("secret.txt")), refused: "escapes"},
		"ignored that are a link":   {plant: replaced("info/exclude", linkTo("secret.txt")), unsure: true},
		"repository that is a link": {plant: replaced("", linkTo(".git")), refused: "could show another"},
		"file that leads elsewhere": {plant: replaced("", func(p *place, path string) {
			text("gitdir: "+p.other()+"/.git\n")(p, path)
		}), refused: "does not lead back"},
		"file that leads to another's work tree": {plant: func(p *place) string {
			other := p.other()
			_, err := p.plain(other, "worktree", "add", "-q", "../theirs")
			p.must(err)
			return replaced("", text("gitdir: "+other+"/.git/worktrees/theirs\n"))(p)
		}, refused: "does not lead back"},
		"false work tree of another": {plant: func(p *place) string {
			p.other()
			p.put("repo/fake/gitdir", p.repo+"/.git\n")
			p.put("repo/fake/commondir", p.base+"/other/.git\n")
			p.put("repo/fake/HEAD", "ref: refs/heads/main\n")
			return replaced("", text("gitdir: fake\n"))(p)
		}, refused: "does not lead back"},
	}
	for _, name := range []string{"HEAD", "config", "shallow", "refs/heads/main", "objects/info/alternates", "objects/pack/x.idx"} {
		out["FIFO as "+name] = trap{plant: replaced(name, fifo), refused: "no regular file"}
	}
	out["FIFO as refs/tags/v1"] = trap{plant: replaced("refs/tags/v1", fifo)}
	out["FIFO as index"] = trap{plant: replaced("index", fifo), unsure: true}
	out["FIFO as info/exclude"] = trap{plant: replaced("info/exclude", fifo), unsure: true}
	out["FIFO as packed-refs"] = trap{plant: replaced("packed-refs", fifo)}
	out["FIFO as .git"] = trap{plant: replaced("", fifo), refused: "is a link or no file"}
	// Git itself waits for these: what is bounded is for how long.
	out["FIFOs in the work tree"] = trap{plant: func(p *place) string {
		p.must(os.MkdirAll(filepath.Join(p.repo, "nested/.git/objects"), 0o700))
		p.must(os.Mkdir(filepath.Join(p.repo, "nested/.git/refs"), 0o700))
		p.must(os.Remove(filepath.Join(p.repo, "a.txt")))
		for _, name := range []string{".gitignore", ".gitattributes", ".gitmodules", "nested/.git/HEAD", "a.txt"} {
			fifo(p, filepath.Join(p.repo, filepath.FromSlash(name)))
		}
		return p.repo
	}, silent: true}
	return out
}

func mustHead(p *place) string {
	out, err := p.plain(filepath.Join(p.base, "other"), "rev-parse", "HEAD")
	p.must(err)
	return strings.TrimSpace(out)
}

// embeddedBare is the reproduction of W2: a directory of a clone that is a bare
// repository with its own settings.
func embeddedBare(p *place) string {
	dir := filepath.Join(p.base, "proj")
	p.put("proj/a.txt", "x\n")
	p.put("proj/.gitattributes", "a.txt filter=evil\n")
	_, err := p.plain(p.base, "init", "-q", "--bare", "b")
	p.must(err)
	out, err := exec.Command("sh", "-c", "mv '"+p.base+"'/b/* '"+dir+"'/").CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	p.put("proj/config", "[core]\n\trepositoryformatversion=0\n\tbare=false\n\tworktree=.\n[filter \"evil\"]\n\tclean="+p.evil+"\n")
	for _, args := range [][]string{{"add", "a.txt", ".gitattributes"}, {"commit", "-qm", "x"}} {
		if out, err := p.plain(dir, append([]string{"--git-dir=.", "--work-tree=.", "-c", "filter.evil.clean=cat"}, args...)...); err != nil {
			p.t.Fatal(out)
		}
	}
	when := time.Now().Add(-time.Hour)
	p.must(os.Chtimes(filepath.Join(dir, "a.txt"), when, when))
	return dir
}

// inflated is a commit that says that it has 3 GB: git makes room for them.
func inflated(p *place) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := fmt.Fprintf(z, "commit %d\x00tree %s\nauthor a <a> 1 +0000\n", 3<<30, p.git("rev-parse", "HEAD^{tree}"))
	p.must(err)
	p.must(z.Close())
	id := strings.Repeat("ab", 20)
	p.put("repo/.git/objects/ab/"+id[2:], b.String())
	p.put("repo/.git/refs/heads/main", id+"\n")
	return p.repo
}

// Nothing that a repository names is run (W2), nothing of another one is shown,
// and it ends in time. Where a plain git runs it, that is shown too: a trap that
// catches nobody proves nothing.
func TestHostile(t *testing.T) {
	for name, trap := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			workspace := trap.plant(p)
			start := time.Now()
			got := ask(t.Context(), workspace)
			if took := time.Since(start); took > patience+3*time.Second {
				t.Errorf("it took %v", took)
			}
			p.judge(trap, got)
			if trap.live == nil {
				return
			}
			if out, _ := p.plain(workspace, trap.live...); !p.ran() {
				t.Errorf("the trap is dead: git %v does not run it:\n%s", trap.live, out)
			}
		})
	}
}

func (p *place) judge(trap trap, got said) {
	p.t.Helper()
	if p.ran() {
		p.t.Errorf("a planted program ran")
		p.must(os.Remove(p.mark))
	}
	if all := got.all(); strings.Contains(all, canary) {
		p.t.Errorf("another repository is shown:\n%s", all)
	}
	opened := got.errs["open"]
	switch {
	case trap.refused != "" && (opened == nil || !strings.Contains(opened.Error(), trap.refused)):
		p.t.Errorf("it is not refused for %q: %v", trap.refused, opened)
	case trap.refused == "" && opened != nil:
		p.t.Errorf("it is refused: %v", opened)
	case trap.refused == "" && !trap.silent && !strings.Contains(got.history, "second commit"):
		p.t.Errorf("the history is %q, %v", got.history, got.errs)
	case trap.silent && got.errs["history"] == nil && got.errs["diff"] == nil:
		p.t.Errorf("nothing says that the history is not whole: %q", got.history)
	}
	if trap.unsure && got.errs["dirty"] == nil {
		p.t.Errorf("nothing says that it is not known what changed: dirty is %v", got.dirty)
	}
	for what, err := range got.errs {
		p.t.Logf("%s: %v", what, err)
	}
}

// A git of the workspace's, or of a relative directory of PATH, is not run, and
// nothing of the environment steers the real one.
func TestProgramAndEnvironment(t *testing.T) {
	p := newPlace(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(p.repo, "bin"), filepath.Join(p.base, "bin")} {
		p.must(os.MkdirAll(dir, 0o700))
		p.must(os.Symlink(p.evil, filepath.Join(dir, "git")))
	}
	p.must(os.Symlink(filepath.Join(p.repo, "bin"), filepath.Join(p.base, "way")))
	other := p.other()
	t.Chdir(p.base)
	t.Setenv("PATH", strings.Join([]string{"bin", "", ".", filepath.Join(p.repo, "bin"), filepath.Join(p.base, "way"), filepath.Dir(real)}, ":"))
	for name, value := range map[string]string{
		"GIT_DIR": other + "/.git", "GIT_EXTERNAL_DIFF": p.evil, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor",
		"GIT_CONFIG_VALUE_0": p.evil, "GIT_EXEC_PATH": filepath.Join(p.base, "bin"), "GIT_ALTERNATE_OBJECT_DIRECTORIES": other + "/.git/objects",
		"GIT_TRACE": p.mark, "LD_PRELOAD": "",
	} {
		t.Setenv(name, value)
	}
	got := ask(t.Context(), p.repo)
	if p.ran() || len(got.errs) > 0 || !strings.Contains(got.history, "second commit") || strings.Contains(got.all(), canary) {
		t.Errorf("ran %v, %+v", p.ran(), got)
	}
	t.Setenv("PATH", filepath.Join(p.repo, "bin"))
	if got := ask(t.Context(), p.repo); p.ran() || got.errs["open"] == nil || !strings.Contains(got.errs["open"].Error(), "not installed, or not on the PATH") {
		t.Errorf("ran %v, %v", p.ran(), got.errs)
	}
}

// A repository above the workspace is the workspace's only if nobody else put
// it there.
func TestAboveTheWorkspace(t *testing.T) {
	p := newPlace(t)
	sub := filepath.Join(p.repo, "sub")
	p.must(os.Mkdir(sub, 0o700))
	if got := ask(t.Context(), sub); len(got.errs) > 0 {
		t.Fatalf("its own: %v", got.errs)
	}
	p.must(os.Chmod(p.repo, 0o777|os.ModeSticky))
	if got := ask(t.Context(), sub); got.errs["open"] == nil {
		t.Error("everybody can write there, and it was taken up")
	}
	p.must(os.Chmod(p.repo, 0o700))
	if os.Geteuid() == 0 {
		p.must(os.Chown(p.repo, 54321, 54321))
		if got := ask(t.Context(), sub); got.errs["open"] == nil {
			t.Error("somebody else's was taken up")
		}
		if got := ask(t.Context(), p.repo); len(got.errs) > 0 {
			t.Errorf("the workspace that was named: %v", got.errs)
		}
	}
}

// A tracked file that is a hard link shows nothing of what lies elsewhere; the
// others are shown.
func TestHardLinksAreNotInADiff(t *testing.T) {
	p := newPlace(t)
	p.put("key", "secret\n")
	p.must(os.Remove(filepath.Join(p.repo, "a.txt")))
	p.must(os.Link(filepath.Join(p.base, "key"), filepath.Join(p.repo, "a.txt")))
	p.put("repo/b.txt", "wasp\n")
	r, err := Open(t.Context(), p.repo)
	p.must(err)
	defer r.Close()
	diff, cut, err := r.Diff(t.Context(), 1<<20)
	if err != nil || !cut || strings.Contains(string(diff), "secret") || !strings.Contains(string(diff), "+wasp") {
		t.Errorf("%v, cut %v:\n%s", err, cut, diff)
	}
}
