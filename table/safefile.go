package table

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/atomicfile"
	"conclave/workspace"
)

// Dir is a directory of a campaign, held open. Every file in it is reached by
// one name, never a path, and only through package workspace's door, if it is what
// it seems: os.Root alone would follow a link from a sheet to the story state in
// the same campaign.
type Dir struct {
	root *os.Root
	path string // logical, for messages
}

// UnsafeError says why a file is not touched.
type UnsafeError struct{ Path, Reason string }

func (e *UnsafeError) Error() string { return e.Path + ": " + e.Reason }

// OpenDir opens a directory that is not a symbolic link.
func OpenDir(path string) (*Dir, error) {
	above, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	return openDir(above, filepath.Base(path), path)
}

// Sub opens a directory inside, which must not be a link either.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := d.checkName(name); err != nil {
		return nil, err
	}
	return openDir(d.root, name, d.join(name))
}

func openDir(above *os.Root, name, path string) (*Dir, error) {
	root, err := workspace.OpenDirIn(above, name)
	if err != nil {
		return nil, unsafe(path, err)
	}
	return &Dir{root, path}, nil
}

// unsafe says what the door did not open, and what to do about it.
func unsafe(path string, err error) error {
	var unfit *workspace.Unfit
	if errors.As(err, &unfit) {
		return &UnsafeError{path, unfit.Error()}
	}
	return err
}

// MakeSub opens a directory inside and creates it if it does not exist.
func (d *Dir) MakeSub(name string) (*Dir, error) {
	if err := d.checkName(name); err != nil {
		return nil, err
	}
	if err := d.root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.Sub(name)
}

// Close releases the directory.
func (d *Dir) Close() error { return d.root.Close() }

func (d *Dir) join(name string) string { return strings.TrimSuffix(d.path, "/") + "/" + name }

func (d *Dir) checkName(name string) error {
	if !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, `/\:`+"\x00") {
		return &UnsafeError{d.join(Clip(name, 80)), "not a single file name"}
	}
	return nil
}

// Open opens a file for reading: a regular file with one name, the same before
// and after the open. A FIFO or a device is refused without being opened.
func (d *Dir) Open(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }

// OpenToWrite opens a file, as Open does, for reading and writing; one that is
// not there is made.
func (d *Dir) OpenToWrite(name string) (*os.File, error) {
	f, err := d.open(name, os.O_RDWR)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
}

func (d *Dir) open(name string, flags int) (*os.File, error) {
	if err := d.checkName(name); err != nil {
		return nil, err
	}
	f, _, err := workspace.OpenIn(d.root, name, flags, fs.FileMode.IsRegular)
	if err != nil {
		return nil, unsafe(d.join(name), err)
	}
	return f, nil
}

// Read reads a whole file up to a limit; 0 = no limit. A larger file is a
// *CapError, never a shorter text.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if limit == 0 {
		return io.ReadAll(f)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		size := int64(len(data))
		if info, err := f.Stat(); err == nil {
			size = max(size, info.Size())
		}
		return nil, &CapError{d.join(name), size, limit}
	}
	return data, nil
}

// Write replaces a file: a reader sees the old one or the new one, whole, and
// after a crash one of the two is there. A link or a device in its place is
// replaced, never written through; a directory is refused.
func (d *Dir) Write(name string, data []byte) error {
	if err := d.checkName(name); err != nil {
		return err
	}
	if info, err := d.root.Lstat(name); err == nil && info.IsDir() {
		return &UnsafeError{d.join(name), "is a directory"}
	}
	mode, err := d.fileMode()
	if err == nil {
		err = atomicfile.WriteIn(d.root, name, data, mode)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", d.join(name), errors.Unwrap(err))
	}
	return nil
}

// fileMode is that of files as private as their directory.
func (d *Dir) fileMode() (fs.FileMode, error) {
	info, err := d.root.Stat(".")
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm()&0o644 | 0o200, nil
}

// Sync makes names durable, where the system has a call for it.
func (d *Dir) Sync() error { return atomicfile.SyncDirIn(d.root, ".") }

// Remove removes a file or a link; that it is gone already is no error. Sync
// makes it durable.
func (d *Dir) Remove(name string) error {
	if err := d.checkName(name); err != nil {
		return err
	}
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.IsDir() {
		err = &UnsafeError{d.join(name), "is a directory"}
	}
	if err == nil {
		err = d.root.Remove(name)
	}
	return err
}

// RemoveIf removes a file only if its content still has the hash: notes of the
// next cycle are not deleted with those of this one. Sync makes it durable.
func (d *Dir) RemoveIf(name, hash string) (bool, error) {
	got, err := d.HashOf(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || got != hash {
		return false, err
	}
	return true, d.Remove(name)
}

// HashOf is the SHA-256 of a file, however large it is.
func (d *Dir) HashOf(name string) (string, error) {
	f, err := d.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Probe writes and removes a file: a table that cannot write must say so before
// any model is called.
func (d *Dir) Probe() error {
	mode, err := d.fileMode()
	if err != nil {
		return fmt.Errorf("%s is not writable: %w", d.path, err)
	}
	temp, err := atomicfile.Stage(d.root, "probe", []byte("x"), mode)
	if err != nil {
		return fmt.Errorf("%s is not writable: %w", d.path, err)
	}
	return d.Remove(temp)
}

// List returns the names in the directory, sorted, without unfinished writes.
func (d *Dir) List() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, atomicfile.IsTemp)
	slices.Sort(names)
	return names, nil
}

// Sweep removes what writes left behind that a crash cut short.
func (d *Dir) Sweep() (swept []string, err error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	for _, n := range names {
		if atomicfile.IsTemp(n) && d.Remove(n) == nil {
			swept = append(swept, n)
		}
	}
	slices.Sort(swept)
	return swept, err
}

// Hash is the SHA-256 of bytes in hex.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
