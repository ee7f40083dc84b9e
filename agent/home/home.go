// Package home furnishes the home of a program in its room: directories and files
// that belong to whoever lives there, and the variables that every program has.
//
// It writes below a session's Place alone, through a handle on it: no link that
// the program left there leads out. What is written is readable for its owner
// only. It stores nothing else.
package home

import (
	"fmt"
	"os"
	"path/filepath"

	"conclave/agent"
)

// Dir makes a directory below the place, with those on the way to it. What is
// there stays.
func Dir(p agent.Place, elem ...string) error {
	root, err := os.OpenRoot(p.Host)
	if err != nil {
		return fmt.Errorf("furnish the room: %w", err)
	}
	defer root.Close()
	return makeDir(root, p.Host, elem)
}

func makeDir(root *os.Root, host string, elem []string) error {
	dir := ""
	for _, e := range elem {
		dir = filepath.Join(dir, e)
		err := root.Mkdir(dir, 0o700)
		if os.IsExist(err) {
			continue
		}
		if err == nil {
			err = giveTo(root, dir, host)
		}
		if err != nil {
			return fmt.Errorf("furnish the room: %w", err)
		}
	}
	return nil
}

// Put writes a file below the place, with the directories on the way to it.
func Put(p agent.Place, data []byte, elem ...string) error {
	root, err := os.OpenRoot(p.Host)
	if err != nil {
		return fmt.Errorf("furnish the room: %w", err)
	}
	defer root.Close()
	if err := makeDir(root, p.Host, elem[:len(elem)-1]); err != nil {
		return err
	}
	name := filepath.Join(elem...)
	// A new file, not somebody's under that name.
	err = root.Remove(name)
	if err == nil || os.IsNotExist(err) {
		err = root.WriteFile(name, data, 0o600)
	}
	if err == nil {
		err = giveTo(root, name, p.Host)
	}
	if err != nil {
		return fmt.Errorf("furnish the room: %w", err)
	}
	return nil
}

// Env are the variables that every program has: its home and temporary
// directory, and what a program of this system cannot start without.
func Env(p agent.Place) []string {
	return append([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "SHELL=/bin/sh",
		"HOME=" + p.InGuest(agent.HomeDir), "TMPDIR=" + p.InGuest(agent.TempDir),
	}, systemEnv()...)
}
