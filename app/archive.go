package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"conclave/archive"
	"conclave/audit"
	"conclave/bundle/redact"
	"conclave/record"
	"conclave/session"
)

// What the archive says of itself.
type (
	ArchiveReport = archive.Report
	ArchiveStatus = archive.Status
)

// ArchiveAt is which archive is used, and whether it takes up what is new first.
type ArchiveAt struct {
	File      string // "" is the person's own
	NoRefresh bool
	noRedact  bool
}

// archivePath is where the archive is.
func (a *App) archivePath(file string) string {
	if file != "" {
		return a.AbsPath(file)
	}
	return filepath.Join(a.userDataDir(), "conclave", "archive.db")
}

// cacheDir is where things are kept that can be made again.
func (a *App) cacheDir() string { return filepath.Join(a.userCacheDir(), "conclave") }

// sessionRoots are where the records of this workspace and the sessions of the
// agents' programs are, those that had to be unfolded among them.
func (a *App) sessionRoots(ctx context.Context, named []string) ([]string, error) {
	if len(named) > 0 {
		roots := make([]string, len(named))
		for i, n := range named {
			roots[i] = a.AbsPath(n)
			if _, err := os.Stat(roots[i]); err != nil {
				return nil, namedError("%w", err)
			}
		}
		return append(roots, a.unfold(ctx, roots)...), nil
	}
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	roots := append([]string{record.Dir(root)}, session.DefaultRoots(a.Getenv)...)
	// What stores held that are gone was spent, too.
	a.unfold(ctx, session.DefaultStores(a.Getenv))
	return append(roots, a.stores().OwnSpool()), nil
}

// archiveOptions wire what the archive needs of others.
func (a *App) archiveOptions(noRedact bool) (archive.Options, error) {
	patterns, err := a.redactPatterns(nil)
	if err != nil {
		return archive.Options{}, err
	}
	own, err := a.ownConfig()
	if err != nil {
		return archive.Options{}, err
	}
	return archive.Options{
		Prices:   own.PriceList(),
		Redactor: redact.New(redact.Options{EnvValues: redact.SecretEnv(os.Environ()), Patterns: patterns}),
		NoRedact: noRedact,
		Judge: func(src io.ReaderAt) ([]archive.Finding, error) {
			rep, err := audit.Judge(src)
			if err != nil {
				return nil, err
			}
			var list []archive.Finding
			for _, f := range rep.Findings {
				list = append(list, archive.Finding{Rule: f.Rule, Turn: f.Turn, Frame: f.Frame, What: f.What})
			}
			return list, nil
		},
		Progress: func(done, total int64) { a.show(Progress{"indexing", done, total}) },
	}, nil
}

// archiveIn opens the archive in a file, or the person's own, as it is.
func (a *App) archiveIn(at ArchiveAt) (*archive.Archive, error) {
	o, err := a.archiveOptions(at.noRedact)
	if err != nil {
		return nil, err
	}
	x, err := archive.Open(a.archivePath(at.File), o)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return x, nil
}

// archiveOf opens files as if they were an archive.
func (a *App) archiveOf(ctx context.Context, files []string, noRedact bool) (*archive.Archive, error) {
	o, err := a.archiveOptions(noRedact)
	if err != nil {
		return nil, err
	}
	if files, err = a.unfoldFiles(ctx, files); err != nil {
		return nil, err
	}
	x, err := archive.OpenFiles(ctx, filepath.Join(a.cacheDir(), "query"), files, o)
	if err != nil {
		return nil, noError("%w", err)
	}
	return x, nil
}

// archiveThere is archiveIn for who only asks: a file that they named is not made.
func (a *App) archiveThere(at ArchiveAt) (*archive.Archive, error) {
	if at.File != "" {
		if _, err := os.Stat(a.archivePath(at.File)); err != nil {
			return nil, namedError("%w\nconclave archive refresh --archive FILE makes one", err)
		}
	}
	return a.archiveIn(at)
}

// openArchive opens the archive and, unless told otherwise, takes up what is
// new. When somebody else is doing that, it is used as it is.
func (a *App) openArchive(ctx context.Context, at ArchiveAt) (*archive.Archive, error) {
	if a.Remote != nil && !a.Remote.WholeArchive {
		return a.ownArchive(ctx)
	}
	x, err := a.archiveThere(at)
	if err != nil || at.NoRefresh {
		return x, err
	}
	roots, err := a.sessionRoots(ctx, nil)
	if err == nil {
		_, _, err = x.TryRefresh(ctx, roots)
		err = refusedHere(err)
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// RefreshArchive takes up what is new here and in the programs' sessions, or in
// the directories that are named.
func (a *App) RefreshArchive(ctx context.Context, at ArchiveAt, dirs []string) (ArchiveReport, error) {
	x, err := a.archiveIn(at)
	if err != nil {
		return ArchiveReport{}, err
	}
	defer x.Close()
	roots, err := a.sessionRoots(ctx, dirs)
	if err != nil {
		return ArchiveReport{}, err
	}
	rep, err := x.Refresh(ctx, roots)
	return rep, refusedHere(err)
}

// RebuildArchive makes the index anew from the bytes that are kept.
func (a *App) RebuildArchive(ctx context.Context, at ArchiveAt) (ArchiveReport, error) {
	x, err := a.archiveThere(at)
	if err != nil {
		return ArchiveReport{}, err
	}
	defer x.Close()
	rep, err := x.Rebuild(ctx)
	return rep, refusedHere(err)
}

// ArchiveStatus says what the archive holds; verify holds every kept byte against
// its digest. The answer is no when one is damaged.
func (a *App) ArchiveStatus(ctx context.Context, at ArchiveAt, verify bool) (ArchiveStatus, error) {
	x, err := a.archiveThere(at)
	if err != nil {
		return ArchiveStatus{}, err
	}
	defer x.Close()
	look := x.Status
	if verify {
		look = x.Verify
	}
	s, err := look(ctx)
	if err != nil {
		return s, environmentError("%w", err)
	}
	return s, noUnless(len(s.Damaged) == 0)
}

// RestoreArchived writes a record or a session file as it was taken up to a new
// file, readable for the person alone; when it fails, nothing is there.
func (a *App) RestoreArchived(ctx context.Context, at ArchiveAt, run, to string) (err error) {
	if to == "" {
		return usageError("say where to: -o FILE")
	}
	x, err := a.archiveThere(at)
	if err != nil {
		return err
	}
	defer x.Close()
	path := a.AbsPath(to)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return environmentError("%w", err)
	}
	if err = errors.Join(x.Restore(ctx, f, run), f.Close()); err != nil {
		_ = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return namedError("%w", err)
	}
	return refusedHere(err)
}

// pointInTime reads a time, or how long ago: 2d, 90m, 2026-02-18.
func pointInTime(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if n := len(s) - 1; n > 0 && (s[n] == 'd' || s[n] == 'w') {
		if days, err := strconv.ParseFloat(s[:n], 64); err == nil && days >= 0 {
			if s[n] == 'w' {
				days *= 7
			}
			return time.Now().Add(-time.Duration(days * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError("%s: %q is no time: say 2d, 3h, 2026-02-18 or 2026-02-18T14:00:00Z", flag, s)
}
