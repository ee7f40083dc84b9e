package git

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is said of honest repositories of every form that git makes.
func TestHonest(t *testing.T) {
	for name, c := range map[string]struct {
		make func(p *place) (workspace string)
		want said
	}{
		"clean": {func(p *place) string { return p.repo }, said{branch: "main"}},
		"changed": {func(p *place) string {
			p.put("repo/a.txt", "two\n")
			return p.repo
		}, said{branch: "main", dirty: true, diff: "-one\n+two"}},
		"changed within the second of the index": {func(p *place) string {
			p.git("update-index", "--refresh")
			p.put("repo/a.txt", "two\n") // the size stays
			return p.repo
		}, said{branch: "main", dirty: true, diff: "-one\n+two"}},
		"only touched": {func(p *place) string {
			p.touch("a.txt")
			return p.repo
		}, said{branch: "main"}},
		"staged": {func(p *place) string {
			p.put("repo/a.txt", "two\n")
			p.git("add", "a.txt")
			return p.repo
		}, said{branch: "main", dirty: true, diff: "+two"}},
		"untracked": {func(p *place) string {
			p.put("repo/new.txt", "new\n")
			return p.repo
		}, said{branch: "main", dirty: true}},
		"ignored": {func(p *place) string {
			p.put("repo/.git/info/exclude", "new.txt\n")
			p.put("repo/new.txt", "new\n")
			return p.repo
		}, said{branch: "main"}},
		"detached": {func(p *place) string {
			p.git("checkout", "-q", "--detach")
			return p.repo
		}, said{branch: "HEAD"}},
		"packed": {func(p *place) string {
			p.git("tag", "v1")
			p.git("tag", "-a", "-m", "x", "v2")
			p.git("gc", "-q")
			return p.repo
		}, said{branch: "main", tags: []string{"v1", "v2"}}},
		"tags": {func(p *place) string {
			p.git("tag", "v1")
			p.git("tag", "-a", "-m", "x", "v2")
			p.git("tag", "old", "HEAD~1")
			return p.repo
		}, said{branch: "main", tags: []string{"v1", "v2"}}},
		"remote": {func(p *place) string {
			p.git("remote", "add", "origin", "https://example.com/x.git")
			return p.repo
		}, said{branch: "main", remotes: map[string]string{"origin": "https://example.com/x.git"}}},
		"linked work tree": {func(p *place) string {
			p.git("worktree", "add", "-q", "-b", "side", "../side")
			return filepath.Join(p.base, "side")
		}, said{branch: "side"}},
		"split index": {func(p *place) string {
			p.git("update-index", "--split-index")
			p.put("repo/a.txt", "two\n")
			return p.repo
		}, said{branch: "main", dirty: true, diff: "+two"}},
		"untracked cache": {func(p *place) string {
			p.git("update-index", "--untracked-cache", "--force-untracked-cache")
			p.git("status")
			return p.repo
		}, said{branch: "main"}},
		"sparse": {func(p *place) string {
			p.put("repo/deep/c.txt", "c\n")
			p.commit("second commit: deep")
			p.git("sparse-checkout", "set", "--cone", "--sparse-index", "nothing")
			return p.repo
		}, said{branch: "main"}},
		"line ends": {func(p *place) string {
			p.git("config", "core.autocrlf", "true")
			if err := os.Remove(filepath.Join(p.repo, "a.txt")); err != nil {
				p.t.Fatal(err)
			}
			p.git("checkout", "-q", "a.txt")
			p.touch("a.txt")
			return p.repo
		}, said{branch: "main"}},
		"in a subdirectory": {func(p *place) string {
			p.put("repo/sub/c.txt", "c\n")
			p.commit("second commit: sub")
			p.put("repo/a.txt", "outside of the workspace\n")
			p.put("repo/sub/c.txt", "cc\n")
			return filepath.Join(p.repo, "sub")
		}, said{branch: "main", dirty: true, diff: "--- a/c.txt\n+++ b/c.txt"}},
		"submodule": {func(p *place) string {
			p.git("clone", "-q", ".", "../lib")
			p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "lib")
			return filepath.Join(p.repo, "lib")
		}, said{branch: "main", remotes: map[string]string{"origin": "PLACE/lib"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.checkHonest(c.make(p), c.want)
		})
	}
}

func (p *place) checkHonest(workspace string, want said) {
	p.t.Helper()
	got := ask(p.t.Context(), workspace)
	commit, err := p.plain(workspace, "rev-parse", "HEAD")
	if err != nil || len(got.errs) > 0 {
		p.t.Fatalf("%v, %v", err, got.errs)
	}
	for name, url := range want.remotes {
		want.remotes[name] = strings.Replace(url, "PLACE", p.base, 1)
	}
	if got.commit != strings.TrimSpace(commit) || got.branch != want.branch || got.dirty != want.dirty || !slices.Equal(got.tags, want.tags) {
		p.t.Errorf("got %+v", got)
	}
	if !maps.Equal(got.remotes, want.remotes) {
		p.t.Errorf("the remotes are %v", got.remotes)
	}
	if (got.diff == "") != (want.diff == "") || !strings.Contains(got.diff, want.diff) || strings.Contains(got.diff, "outside of") {
		p.t.Errorf("the diff is\n%s", got.diff)
	}
	if !strings.Contains(got.history, " Mara Kent\n    second commit") || !strings.Contains(got.history, "\n\nA\t") {
		p.t.Errorf("the history is\n%s", got.history)
	}
}

