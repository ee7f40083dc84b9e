package profile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// plan is a change of the live set.
type plan struct {
	what   string
	write  map[string][]byte
	remove []string
	force  bool
	undoes *done // the change that this one takes back
}

// apply makes the new set beside the old one, exchanges the two in one
// operation, and keeps the old one. The journal lets recover finish or forget
// what a kill interrupted.
func (p Project) apply(plan plan) (*Change, error) {
	s, err := p.readState()
	if err != nil {
		return nil, err
	}
	before, err := listing(p.live())
	if err != nil {
		return nil, fmt.Errorf("read the profiles: %w", err)
	}
	c, entry, err := p.decide(plan, s, before)
	if err != nil {
		return nil, err
	}
	next := s.after(plan, entry)
	if len(c.Written)+len(c.Removed) == 0 {
		c.Kept = ""
		return c, p.writeJSON(p.statePath(), next)
	}
	if err := p.stage(c.ID, plan); err != nil {
		return nil, errors.Join(fmt.Errorf("write the new profiles: %w", err), os.RemoveAll(p.staged(c.ID)))
	}
	j := journal{ID: c.ID, Fresh: before == nil, Old: before, State: next}
	if j.New, err = listing(p.staged(c.ID)); err != nil {
		return nil, err
	}
	// Someone may have saved a profile while the new set was being made.
	if now, err := listing(p.live()); err != nil || !maps.Equal(now, before) || (now == nil) != (before == nil) {
		return nil, errors.Join(err, os.RemoveAll(p.staged(c.ID)),
			errors.New("the profiles changed during the installation; nothing was done: run it again"))
	}
	if err := p.writeJSON(p.journalPath(), j); err != nil {
		return nil, fmt.Errorf("write the journal: %w", err)
	}
	return c, p.commit(j)
}

// decide compares the plan with what is there: what to write, what to remove,
// and whether a person's work is in the way.
func (p Project) decide(plan plan, s state, before map[string]string) (*Change, done, error) {
	id, err := newID()
	if err != nil {
		return nil, done{}, err
	}
	c := &Change{ID: id, What: plan.what}
	d := done{ID: id, What: plan.what, Before: map[string]string{}, After: map[string]string{}, Files: map[string]installed{}}
	var edited []string
	touch := func(name, after string) {
		was := before[name]
		if was != "" && was != after && was != s.Files[name].SHA256 {
			edited = append(edited, name)
		}
		d.Before[name], d.After[name] = was, after
		if f, ok := s.Files[name]; ok {
			d.Files[name] = f
		}
	}
	for _, name := range slices.Sorted(maps.Keys(plan.write)) {
		hash := digest(plan.write[name])
		touch(name, hash)
		if before[name] != hash {
			c.Written = append(c.Written, name)
		}
	}
	for _, name := range plan.remove {
		if before[name] != "" {
			touch(name, "")
			c.Removed = append(c.Removed, name)
		}
	}
	if len(edited) > 0 && !plan.force {
		return nil, done{}, &EditedError{edited}
	}
	c.Replaced = edited
	if before != nil {
		c.Kept = p.old(id)
	}
	return c, d, nil
}

// after is the state once the plan is done.
func (s state) after(plan plan, entry done) state {
	next := state{Version: stateVersion, Files: maps.Clone(s.Files), History: slices.Clone(s.History)}
	for name, hash := range entry.After {
		next.Files[name] = installed{hash, plan.what}
		if hash == "" {
			delete(next.Files, name)
		}
	}
	if plan.undoes == nil {
		if !maps.Equal(entry.Before, entry.After) {
			next.History = append(next.History, entry)
		}
		return next
	}
	for name := range plan.undoes.After {
		delete(next.Files, name)
		if f, ok := plan.undoes.Files[name]; ok {
			next.Files[name] = f
		}
	}
	next.History = slices.DeleteFunc(next.History, func(d done) bool { return d.ID == plan.undoes.ID })
	return next
}

// stage makes the whole new set: everything that is there, with the plan's files.
func (p Project) stage(id string, plan plan) error {
	dir := p.staged(id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p.did("make staged")
	skip := func(name string) bool {
		_, writes := plan.write[name]
		return writes || slices.Contains(plan.remove, name)
	}
	if err := p.copyTree(p.live(), dir, skip); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(plan.write)) {
		mode := fs.FileMode(0o644)
		if info, err := os.Stat(filepath.Join(p.live(), name)); err == nil {
			mode = info.Mode().Perm()
		}
		if err := p.writeFile(filepath.Join(dir, name), plan.write[name], mode); err != nil {
			return err
		}
	}
	return p.syncDir(dir)
}

// commit exchanges the sets and settles the rest. Every step of it can be
// repeated; recover enters it again at the step that a kill interrupted.
func (p Project) commit(j journal) error {
	if err := os.MkdirAll(filepath.Dir(p.live()), 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.old(j.ID)), 0o700); err != nil {
		return err
	}
	p.did("make directories")
	if err := p.swap(j); err != nil {
		return fmt.Errorf("exchange the profiles: %w", err)
	}
	return p.settle(j)
}

func (p Project) swap(j journal) error {
	defer func() { _ = p.syncDir(filepath.Dir(p.live())) }()
	if j.Fresh {
		err := os.Rename(p.staged(j.ID), p.live())
		p.did("rename staged to live")
		return err
	}
	if done, err := exchange(p.staged(j.ID), p.live()); done || err != nil {
		p.did("exchange staged and live")
		return err
	}
	// Without an exchange there is a moment with no live set; recover ends it.
	if err := os.Rename(p.live(), p.old(j.ID)); err != nil {
		return err
	}
	p.did("rename live to old")
	err := os.Rename(p.staged(j.ID), p.live())
	p.did("rename staged to live")
	return err
}

// settle follows the exchange: keep the old set, write the state, drop the journal.
func (p Project) settle(j journal) error {
	if exists(p.staged(j.ID)) {
		if err := os.Rename(p.staged(j.ID), p.old(j.ID)); err != nil {
			return err
		}
		p.did("rename staged to old")
	}
	if err := p.writeJSON(p.statePath(), j.State); err != nil {
		return err
	}
	if err := os.Remove(p.journalPath()); err != nil {
		return err
	}
	p.did("remove journal")
	return p.syncDir(p.private())
}

// newID sorts by time and does not repeat.
func newID() (string, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return time.Now().UTC().Format("20060102T150405.000") + "-" + hex.EncodeToString(b[:]), nil
}
