package quest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"conclave/internal/atomicfile"
)

// Create writes a new file and never replaces one: an existing file is
// fs.ErrExist, unless it holds these very bytes, which is what a repeated step
// finds. The file appears whole or not at all.
func (s *Store) Create(name string, data []byte) error {
	if err := s.plain(name); err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	if _, err := s.root.Lstat(name); err == nil {
		return s.same(name, data)
	}
	if err := s.ready(name); err != nil {
		return err
	}
	temp, err := atomicfile.Stage(s.root, name, data, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, cause(err))
	}
	err = s.root.Link(temp, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = s.createPlain(name, data) // a file system without hard links
	}
	s.root.Remove(temp)
	if errors.Is(err, fs.ErrExist) {
		return s.same(name, data)
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", name, cause(err))
	}
	if err := atomicfile.SyncDirIn(s.root, path.Dir(name)); err != nil {
		return fmt.Errorf("sync %s: %w", path.Dir(name), cause(err))
	}
	return nil
}

// same is nil if an existing file holds these very bytes.
func (s *Store) same(name string, data []byte) error {
	if there, err := s.Read(name); err == nil && bytes.Equal(there, data) {
		return nil
	}
	return fmt.Errorf("create %s: %w", name, fs.ErrExist)
}

func (s *Store) createPlain(name string, data []byte) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := writeSync(f, data); err != nil {
		s.root.Remove(name)
		return err
	}
	return nil
}

// Replace writes a file whose present content has the digest before; an empty
// digest stands for a file that does not exist. Bytes that are there already
// are done. Anything else is ErrChanged, and nothing is written.
func (s *Store) Replace(name, before string, data []byte) error {
	if before == "" {
		return s.Create(name, data)
	}
	there, err := s.Read(name)
	if err != nil {
		return err
	}
	switch Digest(there) {
	case Digest(data):
		return nil
	case before:
	default:
		return fmt.Errorf("write %s: %w", name, ErrChanged)
	}
	if err := s.ready(name); err != nil {
		return err
	}
	if err := atomicfile.WriteIn(s.root, name, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, cause(err))
	}
	return nil
}

// ready makes the directory of a file that is to be written.
func (s *Store) ready(name string) error {
	if err := s.plain(name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, cause(err))
	}
	return nil
}

func writeSync(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Sweep removes what a killed writer left half done. Only the holder of the
// quest's lock may call it.
func (s *Store) Sweep() error {
	for _, dir := range []string{".campaign", ConversationsDir, ArchiveDir} {
		if err := s.plain(path.Join(dir, "x")); err != nil {
			return fmt.Errorf("sweep %s: %w", dir, err)
		}
		entries, err := fs.ReadDir(s.root.FS(), dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sweep %s: %w", dir, cause(err))
		}
		for _, e := range entries {
			name := e.Name()
			if !e.Type().IsRegular() || !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".new") {
				continue
			}
			if err := s.root.Remove(path.Join(dir, name)); err != nil {
				return fmt.Errorf("sweep %s/%s: %w", dir, name, cause(err))
			}
		}
	}
	return nil
}
