package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Policy says how many bundles are kept. Zero means no limit; of several
// limits, each is kept to.
type Policy struct {
	MaxBundles int
	MaxAge     time.Duration
	MaxBytes   int64
}

// Info is a bundle in a directory.
type Info struct {
	Path     string    `json:"path"`
	BundleID string    `json:"bundle_id"`
	Run      string    `json:"run"`
	Status   string    `json:"status"`
	Created  time.Time `json:"created_at"`
	Size     int64     `json:"size"`

	file os.FileInfo // which file it was that was read
}

// List returns the bundles in dir, oldest first by created_at. What is no
// bundle is passed over; a directory that does not exist has none.
func List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list bundles: %w", err)
	}
	var found []Info
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".zip") {
			continue
		}
		if info, ok := look(filepath.Join(dir, e.Name())); ok {
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b Info) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Path, b.Path))
	})
	return found, nil
}

// look reads the manifest of one bundle, and notes which file it read.
func look(path string) (Info, bool) {
	r, err := Open(path)
	if err != nil {
		return Info{}, false
	}
	defer r.Close()
	file, err := r.closer.(*os.File).Stat()
	m := r.Manifest()
	if err != nil || m.created().IsZero() || m.BundleID == "" {
		return Info{}, false
	}
	return Info{Path: path, BundleID: m.BundleID, Run: m.Request.RequestID, Status: m.Request.Status, Created: m.created(),
		Size: file.Size(), file: file}, true
}

// Excess returns the bundles that a policy does away with, oldest first. The
// path keep is counted and never chosen; the list is in the order of List.
func (p Policy) Excess(list []Info, now time.Time, keep string) []Info {
	count, total := len(list), int64(0)
	for _, b := range list {
		total += b.Size
	}
	var out []Info
	for _, b := range list {
		tooOld := p.MaxAge > 0 && now.Sub(b.Created) > p.MaxAge
		tooMany := p.MaxBundles > 0 && count > p.MaxBundles
		tooMuch := p.MaxBytes > 0 && total > p.MaxBytes
		if b.Path == keep || !tooOld && !tooMany && !tooMuch {
			continue
		}
		out = append(out, b)
		count--
		total -= b.Size
	}
	return out
}

// Prune removes what a policy does away with in dir, and first puts back what
// a Prune that was killed had in hand. It returns what it removed; an error
// says what it could not, and is no reason to stop.
func Prune(dir string, p Policy, now time.Time, keep string) (removed []Info, err error) {
	sweep(dir, now)
	errs := []error{putBack(dir)}
	list, err := List(dir)
	if err != nil {
		return nil, err
	}
	for _, b := range p.Excess(list, now, keep) {
		if err := remove(b); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w", b.Path, err))
			continue
		}
		removed = append(removed, b)
	}
	return removed, errors.Join(errs...)
}

const prunePrefix = ".conclave-prune-"

// remove removes the file that was read and no other. Between the look and
// the removal somebody may put another file at the name: so the file is first
// moved to a name that is nobody's, looked at there, and removed only if it is
// the one; else it is put back.
func remove(b Info) error {
	aside := filepath.Join(filepath.Dir(b.Path), prunePrefix+filepath.Base(b.Path))
	if _, err := os.Lstat(aside); err == nil {
		return fmt.Errorf("%s is in the way", aside)
	}
	if err := os.Rename(b.Path, aside); err != nil {
		return err
	}
	info, err := os.Lstat(aside)
	if err == nil && info.Mode().IsRegular() && os.SameFile(info, b.file) && info.Size() == b.file.Size() {
		return os.Remove(aside)
	}
	return errors.Join(errors.New("another file has taken its place"), err, giveName(aside, b.Path))
}

// putBack gives bundles their names again that a killed Prune had moved aside.
func putBack(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, prunePrefix+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, aside := range left {
		name := strings.TrimPrefix(filepath.Base(aside), prunePrefix)
		if err := giveName(aside, filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
