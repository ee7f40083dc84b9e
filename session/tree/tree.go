// Package tree walks the directories in which programs keep their sessions:
// who looks for files of sessions does it here, so that all find the same.
//
// A person may have put such a directory elsewhere, onto a larger disk or into
// what is shared between machines, and a link in its place. Links are followed,
// each to a place where nobody has been: what lies below the roots itself is found
// first and by its own path, so that a link to it, or a circle of links, gives
// nothing twice. What only a link leads to has the link's path, for that is where
// the program has it.
//
// It refuses a link that leads out of a workspace, and any in a directory of
// Conclave's own: somebody else may have put them there. Such links, and those that
// lead nowhere, are passed over. It stores nothing.
package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/workspace"
)

// own is a directory of Conclave's, in which no link is its own.
const own = ".conclave"

// Walk calls visit with the directories and the regular files at and below roots,
// in the manner of filepath.WalkDir: directories before what is in them, with what
// is wrong with one or with a root, and visit may return fs.SkipDir for a
// directory. An error ends the walk.
func Walk(roots []string, visit fs.WalkDirFunc) error {
	w := walk{visit: visit, been: map[string]bool{}}
	for _, root := range roots {
		if err := w.root(root); err != nil {
			return err
		}
	}
	for len(w.links) > 0 {
		l := w.links[0]
		w.links = w.links[1:]
		if err := w.follow(l); err != nil {
			return err
		}
	}
	return nil
}

type walk struct {
	visit fs.WalkDirFunc
	// been has directories, and files that were not found in one of them, by where
	// they really are.
	been  map[string]bool
	links []link // to be followed when all else is done
}

// link is found at path, and really lies at at.
type link struct{ path, at string }

func (w *walk) root(root string) error {
	info, err := os.Lstat(root)
	if err != nil {
		return past(w.visit(root, nil, err))
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return past(w.visit(root, nil, err))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		w.links = append(w.links, link{root, abs})
		return nil
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return past(w.visit(root, nil, err))
	}
	return w.take(root, real, fs.FileInfoToDirEntry(info))
}

// follow goes on where a link leads to.
func (w *walk) follow(l link) error {
	if strings.Contains(l.at, string(filepath.Separator)+own+string(filepath.Separator)) || workspace.LeadsOut(l.at) != nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(l.at)
	if err != nil {
		return nil // it leads nowhere, or round and round
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil // gone since
	}
	return w.take(l.path, real, fs.FileInfoToDirEntry(info))
}

// take takes what is found at path, and really is at real.
func (w *walk) take(path, real string, d fs.DirEntry) error {
	if d.IsDir() {
		return w.dir(path, real, d)
	}
	if !d.Type().IsRegular() || w.been[real] || w.been[filepath.Dir(real)] {
		return nil
	}
	w.been[real] = true
	return past(w.visit(path, d, nil))
}

func (w *walk) dir(path, real string, d fs.DirEntry) error {
	if w.been[real] {
		return nil
	}
	w.been[real] = true
	if err := w.visit(path, d, nil); err != nil {
		return past(err)
	}
	list, err := os.ReadDir(path)
	if err != nil {
		if err := w.visit(path, d, err); err != nil {
			return past(err)
		}
	}
	for _, e := range list {
		path, real := filepath.Join(path, e.Name()), filepath.Join(real, e.Name())
		var err error
		switch {
		case e.IsDir():
			err = w.dir(path, real, e)
		case e.Type().IsRegular() && !w.been[real]:
			err = past(w.visit(path, e, nil))
		case e.Type()&fs.ModeSymlink != 0:
			w.links = append(w.links, link{path, real})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// past is an error that ends the walk.
func past(err error) error {
	if err == fs.SkipDir {
		return nil
	}
	return err
}