// Nothing is left behind, and nothing of the repository is touched.
func TestCloseAndReadOnly(t *testing.T) {
	p := newPlace(t)
	p.touch("a.txt")
	before := p.listing()
	r, err := Open(t.Context(), p.repo)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Dirty(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(r.private); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s was left behind: %v", r.private, err)
	}
	if after := p.listing(); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
}

// listing is every file of the repository with size and time.
func (p *place) listing() string {
	var b strings.Builder
	err := filepath.WalkDir(p.repo, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

// A clone of the newest commit alone has a history of one; one without blobs
// has all of it, and asks nobody for what is missing.
func TestPartialClones(t *testing.T) {
	p := newPlace(t)
	p.git("config", "uploadpack.allowFilter", "true")
	for name, args := range map[string][]string{"shallow": {"--depth=1"}, "blobless": {"--filter=blob:none"}} {
		to := filepath.Join(p.base, name)
		if out, err := p.plain(p.base, append([]string{"clone", "-q", "file://" + p.repo, to}, args...)...); err != nil {
			t.Fatal(out)
		}
		got := ask(t.Context(), to)
		if len(got.errs) > 0 || got.dirty || strings.Contains(got.history, "first commit") != (name == "blobless") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNoCommitYet(t *testing.T) {
	p := newPlace(t)
	empty := filepath.Join(p.base, "empty")
	if _, err := p.plain(p.base, "init", "-q", "-b", "trunk", empty); err != nil {
		t.Fatal(err)
	}
	if got := ask(t.Context(), empty); len(got.errs) > 0 || got.commit != "" || got.branch != "trunk" || got.history != "" {
		t.Errorf("%+v", got)
	}
}

func TestOtherObjectFormat(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(p.base, "long")
	if _, err := p.plain(p.base, "init", "-q", "--object-format=sha256", "-b", "main", dir); err != nil {
		t.Fatal(err)
	}
	p.repo = dir
	p.put("long/a.txt", "one\n")
	p.commit("second commit")
	p.checkHonest(dir, said{branch: "main"})
}

func TestNoRepository(t *testing.T) {
	bare := newPlace(t)
	bare.git("clone", "-q", "--bare", ".", "../bare")
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), empty, filepath.Join(bare.base, "bare"), filepath.Join(bare.base, "bare", "refs")} {
		if _, err := Open(t.Context(), dir); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// The log's text steers no terminal and forges no line.
func TestHistoryIsText(t *testing.T) {
	p := newPlace(t)
	p.put("repo/c\x1b[2Jd\u202e.txt", "x")
	p.commit("sub\x1b]52;c;QQ==\x07ject \u202egnp\u2066 \u0085 gr\u00fc\u00dfe")
	h := ask(t.Context(), p.repo).history
	if strings.ContainsAny(h, "\x1b\x07\u202e\u2066\u0085") || !strings.Contains(h, "gr\u00fc\u00dfe") || !strings.Contains(h, "ject") {
		t.Errorf("%q", h)
	}
}

// A reftable is read where git knows it, and refused where git is too old.
func TestReftable(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(p.base, "table")
	if out, err := p.plain(p.base, "init", "-q", "--ref-format=reftable", "-b", "main", dir); err != nil {
		if !strings.Contains(out, "unknown option") {
			t.Fatal(out)
		}
		return // before 2.45 nobody can have one; the hostile ones are refused all the same
	}
	p.repo = dir
	p.put("table/a.txt", "one\n")
	p.commit("second commit")
	p.git("tag", "-a", "-m", "x", "v1")
	p.checkHonest(dir, said{branch: "main", tags: []string{"v1"}})
	p.git("checkout", "-q", "--detach")
	p.checkHonest(dir, said{branch: "HEAD", tags: []string{"v1"}})
	p.git("switch", "-q", "--orphan", "trunk")
	if got := ask(t.Context(), dir); len(got.errs) > 0 || got.commit != "" || got.branch != "trunk" {
		t.Errorf("%+v", got)
	}
}

// A log that leaves older commits out says so in its last line, and only then.
func TestHistorySaysWhereItEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	tree, tip := p.git("rev-parse", "HEAD^{tree}"), p.git("rev-parse", "HEAD")
	for n := 2; n < maxCommits; n++ {
		tip = p.git("commit-tree", "-m", "more", "-p", tip, tree)
	}
	said := func() string {
		t.Helper()
		p.git("reset", "-q", "--soft", tip)
		return ask(t.Context(), p.repo).history
	}
	if h := said(); strings.Contains(h, "left out") || !strings.Contains(h, "first commit") {
		t.Errorf("with all of its commits the log ends with %q", h[len(h)-80:])
	}
	tip = p.git("commit-tree", "-m", "one more", "-p", tip, tree)
	if h := said(); strings.Contains(h, "first commit") ||
		!strings.HasSuffix(h, "\n\nOlder commits are left out here: these are the newest 500.\n") {
		t.Errorf("without the oldest it ends with %q", h[len(h)-80:])
	}
	r, err := Open(t.Context(), p.repo)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h, err := r.History(t.Context(), 1000)
	if err != nil || len(h) > 1100 || !strings.HasSuffix(string(h), "files of the last one above.\n") {
		t.Errorf("cut at 1000 bytes: %v, %d of them", err, len(h))
	}
}
