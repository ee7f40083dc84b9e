package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/session/kind"
	"conclave/session/unfold"
)

// Stores are what programs keep otherwise than in lines (see package unfold), and
// where their lines are put.
type Stores struct {
	Spool string   // a directory of Conclave's own
	Own   []string // where the programs keep them; see DefaultStores
}

// OwnSpool is where the lines of the programs' own stores lie, and nothing else.
func (s Stores) OwnSpool() string { return filepath.Join(s.Spool, "own") }

// Unfold brings the lines of the stores at paths, files or directories, up to
// date, and returns the directories that hold them. Of a store that cannot be read
// the error tells, and what is there of it is among them all the same.
func (s Stores) Unfold(ctx context.Context, paths []string) (dirs []string, err error) {
	seen := map[string]bool{}
	err = unfold.Sweep(s.OwnSpool(), kinds)
	for _, path := range paths {
		stores, e := unfold.Find(path, kinds)
		err = errors.Join(err, e)
		for _, store := range stores {
			if seen[store.Path] {
				continue
			}
			seen[store.Path] = true
			spool := s.OwnSpool()
			if !s.owns(store.Path) {
				spool = filepath.Join(s.Spool, "named")
			}
			err = errors.Join(err, store.Update(ctx, spool))
			if _, e := os.Stat(store.Dir(spool)); e == nil {
				dirs = append(dirs, store.Dir(spool))
			}
		}
	}
	return dirs, err
}

func (s Stores) owns(path string) bool {
	for _, dir := range s.Own {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// DefaultStores are where the programs keep their stores.
func DefaultStores(getenv func(string) string) (paths []string) {
	for _, k := range kinds {
		dir := directory(k, getenv)
		if dir == "" || k.Store == nil {
			continue
		}
		paths = append(paths, dir)
		if k.Archived != "" {
			paths = append(paths, archived(k, dir))
		}
	}
	return paths
}

// IsStore says whether the file at path is one in which a program keeps sessions
// otherwise than in lines, by its name.
func IsStore(path string) bool {
	return slices.ContainsFunc(kinds, func(k *kind.Kind) bool { return k.Store != nil && k.Store(path) })
}
