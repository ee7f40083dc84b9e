package profile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/internal/atomicfile"
	"conclave/workspace"
)

// listing maps every file below a directory to the hash of its content; a link
// to "link:" and where it leads, a directory to "dir". It is nil, without an
// error, if there is no directory.
func listing(dir string) (map[string]string, error) {
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		list[filepath.ToSlash(rel)], err = fingerprint(name, e)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && !exists(dir) {
		return nil, nil
	}
	return list, err
}

func fingerprint(name string, e fs.DirEntry) (string, error) {
	switch {
	case e.IsDir():
		return "dir", nil
	case e.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		return "link:" + target, err
	case !e.Type().IsRegular():
		return "", errors.New(name + " is not a plain file; move it out of the profiles")
	}
	data, err := workspace.ReadOwn(name, workspace.MaxFile)
	if err != nil {
		return "", err
	}
	return digest(data), nil
}

// copyTree copies what is in from, but for the top-level names that skip takes
// out. Links are copied as links, modes and times are kept.
func (p Project) copyTree(from, to string, skip func(name string) bool) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if skip != nil && skip(e.Name()) {
			continue
		}
		if err := p.copyEntry(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (p Project) copyEntry(from, to string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	switch {
	case e.IsDir():
		if err := os.Mkdir(to, info.Mode().Perm()|0o700); err != nil {
			return err
		}
		p.did("make directory " + e.Name())
		if err := p.copyTree(from, to, nil); err != nil {
			return err
		}
		return p.syncDir(to)
	case e.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	data, err := workspace.ReadOwn(from, workspace.MaxFile)
	if err != nil {
		return err
	}
	if err := p.writeFile(to, data, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// syncDir makes the names in a directory durable, where the system can.
func (p Project) syncDir(dir string) error {
	var err error
	if !p.noSync {
		err = atomicfile.SyncDir(dir)
	}
	p.did("sync " + filepath.Base(dir))
	return err
}
