package git

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Mode is what an entry of a tree is.
type Mode string

// The modes.
const (
	Plain      Mode = "100644"
	Executable Mode = "100755"
	Link       Mode = "120000"
	Submodule  Mode = "160000"
	directory  Mode = "40000"
	groupPlain Mode = "100664" // of the first versions of git
)

// Entry is a file, a link or a submodule of a commit. The path is in the
// workspace, with forward slashes; it is whatever somebody wrote, but no part of
// it is empty, "." or "..".
type Entry struct {
	Path string
	Mode Mode
	ID   string
}

// Bounds of a tree.
const (
	maxEntries = 500_000
	maxPath    = 4096
)

// Tree is all that a commit holds below the workspace, by path.
func (o *Objects) Tree(commit string) ([]Entry, error) {
	id, err := o.field(commit, "commit", "tree")
	if err != nil {
		return nil, o.hint(err)
	}
	below, err := filepath.Rel(o.r.top, o.r.workspace)
	if err != nil {
		return nil, err
	}
	if below != "." {
		for name := range strings.SplitSeq(filepath.ToSlash(below), "/") {
			entries, err := o.entries(id)
			if err != nil {
				return nil, err
			}
			at := slices.IndexFunc(entries, func(e Entry) bool { return e.Path == name && e.Mode == directory })
			if at < 0 {
				return nil, nil // the workspace was not there
			}
			id = entries[at].ID
		}
	}
	w := treeWalk{o: o, known: map[string][]Entry{}}
	if err := w.walk("", id); err != nil {
		return nil, err
	}
	slices.SortFunc(w.out, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return w.out, nil
}

// treeWalk goes through a tree. One tree may stand in another many times, and so
// on: what is bounded is what is visited.
type treeWalk struct {
	o       *Objects
	visited int
	known   map[string][]Entry
	out     []Entry
}

const maxKnown = 1000 // trees that are not read again

func (w *treeWalk) walk(dir, id string) error {
	entries, known := w.known[id]
	if !known {
		var err error
		if entries, err = w.o.entries(id); err != nil {
			return err
		}
		if len(w.known) < maxKnown {
			w.known[id] = entries
		}
	}
	for _, e := range entries {
		e.Path = path.Join(dir, e.Path)
		if w.visited++; w.visited > maxEntries {
			return fmt.Errorf("the commit holds more than %d files and directories", maxEntries)
		}
		if len(e.Path) > maxPath {
			return fmt.Errorf("the commit holds a path of more than %d bytes", maxPath)
		}
		if e.Mode != directory {
			w.out = append(w.out, e)
		} else if err := w.walk(e.Path, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// entries reads one tree. One that git would not have written is refused: names
// that are paths, and names that stand there twice.
func (o *Objects) entries(id string) ([]Entry, error) {
	data, err := o.whole(id, "tree", maxTreeObject)
	if err != nil {
		return nil, err
	}
	var out []Entry
	seen := map[string]bool{}
	size := o.hash().Size()
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		if !ok || !spaced || len(rest) < size {
			return nil, fmt.Errorf("tree %s is damaged", short(id))
		}
		e := Entry{Path: name, Mode: Mode(mode), ID: hex.EncodeToString(rest[:size])}
		data = rest[size:]
		switch {
		case name == "" || name == "." || name == ".." || strings.Contains(name, "/"):
			return nil, fmt.Errorf("tree %s holds %q, which is no name of a file", short(id), name)
		case seen[name]:
			return nil, fmt.Errorf("tree %s holds %q twice", short(id), name)
		case e.Mode == groupPlain:
			e.Mode = Plain
		case !slices.Contains([]Mode{Plain, Executable, Link, Submodule, directory}, e.Mode):
			return nil, fmt.Errorf("tree %s holds %q, which is neither file nor link (%q)", short(id), name, mode)
		}
		seen[name] = true
		out = append(out, e)
	}
	return out, nil
}

// Limits bound what is extracted.
type Limits struct {
	Files int
	Bytes int64 // of all files together
}

// Skipped is an entry that was not extracted.
type Skipped struct{ Path, Reason string }

// Extract writes entries into a directory that is empty: plain files first, and
// links last, so that nothing is ever written through one. What cannot stand in a
// directory is left out and said; more than the limits is an error.
func (o *Objects) Extract(dir string, entries []Entry, limits Limits) ([]Skipped, error) {
	files := 0
	for _, e := range entries {
		if e.Mode != Submodule {
			files++
		}
	}
	if files > limits.Files {
		return nil, fmt.Errorf("more than %d files; name less", limits.Files)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	x := extraction{o: o, root: root, left: limits.Bytes, limits: limits}
	for _, links := range []bool{false, true} {
		for _, e := range entries {
			if (e.Mode == Link) != links {
				continue
			}
			if err := x.write(e); err != nil {
				return nil, fmt.Errorf("%q: %w", e.Path, err)
			}
		}
	}
	return x.skipped, nil
}

type extraction struct {
	o       *Objects
	root    *os.Root
	limits  Limits
	left    int64
	skipped []Skipped
}

func (x *extraction) write(e Entry) error {
	if e.Mode == Submodule {
		x.skip(e, "a submodule: its files are in another repository")
		return nil
	}
	name := filepath.FromSlash(e.Path)
	if !filepath.IsLocal(name) {
		x.skip(e, "no name that a file can have here")
		return nil
	}
	if err := x.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		x.skip(e, "it has no place here: "+reason(err))
		return nil
	}
	if e.Mode == Link {
		return x.link(e, name)
	}
	return x.file(e, name)
}

func (x *extraction) file(e Entry, name string) error {
	mode := os.FileMode(0o600)
	if e.Mode == Executable {
		mode = 0o700
	}
	f, err := x.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		x.skip(e, "it has no place here: "+reason(err))
		return nil
	}
	n, err := x.o.Blob(e.ID, x.left, f)
	err = errors.Join(err, f.Close())
	if errors.As(err, new(*tooLarge)) {
		return fmt.Errorf("more than %d bytes in all; name less", x.limits.Bytes)
	}
	x.left -= n
	return x.o.partial(err)
}

func (x *extraction) link(e Entry, name string) error {
	var to bytes.Buffer
	_, err := x.o.Blob(e.ID, maxPath, &to)
	switch {
	case errors.As(err, new(*tooLarge)):
		x.skip(e, "a link that is too long")
		return nil
	case err != nil:
		return x.o.partial(err)
	}
	if err := x.root.Symlink(to.String(), name); err != nil {
		x.skip(e, "it has no place here: "+reason(err))
	}
	return nil
}

func (x *extraction) skip(e Entry, why string) {
	x.skipped = append(x.skipped, Skipped{e.Path, why})
}

// partial says how a clone without its files gets them.
func (o *Objects) partial(err error) error {
	if errors.Is(err, errMissing) {
		return fmt.Errorf("%w; is this a clone without its files? git fetch --refetch --no-filter brings them", err)
	}
	return err
}

// reason is an error without the paths of this machine.
func reason(err error) string {
	var of *os.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err.Error()
	}
	return err.Error()
}
