package clients

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Lend puts a program, and what lies beside it, into a directory that everybody
// gets to, and returns where it is then: a room's own user cannot enter root's
// home, and a room without namespaces mounts nothing. Everybody else uses the
// program where it is.
func Lend(native string) (lent string, remove func(), err error) {
	if os.Geteuid() != 0 {
		return native, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "conclave-programs-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the system clears what is left
	entries, err := os.ReadDir(filepath.Dir(native))
	err = errors.Join(err, os.Chmod(dir, 0o755))
	for _, e := range entries {
		if !e.IsDir() {
			err = errors.Join(err, place(filepath.Join(filepath.Dir(native), e.Name()), filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return filepath.Join(dir, filepath.Base(native)), remove, nil
}

// Wrap puts a program into a directory that everybody gets to, with some files
// beside it, behind a script that gives it more environment: NAME=VALUE, where
// DIR stands for the directory. It returns where the script is.
func Wrap(native string, files map[string][]byte, env ...string) (script string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "conclave-programs-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the system clears what is left
	script = filepath.Join(dir, filepath.Base(native))
	text := "#!/bin/sh\n"
	for _, e := range env {
		text += "export " + strings.ReplaceAll(e, "DIR", dir) + "\n"
	}
	text += "exec " + script + ".real \"$@\"\n"
	err = errors.Join(os.Chmod(dir, 0o755), place(native, script+".real"), os.WriteFile(script, []byte(text), 0o755))
	for name, data := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return script, remove, nil
}

// place links a file, or copies it to another disk.
func place(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}
