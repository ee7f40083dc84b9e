package room

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// files joins granted work and a view to one file system. It resolves every
// path of the view itself, so that a link or another spelling leads no further
// than in a room that mounts it.
type files struct {
	work   fs.FS
	view   *os.Root // nil without one
	name   string   // of the view, below work
	rule   Rule
	masked []string
	seen   string // what tells this view from another
}

// ViewIdentity tells the view from every other one that shows something else:
// by the project it looks at, what it leaves out, and the listing when it was
// opened, with sizes and times. It is empty without a view.
func (f *files) ViewIdentity() string { return f.seen }

// Open opens a file or directory for reading.
func (f *files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := f.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return file, nil
}

func (f *files) open(name string) (fs.File, error) {
	if f.view != nil && within(f.name, name) {
		rel, err := filepath.Rel(f.name, name)
		if err != nil {
			return nil, err
		}
		return f.inView(filepath.ToSlash(rel))
	}
	return f.work.Open(name)
}

func (f *files) inView(rel string) (fs.File, error) {
	real, err := resolve(f.view, rel, f.rule)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(f.masked, func(m string) bool { return within(m, real) }) {
		return nil, fs.ErrNotExist
	}
	file, err := openChecked(f.view, filepath.FromSlash(real), func(fi fs.FileInfo) error {
		if !fi.Mode().IsRegular() && !fi.IsDir() {
			return fs.ErrNotExist
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &viewDir{ReadDirFile: file, f: f, at: real}, nil
}

// viewDir leaves out of a listing what cannot be opened.
type viewDir struct {
	fs.ReadDirFile
	f  *files
	at string
}

func (d *viewDir) ReadDir(n int) ([]fs.DirEntry, error) {
	for {
		entries, err := d.ReadDirFile.ReadDir(n)
		kept := slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
			at := strings.TrimPrefix(path.Join(d.at, e.Name()), "./")
			return d.f.rule.ask(d.f.view, at, e.IsDir()) != "" ||
				slices.ContainsFunc(d.f.masked, func(m string) bool { return within(m, at) })
		})
		if n <= 0 || err != nil || len(kept) > 0 {
			return kept, err
		}
	}
}
