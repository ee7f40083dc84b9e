package gate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repo is a workspace with a repository, for tests.
type repo struct {
	t    testing.TB
	base string // what lies around it
	dir  string
}

func newRepo(t testing.TB, args ...string) *repo {
	t.Helper()
	base := t.TempDir()
	r := &repo{t: t, base: base, dir: filepath.Join(base, "repo")}
	r.must(os.Mkdir(r.dir, 0o700))
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

func (r *repo) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// put writes files: path, text, path, text …
func (r *repo) put(pairs ...string) *repo {
	r.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		file := filepath.Join(r.dir, filepath.FromSlash(pairs[i]))
		r.must(os.MkdirAll(filepath.Dir(file), 0o700))
		r.must(os.WriteFile(file, []byte(pairs[i+1]), 0o600))
	}
	return r
}

func (r *repo) commit(message string) string {
	r.t.Helper()
	r.git("add", "-A", "-f")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

// git is the plain program.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	return r.gitIn("", args...)
}

func (r *repo) gitIn(input string, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(input)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.base, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=Mara Kent", "GIT_AUTHOR_EMAIL=m@example.com", "GIT_COMMITTER_NAME=Mara Kent", "GIT_COMMITTER_EMAIL=m@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// ask is a question to the Dragon about this repository.
func (r *repo) ask(diff, criteria string, work ...string) Ask {
	return Ask{Root: r.dir, Role: "dragon", Rule: All, N: 1, Criteria: criteria, Work: work, Diff: diff, Governing: places}
}

// places stand for what a project has; app has the real list.
func places(Read) []Governed {
	return []Governed{{Path: "conclave.yaml"}, {Path: ".campaign/instructions", Dir: true}, {Path: "profile-packs", Dir: true}}
}

func (r *repo) open(ask Ask) *Opened {
	r.t.Helper()
	o, err := Open(r.t.Context(), ask)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = o.Close() })
	return o
}

// room is all that a judge would be given of a case.
func (o *Opened) room(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range o.Work.Files {
		var b strings.Builder
		if err := o.Work.Copy(f, &b); err != nil {
			t.Fatal(err)
		}
		out[f.Path] = b.String()
	}
	if o.Change != nil {
		out[ChangeFile+" beside"] = string(o.Change)
	}
	return out
}

func TestWorkOfFiles(t *testing.T) {
	r := newRepo(t).put("a.go", "package a\n", "b.go", "package b\n", "criteria.md", "# What counts\n\n1. It builds. (check: `go build`)\n2. It is short.\n")
	commit := r.commit("first")
	o := r.open(r.ask("", "criteria.md", "a.go"))
	c := o.Case
	if c.Criteria.Origin != Committed || c.Criteria.Commit != commit || len(c.Criteria.List) != 2 || c.Criteria.List[0].Check != "go build" {
		t.Errorf("%+v", c.Criteria)
	}
	if len(c.Work.Files) != 1 || c.Work.Files[0].Path != "a.go" || c.Work.Diff != nil || o.Judging != "" || c.Digest != c.Sum() {
		t.Errorf("%+v", c.Work)
	}
	r.put("criteria.md", "1. It builds.\n")
	if o := r.open(r.ask("", "criteria.md", "a.go")); o.Case.Criteria.Origin != OfCaller || o.Case.Criteria.Commit != "" {
		t.Errorf("changed since, and %+v", o.Case.Criteria)
	}
}

func TestOriginOfCriteria(t *testing.T) {
	r := newRepo(t).put("a.go", "package a\n", "criteria.md", "1. It builds.\n", "docs/old.md", "1. It is old.\n")
	first := r.commit("first")
	r.put("criteria.md", "1. It builds anew.\n", "late.md", "1. It is late.\n")
	second := r.commit("second")
	r.put("here.md", "1. It is here.\n")
	outside := filepath.Join(r.base, "mine.md")
	r.must(os.WriteFile(outside, []byte("1. It is mine.\n"), 0o600))
	for name, c := range map[string]struct {
		ask            func(*Ask)
		origin, commit string
		says           string
	}{
		"at HEAD":               {func(a *Ask) { a.Criteria = "criteria.md" }, Committed, second, ""},
		"at another base":       {func(a *Ask) { a.Criteria, a.Base = "criteria.md", first }, OfCaller, "", ""},
		"unchanged since":       {func(a *Ask) { a.Criteria, a.Base = "docs/old.md", first }, Committed, first, ""},
		"by its absolute path":  {func(a *Ask) { a.Criteria = filepath.Join(r.dir, "docs/old.md") }, Committed, second, ""},
		"not committed":         {func(a *Ask) { a.Criteria = "here.md" }, OfCaller, "", ""},
		"elsewhere":             {func(a *Ask) { a.Criteria = outside }, OfCaller, "", ""},
		"elsewhere, by others":  {func(a *Ask) { a.Criteria, a.Inside = outside, true }, "", "", "not in the workspace"},
		"words":                 {func(a *Ask) { a.Criteria = "It is good." }, OfCaller, "", ""},
		"one word":              {func(a *Ask) { a.Criteria = "critera.md" }, "", "", "is no file here"},
		"the quest's, and none": {func(a *Ask) {}, "", "", "begin a quest"},
		"a base that is none":   {func(a *Ask) { a.Criteria, a.Base = "criteria.md", "nowhere" }, "", "", "no branch, tag"},
		"empty":                 {func(a *Ask) { a.Criteria = "  " }, "", "", "is no file here"},
		"from BASE":             {func(a *Ask) { a.Criteria, a.Diff = "docs/old.md", first }, Committed, first, ""},
		"changed in the change": {func(a *Ask) { a.Criteria, a.Diff = "criteria.md", first }, "", "", `"criteria.md": the change touches it`},
		"new in the change":     {func(a *Ask) { a.Criteria, a.Diff = "late.md", first }, "", "", `"late.md": the change touches it`},
		"of no commit":          {func(a *Ask) { a.Criteria, a.Diff = "here.md", first }, OfCaller, "", ""},
		"words for a change":    {func(a *Ask) { a.Criteria, a.Diff = "1. It is good.", first }, OfCaller, "", ""},
	} {
		ask := r.ask("", "", "a.go")
		c.ask(&ask)
		o, err := Open(t.Context(), ask)
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", name, err)
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says == "" && (o.Case.Criteria.Origin != c.origin || o.Case.Criteria.Commit != c.commit || len(o.Criteria) != 1):
			t.Errorf("%s: %+v", name, o.Case.Criteria)
		case c.says == "" && filepath.IsAbs(o.Case.Criteria.File):
			t.Errorf("%s: a receipt would tell where the file lies on this machine: %s", name, o.Case.Criteria.File)
		}
		if o != nil {
			r.must(o.Close())
		}
	}
}
