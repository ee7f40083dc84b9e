package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/archive"
	"conclave/archive/runs"
	"conclave/bundle"
)

// MaxUpload is how large a bundle may be that is handed over.
const MaxUpload = 512 << 20

// uploaded is a bundle that was handed over: a file in a directory of its own,
// and what is read of it.
type uploaded struct {
	prefix string // of the names of its runs
	dir    string
	x      *archive.Archive
	shelf  *runs.Shelf
}

func (u *uploaded) close() error { return errors.Join(u.x.Close(), os.RemoveAll(u.dir)) }

// Upload opens a bundle that is handed over, if it is sound, as VerifyBundles says,
// and within the bounds of uploads. It is never unpacked into a workspace, and stands
// among the runs until the library is closed. The answer is the names of its runs.
func (l *Library) Upload(ctx context.Context, name string, in io.Reader) (ids []string, err error) {
	place, err := l.space.take()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "conclave-bundle-")
	if err != nil {
		place.leave()
		return nil, environmentError("%w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir) // it is of no use
			place.leave()
		}
	}()
	file := filepath.Join(dir, bundleName(name))
	if err := spool(file, in); err != nil {
		return nil, err
	}
	u, err := l.readUpload(ctx, dir, file)
	if err != nil {
		return nil, err
	}
	if err = place.settle(dir); err == nil {
		ids, err = l.addUpload(ctx, u)
	}
	if err != nil {
		return nil, errors.Join(err, u.x.Close())
	}
	return ids, nil
}

// readUpload checks a bundle and makes what is read of it. One at a time: each may
// take room and time of its own while that is done.
func (l *Library) readUpload(ctx context.Context, dir, file string) (*uploaded, error) {
	select {
	case l.space.reading <- struct{}{}:
		defer func() { <-l.space.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := soundBundle(file, l.space.most.each); err != nil {
		return nil, err
	}
	o, err := l.app.archiveOptions(false)
	if err != nil {
		return nil, err
	}
	o.MaxBytes = l.space.most.made
	x, err := archive.OpenFiles(ctx, filepath.Join(dir, "read"), []string{file}, o)
	if err != nil {
		return nil, noError("%w", err)
	}
	u := &uploaded{dir: dir, x: x, shelf: runs.New(x)}
	if _, err := u.shelf.Update(ctx); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return u, nil
}

// soundBundle is nil for a bundle whose files are those that its manifest lists, and
// otherwise says which is not.
func soundBundle(file string, most bundle.Limits) error {
	rep, err := bundle.VerifyWithin(file, most)
	if err = cmp.Or(err, rep.Newer); err != nil {
		return noError("%w", err)
	}
	if !rep.Sound() {
		return noError("%s is not sound: %w", filepath.Base(file), &bundle.Unsafe{Problems: rep.Problems})
	}
	return nil
}

func (l *Library) addUpload(ctx context.Context, u *uploaded) (ids []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, environmentError("the library is closed")
	}
	u.prefix = fmt.Sprintf("bundle-%d:", len(l.uploads)+1)
	list, err := u.shelf.Select(ctx, runs.Filter{}, time.Now(), func(*runs.Run) bool { return true })
	if err != nil {
		return nil, environmentError("%w", err)
	}
	for _, r := range list {
		ids = append(ids, u.prefix+r.ID)
	}
	if len(ids) == 0 {
		return nil, noError("the bundle holds no entries")
	}
	l.uploads = append(l.uploads, u)
	return ids, nil
}

// bundleName is the last part of a name that somebody else gave, as a name here.
func bundleName(name string) string {
	name = filepath.Base(filepath.ToSlash(strings.ReplaceAll(name, `\`, "/")))
	keep := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, strings.TrimSuffix(name, ".zip"))
	if len(keep) > 80 {
		keep = keep[:80]
	}
	if keep == "" {
		keep = "bundle"
	}
	return keep + ".zip"
}

// spool keeps what comes in, up to MaxUpload.
func spool(file string, in io.Reader) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return environmentError("%w", err)
	}
	n, err := io.Copy(f, io.LimitReader(in, MaxUpload+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return environmentError("take the bundle: %w", err)
	}
	if n > MaxUpload {
		return noError("a bundle of more than %d MiB is not taken", MaxUpload>>20)
	}
	return nil
}

// shelfOf is the shelf on which a run stands, and its name there.
func (l *Library) shelfOf(id string) (*runs.Shelf, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range l.uploads {
		if name, ok := strings.CutPrefix(id, u.prefix); ok {
			return u.shelf, name
		}
	}
	return l.shelf, id
}

// uploadedRuns are the runs of what was handed over that a filter chooses. None of
// them goes on.
func (l *Library) uploadedRuns(ctx context.Context, f runs.Filter, now time.Time) (all []runs.Run, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.State != "" && f.State != runs.Idle {
		return nil, nil
	}
	only := f.Only
	f.State, f.Only = "", nil
	for _, u := range l.uploads {
		list, err := u.shelf.Select(ctx, f, now, func(r *runs.Run) bool { return only == nil || only[u.prefix+r.ID] })
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			r.ID, r.State = u.prefix+r.ID, runs.Idle
			all = append(all, r)
		}
	}
	return all, nil
}
