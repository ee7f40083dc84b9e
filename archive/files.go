package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/archive/source"
	"conclave/bundle"
	"conclave/internal/lockfile"
	"conclave/internal/sqlite"
)

// OpenFiles opens bundles, records, logs and session files for SQL, without an
// archive. What it makes of them is kept in cacheDir and used again as long as
// the files are the same; it can be deleted at any time. Of logs and
// sessions it holds rows and no lines: those are read from the files when they
// are asked for, but for a bundle whose log was not packed in pieces.
func OpenFiles(ctx context.Context, cacheDir string, files []string, o Options) (*Archive, error) {
	key, err := cacheKey(files, o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the query cache: %w", err)
	}
	path := filepath.Join(cacheDir, key+cacheExt)
	if a, err := openCache(path, o); err == nil {
		return a, nil
	}
	lock, err := lockfile.WaitLock(ctx, path+".lock", "making a query cache")
	if err != nil {
		return nil, fmt.Errorf("wait for the query cache: %w", err)
	}
	defer lock.Unlock()
	if a, err := openCache(path, o); err == nil {
		return a, nil // somebody else has just made it
	}
	if err := makeCache(ctx, path, files, o); err != nil {
		return nil, err
	}
	prune(cacheDir, path)
	return openCache(path, o)
}

const cacheExt = ".querydb"

const pageSize = 4096 // of SQLite, unless it is told another

// cacheKey names what a cache is made of.
func cacheKey(files []string, o Options) (string, error) {
	h := sha256.New()
	made := (&Archive{isCache: true}).made()
	fmt.Fprintf(h, "%d %s %s %v\n", schemaVersion, made["tables"], made["views"], o.NoRedact)
	if o.Redactor != nil {
		h.Write(o.Redactor.Digest())
	}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(abs)
		if err != nil {
			return "", err
		}
		if info.IsDir() {
			return "", fmt.Errorf("%s is a directory: name a bundle, a record or a log", f)
		}
		fmt.Fprintf(h, "%q %d %d\n", abs, info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

func openCache(path string, o Options) (*Archive, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	a := newArchive(path, o, true)
	err := a.openReader()
	var version int
	if err == nil {
		err = a.reader.QueryRow("PRAGMA user_version").Scan(&version)
	}
	if err == nil && version != schemaVersion {
		err = fmt.Errorf("query cache of version %d", version)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // those used last are kept; it need not succeed
	return a, nil
}

// makeCache makes the cache at path.
func makeCache(ctx context.Context, path string, files []string, o Options) error {
	err := buildCache(ctx, path, files, o, false)
	if errors.Is(err, bundle.ErrNoPieces) { // one that began as if it had some
		return buildCache(ctx, path, files, o, true)
	}
	return err
}

// buildCache builds in a file of its own, which becomes the cache when it is
// complete: a cache is whole or not there.
func buildCache(ctx context.Context, path string, files []string, o Options, unpieced bool) (err error) {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	a := newArchive(temp, o, true)
	a.unpieced = unpieced
	defer func() {
		err = errors.Join(err, a.Close())
		if err == nil {
			err = os.Rename(temp, path)
		}
		if err != nil {
			err = withinSize(temp, o.MaxBytes, err)
			_ = os.Remove(temp) // it is of no use
		}
	}()
	if err := prepareFile(temp); err != nil {
		return err
	}
	pragmas := append([]string{"journal_mode(OFF)", "synchronous(OFF)"}, writePragmas...)
	if o.MaxBytes > 0 {
		pragmas = append(pragmas, fmt.Sprintf("max_page_count(%d)", max(1, o.MaxBytes/pageSize)))
	}
	a.db = sqlite.Open(temp, sqlite.Options{Write: true, Pragmas: pragmas})
	a.db.SetMaxOpenConns(1)
	if err := a.makeSchema(ctx); err != nil {
		return err
	}
	return a.loadFiles(ctx, files)
}

// withinSize tells a file that reached its bound from a disk that is full: SQLite
// has one word for both. Of what it made, as much as its cache may not be written.
func withinSize(path string, most int64, err error) error {
	const unwritten = 32 << 20
	info, e := os.Stat(path)
	if most > 0 && e == nil && info.Size() > most-unwritten && strings.Contains(err.Error(), "disk is full") {
		return fmt.Errorf("what is read of it would take more than %d bytes", most)
	}
	return err
}

func (a *Archive) loadFiles(ctx context.Context, files []string) error {
	var rep Report
	var jobs []*job
	var total int64
	for _, f := range files {
		j, err := newFileJob(f)
		if err != nil {
			return err
		}
		total += j.size
		j.alone = len(files) == 1
		jobs = append(jobs, j)
	}
	w := &writer{a: a, report: &rep, total: total, whole: true, bulk: true}
	w.after = func() error {
		for _, j := range jobs {
			if j.bundle == nil {
				continue
			}
			if err := w.putDocuments(j); err != nil {
				return fmt.Errorf("%s: %w", j.path, err)
			}
		}
		return w.sliceViews()
	}
	if err := w.run(ctx, jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.fault != nil && j.entries == 0 {
			return fmt.Errorf("%s: %w", j.path, j.fault)
		}
	}
	return nil
}

func newFileJob(file string) (*job, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	j := &job{path: abs, size: info.Size(), mtime: info.ModTime().UnixNano(), dropPos: -1}
	if j.kind, err = source.Kind(abs); err == nil && j.kind == source.Bundle {
		j.bundle, err = bundle.Open(abs)
		return j, err
	}
	if err == nil && j.kind == "" {
		err = fmt.Errorf("%s is no bundle, no record, no log and no session file", file)
	}
	return j, err
}

// prune keeps the caches that were used last, up to some number and size.
func prune(dir, keep string) {
	const most, bytes = 20, 4 << 30
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // a cache that grows is no reason to fail
	}
	type cache struct {
		path string
		size int64
		used time.Time
	}
	var list []cache
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), cacheExt) {
			continue
		}
		if info, err := e.Info(); err == nil {
			list = append(list, cache{filepath.Join(dir, e.Name()), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b cache) int { return b.used.Compare(a.used) })
	var sum int64
	for i, c := range list {
		sum += c.size
		if (i >= most || sum > bytes) && c.path != keep {
			_ = os.Remove(c.path)
		}
	}
}
