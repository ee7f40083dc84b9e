package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/newer"
	"conclave/workspace"
)

// Recover finishes or forgets a change that was killed. Every change does so
// first; it is exported for programs that only read. Where nothing was killed it
// touches nothing.
func (p Project) Recover() error {
	staged, err := p.stagedSets()
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(staged) == 0 && !exists(p.journalPath()) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = p.locked(func() (*Change, error) { return nil, nil })
	return err
}

// recover decides by what lies where. The staged place holds the new set before
// the exchange and the old one after it; the journal has the listings of both.
// Nobody but this package writes there, whatever a person has done to the live
// set in between. Without a journal nothing was exchanged.
func (p Project) recover() error {
	var j journal
	found, err := readJSON(p.journalPath(), &j)
	if err != nil {
		return err
	}
	if !found {
		return p.dropStaged()
	}
	if err := newer.Check(j.State.Version, stateVersion); err != nil {
		return fmt.Errorf("read %s: %w", p.journalPath(), err)
	}
	at, err := listing(p.staged(j.ID))
	if err != nil {
		return err
	}
	switch {
	case at == nil: // moved to its place: only the rest is missing
		return p.settle(j)
	case !exists(p.live()) && exists(p.old(j.ID)): // between two renames
		if err := os.Rename(p.staged(j.ID), p.live()); err != nil {
			return err
		}
		p.did("rename staged to live")
		return p.settle(j)
	case !j.Fresh && maps.Equal(at, j.Old): // exchanged
		return p.settle(j)
	case maps.Equal(at, j.New): // not exchanged: forget it
		if err := os.Remove(p.journalPath()); err != nil {
			return err
		}
		p.did("remove journal")
		return p.dropStaged()
	}
	return fmt.Errorf("an installation was interrupted and %s is neither its old nor its new set; nothing was touched: look at it, then remove %s", p.staged(j.ID), p.journalPath())
}

// dropStaged removes sets that were never exchanged.
func (p Project) dropStaged() error {
	sets, err := p.stagedSets()
	if err != nil {
		return err
	}
	for _, dir := range sets {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		p.did("remove a staged set")
	}
	return nil
}

func (p Project) stagedSets() ([]string, error) {
	entries, err := os.ReadDir(p.private())
	var sets []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "staged-") {
			sets = append(sets, filepath.Join(p.private(), e.Name()))
		}
	}
	return sets, err
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// ErrNothingToUndo is returned by Undo when there is no change to take back.
var ErrNothingToUndo = errors.New("nothing to undo")

// Undo takes the last change back: the files it wrote become what they were, or
// go. A file that was edited since is in the way unless force is set.
func (p Project) Undo(force bool) (*Change, error) {
	return p.locked(func() (*Change, error) {
		s, err := p.readState()
		if err != nil {
			return nil, err
		}
		if len(s.History) == 0 {
			return nil, ErrNothingToUndo
		}
		last := s.History[len(s.History)-1]
		plan := plan{what: "undo " + last.What, write: map[string][]byte{}, force: force, undoes: &last}
		for name, hash := range last.Before {
			if hash == "" {
				plan.remove = append(plan.remove, name)
				continue
			}
			data, err := workspace.ReadOwn(filepath.Join(p.old(last.ID), name), workspace.MaxFile)
			if err != nil || digest(data) != hash {
				return nil, fmt.Errorf("undo %s: the kept copy of %s is gone or changed (%s)", last.What, name, p.old(last.ID))
			}
			plan.write[name] = data
		}
		return p.apply(plan)
	})
}
