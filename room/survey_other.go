//go:build !linux

package room

import (
	"os"
	"path/filepath"
)

// watch is for mounted views, and those are Linux's alone.
type watch struct{}

func (*watch) addFile(string) error { return nil }

func openWatch(View, Limits, func(error)) (*watch, error) { return nil, nil }
func (*watch) start([]string)                             {}
func (*watch) close() error                               { return nil }

// lister reads the directories of a view.
type lister struct{ root *os.Root }

func newLister(root *os.Root, _ *watch) (*lister, error) { return &lister{root}, nil }

func (*lister) close() {}

func (l *lister) list(dir string, hidden bool) ([]entry, error) {
	if hidden {
		return nil, nil // there is nobody to watch it
	}
	names, err := readDir(l.root, filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, n := range names {
		fi, err := n.Info()
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		e := entry{at: join(dir, n.Name()), name: n.Name(), mode: fi.Mode().Type(), size: fi.Size(), mtime: fi.ModTime().UnixNano()}
		if id, links, ok := identity(fi); ok {
			e.id, e.links = id, links
		}
		entries = append(entries, e)
	}
	return entries, nil
}
