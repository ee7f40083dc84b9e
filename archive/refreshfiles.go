package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/archive/source"
	"conclave/internal/lockfile"
	"conclave/internal/sqlite"
)

// RefreshFiles takes up what is new in files that somebody knows to have changed,
// and looks at no other. It waits for another refresh of the same archive to end.
func (a *Archive) RefreshFiles(ctx context.Context, paths []string) (Report, error) {
	began := time.Now()
	var targets []source.File
	for _, p := range paths {
		if p = filepath.Clean(p); !source.MayBe(p) ||
			slices.ContainsFunc(targets, func(t source.File) bool { return t.Path == p }) {
			continue
		}
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			targets = append(targets, source.File{Path: p, Size: info.Size(), MTime: info.ModTime().UnixNano()})
		} // what is gone a refresh of everything finds out
	}
	rep := Report{Files: len(targets)}
	if len(targets) == 0 {
		return rep, nil
	}
	lock, err := lockfile.WaitLock(ctx, a.path+".lock", "refresh of the archive")
	if err != nil {
		return rep, fmt.Errorf("wait for the archive: %w", err)
	}
	defer lock.Unlock()
	known, err := a.sourcesAt(ctx, targets)
	if err != nil {
		return rep, err
	}
	jobs, total, err := a.plan(targets, known, &rep)
	if err != nil {
		return rep, err
	}
	w := &writer{a: a, report: &rep, total: total}
	err = w.run(ctx, jobs)
	rep.Took = time.Since(began).Seconds()
	return rep, err
}

// sourcesAt returns the latest generation of some paths.
func (a *Archive) sourcesAt(ctx context.Context, targets []source.File) (map[string]*sourceRow, error) {
	args := make([]any, len(targets))
	for i, t := range targets {
		args[i] = t.Path
	}
	return a.sourcesWhere(ctx, "WHERE path IN (?"+strings.Repeat(",?", len(args)-1)+")", args...)
}

// Version is another number after every commit, whoever made it.
func (a *Archive) Version(ctx context.Context) (n int64, err error) {
	a.once.Do(func() {
		a.version = sqlite.Open(a.path, sqlite.Options{})
		a.version.SetMaxOpenConns(1) // the number is one connection's
		a.version.SetMaxIdleConns(1)
	})
	err = a.version.QueryRowContext(ctx, "PRAGMA data_version").Scan(&n)
	return n, err
}
