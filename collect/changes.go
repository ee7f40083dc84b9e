package collect

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"conclave/session/tree"
)

// ErrNoEvents: this system tells nobody when files change.
var ErrNoEvents = errors.New("there are no file events here")

// lookAgain is how often directories are looked for that were not there.
const lookAgain = 2 * time.Second

// Changes tells which files below roots have changed, until ctx ends: those that
// changed since it was last called, as soon as that is known, or, with no path, that
// some may have of which nobody knows which. It begins so, once it is watching.
func Changes(ctx context.Context, roots []string, changed func(paths []string)) error {
	w := newWatcher()
	if w == nil {
		return ErrNoEvents
	}
	defer w.close() //nolint:errcheck // nothing was written
	missing := slices.Clone(roots)
	find := func(told bool) {
		missing = slices.DeleteFunc(missing, func(root string) bool {
			if _, err := os.Stat(root); err != nil {
				return false
			}
			if found := w.below(root); told {
				changed(found)
			}
			return true
		})
	}
	find(false)
	changed(nil) // what came before this moment no event tells of
	timer := time.NewTicker(lookAgain)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			find(true)
		case e, ok := <-w.channel():
			if !ok {
				return ErrNoEvents
			}
			paths, all := w.gather(e)
			if all {
				for _, root := range roots {
					w.below(root)
				}
				paths = nil
			}
			if all || len(paths) > 0 {
				changed(paths)
			}
		}
	}
}

// gather takes a hint and all that wait behind it. A directory stands for what is
// below it, and is watched from now on.
func (o *watcher) gather(first event) (paths []string, all bool) {
	seen := map[string]bool{}
	take := func(e event) {
		all = all || e.all
		if e.path == "" || seen[e.path] {
			return
		}
		seen[e.path] = true
		if info, err := os.Lstat(e.path); err == nil && info.IsDir() {
			for _, p := range o.below(e.path) {
				if !seen[p] {
					seen[p], paths = true, append(paths, p)
				}
			}
			return
		}
		paths = append(paths, e.path)
	}
	take(first)
	o.poll(take)
	return paths, all
}

// below has a directory watched and those below it, and returns the files there.
func (o *watcher) below(root string) (files []string) {
	_ = tree.Walk([]string{root}, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // gone since, or not ours to read
		case d.IsDir():
			o.add(path)
		default:
			files = append(files, path)
		}
		return nil
	}) // nothing above returns an error
	return files
}
