package room

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"

	"conclave/agent"
)

// filler copies what is granted into the room's work directory. Everything is
// read through an os.Root of the named work, so that a link that is swapped in
// at the wrong moment cannot lead out of it. What was copied before a refusal
// goes with the room that was not opened.
type filler struct {
	work   fileSink
	limits Limits

	items []Item
	links map[inode]*named
	bytes int64
	left  []LeftOut
	masks map[string]string // why a path of a copied view stays outside
}

// inode is the identity of a file; named counts the names it was met under.
type inode struct{ dev, ino uint64 }

type named struct {
	seen, all uint64
	at        string
}

func refuse(name, why string, args ...any) error {
	return fmt.Errorf("%q: %s: %w", name, fmt.Sprintf(why, args...), ErrRefused)
}

// fill copies grants and returns what the room holds now.
func fill(work fileSink, grants []Grant, copied *View, limits Limits) (Manifest, error) {
	f := &filler{work: work, limits: limits, links: map[inode]*named{}}
	for _, g := range grants {
		if err := f.grant(g); err != nil {
			return Manifest{}, fmt.Errorf("grant %q: %w", g.Name, err)
		}
	}
	if err := f.checkLinks(); err != nil {
		return Manifest{}, err
	}
	if copied != nil {
		if err := f.view(*copied); err != nil {
			return Manifest{}, fmt.Errorf("workspace %s: %w", copied.Source, err)
		}
	}
	sort.Slice(f.items, func(a, b int) bool { return f.items[a].Path < f.items[b].Path })
	return Manifest{Items: f.items, LeftOut: f.left}, nil
}

func (f *filler) grant(g Grant) error {
	if err := checkName(g.Name); err != nil {
		return err
	}
	if g.Bytes != nil && g.Source != "" {
		return errors.New("it has both bytes and a source")
	}
	to, err := f.work.sub(path.Dir(g.Name))
	if err != nil {
		return err
	}
	defer to.Close()
	if g.Source == "" {
		return f.write(item{kind: g.Kind, at: g.Name, size: int64(len(g.Bytes))}, bytes.NewReader(g.Bytes), to, 0o600)
	}
	fi, err := os.Lstat(g.Source)
	switch {
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSymlink != 0:
		return refuse(g.Source, "is a symbolic link; name what it leads to")
	case fi.IsDir() && g.Withheld == nil:
		return refuse(g.Source, "%v", errNoRule)
	case fi.IsDir():
		return f.tree(g.Source, walker{filler: f, kind: g.Kind, rule: g.Withheld}, g.Name)
	}
	root, err := os.OpenRoot(filepath.Dir(g.Source))
	if err != nil {
		return err
	}
	defer root.Close()
	return f.regular(item{kind: g.Kind, at: g.Name}, root, filepath.Base(g.Source), fi, to)
}

// view copies a project for the levels that cannot mount it.
func (f *filler) view(v View) error {
	seen, _, err := surveyView(v, f.limits, nil)
	if err != nil {
		return err
	}
	f.masks = map[string]string{}
	for _, m := range seen.masks {
		f.masks[path.Join(v.Name, m.Path)] = m.Why
	}
	return f.tree(v.Source, walker{filler: f, kind: "workspace", rule: v.Withheld, lenient: true}, v.Name)
}

// tree copies a directory.
func (f *filler) tree(source string, w walker, at string) error {
	root, err := os.OpenRoot(source)
	if err != nil {
		return err
	}
	defer root.Close()
	to, err := f.work.sub(at)
	if err != nil {
		return err
	}
	defer to.Close()
	w.top = root
	return w.walk(root, ".", to, at)
}

// item is a file on its way into the room.
type item struct {
	kind string
	at   string // below work, slash-separated
	size int64
}

// regular copies a file that was looked at as fi.
func (f *filler) regular(i item, dir *os.Root, name string, fi fs.FileInfo, to fileSink) error {
	if !fi.Mode().IsRegular() {
		return refuse(name, "is no regular file (%s)", fi.Mode().Type())
	}
	if id, n, ok := identity(fi); ok && n > 1 {
		if f.links[id] == nil {
			f.links[id] = &named{all: n, at: i.at}
		}
		f.links[id].seen++
	}
	in, err := openSame(dir, name, fi)
	if err != nil {
		return err
	}
	defer in.Close()
	var mode fs.FileMode = 0o600
	if fi.Mode()&0o111 != 0 {
		mode = 0o700
	}
	i.size = fi.Size()
	// Whoever makes the file grow while it is read gets no further than what
	// is counted against the limit.
	return f.write(i, io.LimitReader(in, i.size), to, mode)
}

// write makes a new file in the room and hashes it on the way.
func (f *filler) write(i item, from io.Reader, to fileSink, mode fs.FileMode) error {
	if err := f.count(i.size); err != nil {
		return err
	}
	out, err := to.create(path.Base(i.at), mode)
	if err != nil {
		return fmt.Errorf("write %q into the room: %w", i.at, err)
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, h), from)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy %q into the room: %w", i.at, err)
	}
	f.items = append(f.items, Item{Kind: i.kind, Path: path.Join(agent.WorkDir, i.at), Size: n, SHA256: fmt.Sprintf("%x", h.Sum(nil))})
	return nil
}

// errTooMuch marks the refusals that concern the whole, not one file.
var errTooMuch = errors.New("too much for a copy")

func (f *filler) count(size int64) error {
	f.bytes += size
	if f.bytes > f.limits.MaxCopy {
		return fmt.Errorf("%w: more than %d bytes (%w); name less, or raise the limit", errTooMuch, f.limits.MaxCopy, ErrRefused)
	}
	if len(f.items) >= f.limits.MaxFiles {
		return fmt.Errorf("%w: more than %d files (%w); name less, or raise the limit", errTooMuch, f.limits.MaxFiles, ErrRefused)
	}
	return nil
}

func (f *filler) leave(at, why string) {
	f.left = append(f.left, LeftOut{Path: path.Join(agent.WorkDir, at), Why: why})
}

// checkLinks refuses a file that has a name outside the granted work: a hard
// link planted there would otherwise carry in what it is a name of.
func (f *filler) checkLinks() error {
	for _, l := range f.links {
		if l.seen < l.all {
			return refuse(l.at, "has %d names, %d of them outside the granted work; grant a copy of it", l.all, l.all-l.seen)
		}
	}
	return nil
}

// openSame opens a file that was looked at before, and insists that it is the
// same one and a regular one still.
func openSame(root *os.Root, name string, was fs.FileInfo) (*os.File, error) {
	return openChecked(root, name, func(fi fs.FileInfo) error {
		if !fi.Mode().IsRegular() || !os.SameFile(fi, was) {
			return refuse(name, "changed while it was looked at")
		}
		return nil
	})
}

func readDir(root *os.Root, dir string) ([]fs.DirEntry, error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	sort.Slice(entries, func(a, b int) bool { return entries[a].Name() < entries[b].Name() })
	return entries, err
}
