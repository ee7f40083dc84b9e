package app

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"conclave/policy"
)

// granted are the names of keys and logins that the person let into a room, as
// paths of the workspace: their word, for one command, is the only way in. A
// project has no such word. Only what is withheld for being a key or a login
// can be granted.
func (w *workspace) granted(names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	dir, err := os.OpenRoot(w.root)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	defer dir.Close()
	var out []string
	for _, name := range names {
		rel := path.Clean(filepath.ToSlash(name))
		if path.IsAbs(rel) || filepath.IsAbs(name) || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
			return nil, usageError("--grant %q: name a path below the workspace %s", name, w.root)
		}
		if _, err := dir.Lstat(filepath.FromSlash(rel)); err != nil {
			return nil, usageError("--grant %q: there is no such file in %s", name, w.root)
		}
		switch kind := policy.ClassifyWorkspace(rel, nil); kind {
		case policy.Credentials:
			out = append(out, rel)
		case policy.Workspace:
			return nil, usageError("--grant %q: it needs no grant", name)
		default:
			return nil, usageError("--grant %q: %s (%s) cannot be granted, only keys and logins can",
				name, kind, policy.Describe(kind))
		}
	}
	return out, nil
}
