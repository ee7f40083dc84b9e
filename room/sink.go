package room

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fileSink is where granted work is put: a directory, or memory.
type fileSink interface {
	// sub makes a directory and opens it; it may be there already.
	sub(dir string) (fileSink, error)
	// create makes a new file in this directory.
	create(name string, mode fs.FileMode) (io.WriteCloser, error)
	io.Closer
}

// diskSink puts files into a room's directory, in the name of its user.
type diskSink struct {
	*os.Root
	who roomUser
}

func (s diskSink) sub(dir string) (fileSink, error) {
	if dir != "." {
		if err := s.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return nil, err
		}
	}
	root, err := s.OpenRoot(filepath.FromSlash(dir))
	return diskSink{root, s.who}, err
}

func (s diskSink) create(name string, mode fs.FileMode) (io.WriteCloser, error) {
	f, err := s.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil || !s.who.separate {
		return f, err
	}
	if err := f.Chown(s.who.uid, s.who.gid); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
