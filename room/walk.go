package room

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"
)

// walker copies one directory tree. It keeps the directories on its way open,
// so that each file costs one look-up.
type walker struct {
	*filler
	top  *os.Root // of the named work, for links
	kind string
	rule Rule
	// lenient leaves out what is refused otherwise: a person's project may
	// hold a socket, a named work may not.
	lenient bool
}

// walk copies what is in dir, which lies at from below the top, into to.
func (w walker) walk(dir *os.Root, from string, to fileSink, at string) error {
	entries, err := readDir(dir, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := path.Join(at, e.Name())
		err := w.entry(dir, filepath.Join(from, e.Name()), to, below, e)
		if w.lenient && errors.Is(err, ErrRefused) && !errors.Is(err, errTooMuch) {
			w.leave(below, err.Error())
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w walker) entry(dir *os.Root, from string, to fileSink, at string, e fs.DirEntry) error {
	if !utf8.ValidString(e.Name()) {
		return refuse(from, "its name is not UTF-8")
	}
	why := w.masks[at]
	if why == "" {
		why = w.rule.ask(w.top, from, e.IsDir())
	}
	switch {
	case why != "":
		w.leave(at, why)
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		return w.symlink(from, to, at)
	case e.IsDir():
		return w.down(dir, from, to, at, e.Name())
	}
	fi, err := dir.Lstat(e.Name())
	if err != nil {
		return err
	}
	return w.regular(item{kind: w.kind, at: at}, dir, e.Name(), fi, to)
}

// down copies a subdirectory. Should it have become a link since it was
// listed, the root it is opened through does not let that lead out.
func (w walker) down(dir *os.Root, from string, to fileSink, at, name string) error {
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	subTo, err := to.sub(name)
	if err != nil {
		return err
	}
	defer subTo.Close()
	return w.walk(sub, from, subTo, at)
}

// symlink takes the content that a link leads to, if that is a file within the
// named work. A link that leaves is refused: it is how secrets are fetched.
func (w walker) symlink(from string, to fileSink, at string) error {
	target, err := resolve(w.top, from, w.rule)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.leave(at, "is a symbolic link to nothing")
		return nil
	case err != nil:
		return refuse(from, "is a symbolic link that %v", err)
	}
	fi, err := w.top.Lstat(filepath.FromSlash(target))
	if err != nil {
		return err
	}
	if fi.IsDir() {
		w.leave(at, "is a symbolic link to a directory; its files stand where they are")
		return nil
	}
	return w.regular(item{kind: w.kind, at: at}, w.top, filepath.FromSlash(target), fi, to)
}
