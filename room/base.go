package room

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/agent"
	"conclave/internal/lockfile"
)

// A room NAME lives in two entries of the base: NAME.lock, which the living
// process holds, and NAME, the directory. The lock comes first and goes last,
// so that a directory whose lock nobody holds is a dead room.
//
// Below NAME: place is what the program sees, outside what it must not see
// (the canaries of the probes).
const (
	lockSuffix = ".lock"
	placeDir   = "place"
	outsideDir = "outside"
)

// roomDir is a room's directory, locked.
type roomDir struct {
	dir  string
	lock *lockfile.Lock
}

// makeRoomDir makes the base and a new directory in it, with what a program
// needs.
func makeRoomDir(base string, who roomUser, role string) (*roomDir, error) {
	if err := makeBase(base, who); err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	sweep(base)
	name, lock, err := newName(base, role)
	if err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	g := &roomDir{dir: filepath.Join(base, name), lock: lock}
	dirs := []string{g.dir, g.place(), g.outside()}
	for _, d := range []string{agent.WorkDir, agent.OutboxDir, agent.HomeDir, agent.TempDir} {
		dirs = append(dirs, filepath.Join(g.place(), d))
	}
	for _, d := range dirs {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("open room: %w", err), g.remove())
		}
	}
	return g, nil
}

// newName finds a name and locks it. Another process that sweeps may hold the
// new lock for a moment, and removes it then: the next name is as good.
func newName(base, role string) (name string, lock *lockfile.Lock, err error) {
	for range 20 {
		name = strings.ToLower(rand.Text())
		lock, err = lockfile.TryLock(filepath.Join(base, name+lockSuffix), "room "+role)
		var held *lockfile.HeldError
		if !errors.As(err, &held) {
			break
		}
	}
	return name, lock, err
}

func (g *roomDir) place() string   { return filepath.Join(g.dir, placeDir) }
func (g *roomDir) outside() string { return filepath.Join(g.dir, outsideDir) }

func (g *roomDir) remove() error {
	return errors.Join(removeAll(g.dir), g.lock.Unlock())
}

// makeBase makes the directory of all rooms of this user, and refuses one that
// somebody else could have prepared.
func makeBase(base string, who roomUser) error {
	mode := fs.FileMode(0o700)
	if who.separate {
		mode = 0o711 // the rooms' own users pass through, and cannot list it
	}
	if err := os.MkdirAll(base, mode); err != nil {
		return err
	}
	fi, err := os.Lstat(base)
	if err != nil {
		return err
	}
	if uid, ok := ownerOf(fi); !fi.IsDir() || ok && uid != os.Geteuid() {
		return fmt.Errorf("%s belongs to somebody else, or is no directory: remove it, or set TMPDIR to a directory of your own", base)
	}
	if who.separate {
		if err := passable(base); err != nil {
			return err
		}
	}
	// A base that others pass through stays so: their rooms may be in use.
	if now := fi.Mode().Perm(); now != mode && now != 0o711 {
		return os.Chmod(base, mode)
	}
	return nil
}

// passable reports whether a room's own user can get to base, without which
// the probes could show nothing.
func passable(base string) error {
	for dir := filepath.Dir(base); ; dir = filepath.Dir(dir) {
		fi, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if fi.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("nobody but its owner may pass through %s: set TMPDIR to a directory that others may pass through, such as /tmp", dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// sweep removes the rooms whose process is dead. What cannot be removed now is
// tried again by the next one.
func sweep(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, "*"+lockSuffix))
	for _, path := range locks {
		l, err := lockfile.TryLock(path, "sweep")
		if err != nil {
			continue
		}
		err = removeAll(strings.TrimSuffix(path, lockSuffix))
		_ = l.Unlock() // the lock is freed either way; its file goes with it
		if err != nil {
			_ = os.WriteFile(path, nil, 0o600)
		}
	}
}

// removeAll removes a tree also when a program has locked its directories
// against their owner.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove room: %w", err)
	}
	return nil
}
