package bundle

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// Extract unpacks the bundle into dir, which must not exist, and returns the
// root of what it unpacked. A bundle that does not verify is not unpacked, and
// nothing is written outside of dir: it is there whole or not at all.
func (r *Reader) Extract(dir string) (root string, err error) {
	if rep := r.verify(); !rep.Sound() {
		return "", fmt.Errorf("extract bundle: %w", &Unsafe{rep.Problems})
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", fmt.Errorf("extract bundle: %s exists: name a directory that does not", dir)
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("extract bundle: %w", err)
	}
	tmp, err := os.MkdirTemp(parent, ".conclave-extract-*")
	if err != nil {
		return "", fmt.Errorf("extract bundle: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	if err := r.unpack(tmp); err != nil {
		return "", fmt.Errorf("extract bundle: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", fmt.Errorf("extract bundle: %w", err)
	}
	return filepath.Join(dir, Root), nil
}

func (r *Reader) unpack(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range r.Files() {
		to := path.Join(Root, name)
		if err := root.MkdirAll(path.Dir(to), 0o700); err != nil {
			return err
		}
		if err := r.unpackFile(root, name, to); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) unpackFile(root *os.Root, name, to string) error {
	in, err := r.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
