package room

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing/fstest"
)

// shelf is where granted work is put: a directory, or memory.
type shelf interface {
	// sub makes a directory and opens it; it may be there already.
	sub(dir string) (shelf, error)
	// create makes a new file in this directory.
	create(name string, mode fs.FileMode) (io.WriteCloser, error)
	io.Closer
}

// diskShelf puts files into a room's directory, in the name of its tenant.
type diskShelf struct {
	*os.Root
	who tenant
}

func (s diskShelf) sub(dir string) (shelf, error) {
	if dir != "." {
		if err := s.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return nil, err
		}
	}
	root, err := s.OpenRoot(filepath.FromSlash(dir))
	return diskShelf{root, s.who}, err
}

func (s diskShelf) create(name string, mode fs.FileMode) (io.WriteCloser, error) {
	f, err := s.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil || !s.who.separate {
		return f, err
	}
	if err := f.Chown(s.who.uid, s.who.gid); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// memoryShelf puts files into a file system in memory.
type memoryShelf struct {
	files fstest.MapFS
	at    string // of this directory
}

func (s *memoryShelf) sub(dir string) (shelf, error) {
	below := &memoryShelf{s.files, path.Join(s.at, dir)}
	for d := below.at; d != "." && d != ""; d = path.Dir(d) {
		if f := s.files[d]; f != nil && !f.Mode.IsDir() {
			return nil, fmt.Errorf("%q is a file: %w", d, fs.ErrExist)
		}
	}
	if below.at != "" && below.at != "." {
		s.files[below.at] = &fstest.MapFile{Mode: fs.ModeDir | 0o700}
	}
	return below, nil
}

func (s *memoryShelf) create(name string, mode fs.FileMode) (io.WriteCloser, error) {
	at := path.Join(s.at, name)
	if s.files[at] != nil {
		return nil, fmt.Errorf("%q: %w", at, fs.ErrExist)
	}
	f := &fstest.MapFile{Mode: mode}
	s.files[at] = f
	return &memoryFile{file: f}, nil
}

func (s *memoryShelf) Close() error { return nil }

// memoryFile is a file that is being written.
type memoryFile struct {
	bytes.Buffer
	file *fstest.MapFile
}

func (f *memoryFile) Close() error {
	f.file.Data = f.Bytes()
	return nil
}
