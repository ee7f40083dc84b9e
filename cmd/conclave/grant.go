package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"conclave/policy"
)

// addGrantFlag adds the only way in which a key or a login gets into a room:
// the person's word, for one command. A project has no such word.
func addGrantFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "grant", nil, "let a key or login of the project into the room, by name (may be repeated); receipts say so")
}

// grantedPaths are the names of --grant as paths of the workspace. Only what
// is withheld for being a key or a login can be granted.
func grantedPaths(root string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	defer dir.Close()
	var out []string
	for _, name := range names {
		rel := path.Clean(filepath.ToSlash(name))
		if path.IsAbs(rel) || filepath.IsAbs(name) || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
			return nil, usageError("--grant %q: name a path below the workspace %s", name, root)
		}
		if _, err := dir.Lstat(filepath.FromSlash(rel)); err != nil {
			return nil, usageError("--grant %q: there is no such file in %s", name, root)
		}
		switch kind := policy.ClassifyWorkspace(rel, nil); kind {
		case policy.Credentials:
			out = append(out, rel)
		case policy.Workspace:
			return nil, usageError("--grant %q: it needs no grant", name)
		default:
			return nil, usageError("--grant %q: %s (%s) cannot be granted, only keys and logins can", name, kind, policy.Describe(kind))
		}
	}
	return out, nil
}
