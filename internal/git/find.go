package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errNoProgram is why there is no answer on a machine without git.
var errNoProgram = errors.New("git is not installed: no absolute directory of PATH outside the workspace has it")

// find looks for git where the workspace cannot have put it, and returns the
// directories of PATH that it may see.
func find(workspace string) (program string, dirs []string, err error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || inside(workspace, dir) {
			continue
		}
		dirs = append(dirs, dir)
		if program != "" {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, "git"))
		if err == nil && !inside(workspace, found) {
			program = found
		}
	}
	if program == "" {
		return "", nil, errNoProgram
	}
	return program, dirs, nil
}

// inside says whether a path lies in a directory, by name or by where its links
// lead.
func inside(dir, path string) bool {
	for _, d := range []string{filepath.Clean(dir), resolved(dir)} {
		for _, p := range []string{filepath.Clean(path), resolved(path)} {
			if p == d || strings.HasPrefix(p, strings.TrimSuffix(d, string(filepath.Separator))+string(filepath.Separator)) {
				return true
			}
		}
	}
	return false
}

// resolved is a path without links, or the path itself where that fails.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
