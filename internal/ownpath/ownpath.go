// Package ownpath finds a program that is the person's own: one that a
// directory of PATH has which no clone can have brought along.
//
// A relative entry of PATH means another program in every directory, and one
// that lies in the workspace, by its name or by where its links lead, belongs
// to whoever wrote the workspace. Such entries are passed over, and so is a
// program elsewhere that is a link into the workspace; what was passed over is
// said if nothing else is found. It stores nothing.
package ownpath

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// errNotFound: no entry of PATH that may be used has the program.
var errNotFound = errors.New("not installed, or not on the PATH")

// Find returns the program of that name, and the entries of PATH that are the
// person's own.
func Find(name, workspace string) (program string, dirs []string, err error) {
	err = fmt.Errorf("%s is %w", name, errNotFound)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found, missing := exec.LookPath(filepath.Join(dir, name))
		switch {
		case !filepath.IsAbs(dir):
			if missing == nil || errors.Is(missing, exec.ErrDot) {
				err = fmt.Errorf("%s is found through a relative entry of the PATH (%s) and not used; elsewhere it is %w", name, dir, errNotFound)
			}
		case Inside(workspace, dir), missing == nil && Inside(workspace, found):
			if missing == nil {
				err = fmt.Errorf("%s is found in this workspace (%s) and not used; elsewhere it is %w", name, found, errNotFound)
			}
		default:
			dirs = append(dirs, dir)
			if missing == nil && program == "" {
				program = found
			}
		}
	}
	if program != "" {
		return program, dirs, nil
	}
	return "", nil, err
}

// Inside reports whether a path lies in a directory, by name or by where its
// links lead.
func Inside(dir, path string) bool {
	for _, d := range []string{filepath.Clean(dir), Resolved(dir)} {
		for _, p := range []string{filepath.Clean(path), Resolved(path)} {
			if rel, err := filepath.Rel(d, p); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// Resolved is a path without links, or the path itself where that fails.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
