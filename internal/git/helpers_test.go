package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// place is a directory with a repository "repo" and room for what is planted
// beside it.
type place struct {
	t    testing.TB
	base string
	repo string
	mark string // is there when a planted program ran
	evil string // the planted program
}

// newPlace makes an honest repository with two commits.
func newPlace(t testing.TB) *place {
	t.Helper()
	base := t.TempDir()
	p := &place{t: t, base: base, repo: filepath.Join(base, "repo"), mark: filepath.Join(base, "mark"), evil: filepath.Join(base, "evil")}
	p.put("evil", "#!/bin/sh\n: >'"+p.mark+"'\n")
	if err := os.Chmod(p.evil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.repo, 0o700); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.put("repo/a.txt", "one\n")
	p.commit("first commit")
	p.put("repo/b.txt", "bee\n")
	p.commit("second commit")
	return p
}

func (p *place) put(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.base, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// touch makes git look into a file that did not change.
func (p *place) touch(name string) {
	p.t.Helper()
	when := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(p.repo, name), when, when); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) commit(subject string) {
	p.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "-m", subject)
}

// git runs the plain program in the repository.
func (p *place) git(args ...string) string {
	p.t.Helper()
	out, err := p.plain(p.repo, args...)
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

// plain is git as anybody runs it.
func (p *place) plain(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.base, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_ALLOW_PROTOCOL=ext:file:ssh",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0",
		"GIT_AUTHOR_NAME=Mara Kent", "GIT_AUTHOR_EMAIL=m@example.com", "GIT_COMMITTER_NAME=Mara Kent", "GIT_COMMITTER_EMAIL=m@example.com"}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *place) ran() bool {
	_, err := os.Lstat(p.mark)
	return err == nil
}

// said is all that the package can be asked of a workspace.
type said struct {
	commit, branch, diff, history string
	dirty                         bool
	tags                          []string
	remotes                       map[string]string
	errs                          map[string]error
}

func (s said) all() string {
	text := s.commit + s.branch + s.diff + s.history + strings.Join(s.tags, " ")
	for _, url := range s.remotes {
		text += url
	}
	for _, err := range s.errs {
		text += err.Error()
	}
	return text
}

func ask(ctx context.Context, workspace string) said {
	s := said{errs: map[string]error{}}
	note := func(what string, err error) {
		if err != nil {
			s.errs[what] = err
		}
	}
	r, err := Open(ctx, workspace)
	if note("open", err); err != nil {
		return s
	}
	defer r.Close()
	s.commit, s.branch, s.remotes = r.Commit(), r.Branch(), r.Remotes()
	s.dirty, err = r.Dirty(ctx)
	note("dirty", err)
	diff, _, err := r.Diff(ctx, 1<<20)
	note("diff", err)
	history, err := r.History(ctx, 1<<20)
	note("history", err)
	s.tags, err = r.Tags(ctx)
	note("tags", err)
	s.diff, s.history = string(diff), string(history)
	return s
}
