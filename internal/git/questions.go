package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"conclave/internal/screen"
)

// Commit is the one that HEAD names, empty if there is none yet.
func (r *Repository) Commit() string { return r.head.commit }

// Branch is the one that HEAD is on, "HEAD" if it is on none.
func (r *Repository) Branch() string {
	if r.head.branch == "" {
		return "HEAD"
	}
	return r.head.branch
}

// Remotes are the addresses that the configuration names, by name.
func (r *Repository) Remotes() map[string]string { return maps.Clone(r.settings.remotes) }

// Tags are those that name the commit.
func (r *Repository) Tags(ctx context.Context) ([]string, error) {
	if r.head.commit == "" {
		return nil, nil
	}
	if !r.settings.reftable {
		tags, err := r.tags()
		if err != nil || len(tags) == 0 {
			return nil, err
		}
		if err := r.writeTags(tags); err != nil {
			return nil, err
		}
	}
	out, err := r.ask(ctx, maxText, "for-each-ref", "--points-at=HEAD", "--format=%(refname:strip=2)", "refs/tags")
	return strings.Fields(string(out)), err
}

// Dirty says whether the workspace differs from the commit: a file that
// changed, is missing or is not tracked.
func (r *Repository) Dirty(ctx context.Context) (bool, error) {
	if err := r.lookAtFiles(); err != nil {
		return false, err
	}
	out, err := r.ask(ctx, 1, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames", "--", ".")
	if errors.Is(err, errCut) {
		err = nil
	}
	return len(out) > 0, err
}

// Diff is how the workspace differs from the commit, without files that are
// not tracked, and without those that have other names (hard links), which may
// lie elsewhere. Of more than limit bytes it is the beginning, in whole lines.
func (r *Repository) Diff(ctx context.Context, limit int) (diff []byte, cut bool, err error) {
	if r.head.commit == "" {
		return nil, false, nil
	}
	if err := r.lookAtFiles(); err != nil {
		return nil, false, err
	}
	changed, err := r.diff(ctx, maxText, "--name-only", "-z", r.head.commit, "--", ".")
	if err != nil && !errors.Is(err, errCut) {
		return nil, false, err
	}
	list := strings.Split(string(changed), "\x00")
	own, left := r.ownNames(list[:len(list)-1], err != nil)
	if len(own) == 0 {
		return nil, left, nil
	}
	diff, err = r.diff(ctx, limit, append([]string{r.head.commit, "--"}, own...)...)
	if errors.Is(err, errCut) {
		return wholeLines(diff), true, nil
	}
	return diff, left, err
}

func (r *Repository) diff(ctx context.Context, limit int, args ...string) ([]byte, error) {
	return r.ask(ctx, limit, append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--relative",
		"--submodule=short", "--ignore-submodules=all"}, args...)...)
}

// ownNames are the files that may be shown: all of them ("."), or those that
// have one name only. left says that some were left out.
func (r *Repository) ownNames(changed []string, cut bool) (own []string, left bool) {
	size := 0
	for _, name := range changed {
		if info, err := os.Lstat(filepath.Join(r.workspace, name)); err == nil && !info.IsDir() && linked(info) {
			left = true
		} else if size += len(name); size < maxNames {
			own = append(own, name)
		}
	}
	left = left || cut
	if !left {
		return []string{"."}, false
	}
	return own, true
}

// maxNames bounds the names on a command line.
const maxNames = 100 << 10

// maxCommits is how many commits History tells of.
const maxCommits = 500

// History is the log as text: who, when, what, which files; no patches. It tells
// of the newest commits only, and of more than limit bytes it is the beginning, in
// whole lines; its last line says so where older ones are left out. It is text for
// agents and people: what would steer a terminal is shown, not kept.
func (r *Repository) History(ctx context.Context, limit int) ([]byte, error) {
	if r.head.commit == "" {
		return nil, nil
	}
	args := []string{"log", "--format=%h %ad %an%n    %s", "--name-status", "--find-renames=100%", "--relative", "--no-textconv",
		"--no-ext-diff", "--no-color", "--no-mailmap", "--no-notes", "--no-decorate", "--no-show-signature", "--ignore-submodules=all",
		"--date=short", fmt.Sprintf("--max-count=%d", maxCommits), r.head.commit, "--"}
	counts := []string{"rev-list", "--count", fmt.Sprintf("--max-count=%d", maxCommits+1), r.head.commit, "--"}
	if r.workspace != r.top { // else commits that changed no file would be left out
		args, counts = append(args, "."), append(counts, ".")
	}
	log, err := r.ask(ctx, limit, args...)
	note := ""
	if errors.Is(err, errCut) {
		log, err, note = wholeLines(log), nil, "\nOlder commits are left out here, and perhaps files of the last one above.\n"
	} else if err == nil && bytes.Count(log, []byte("\n")) >= 2*maxCommits { // each has two lines at least
		n, err := r.ask(ctx, limit, counts...)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(string(n)) == strconv.Itoa(maxCommits+1) {
			note = fmt.Sprintf("\nOlder commits are left out here: these are the newest %d.\n", maxCommits)
		}
	}
	return []byte(screen.Block(string(log)).String() + note), err
}

func wholeLines(b []byte) []byte { return b[:bytes.LastIndexByte(b, '\n')+1] }
