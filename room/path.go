package room

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// checkName accepts a path under work: local, clean, slash-separated.
func checkName(name string) error {
	switch {
	case name == "" || name == ".":
		return fmt.Errorf("%w: a grant needs a name", ErrRefused)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%w: the name %q holds a zero byte", ErrRefused, name)
	case strings.ContainsRune(name, '\\'):
		return fmt.Errorf("%w: the name %q holds a backslash: use slashes", ErrRefused, name)
	case path.IsAbs(name), !filepath.IsLocal(filepath.FromSlash(name)), path.Clean(name) != name:
		return fmt.Errorf("%w: the name %q must be a clean path below work", ErrRefused, name)
	}
	return nil
}

// within reports whether the clean path p is dir or lies below it. It compares
// segments: /a/agent_10 is not within /a/agent_1.
func within(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

var errLeaves = errors.New("leads out of the named work")

// resolve follows the symbolic links of rel within root, and returns a path
// that has none. A link that leaves the root, also on the way to somewhere
// inside, is an error, as is a path through what the rule withholds.
func resolve(root *os.Root, rel string, rule Rule) (string, error) {
	todo := strings.Split(filepath.ToSlash(rel), "/")
	var done []string
	for links := 0; len(todo) > 0; {
		seg := todo[0]
		todo = todo[1:]
		switch seg {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", errLeaves
			}
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(append(slices.Clone(done), seg)...)
		fi, err := root.Lstat(filepath.FromSlash(at))
		if err != nil {
			return "", err
		}
		if rule.ask(root, at, fi.IsDir()) != "" {
			return "", fmt.Errorf("leads through %q, which enters no room", seg)
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			done = append(done, seg)
			continue
		}
		if links++; links > 40 {
			return "", errors.New("has too many symbolic links on the way")
		}
		to, err := root.Readlink(filepath.FromSlash(at))
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			return "", errLeaves
		}
		todo = append(strings.Split(filepath.ToSlash(to), "/"), todo...)
	}
	if len(done) == 0 {
		return ".", nil
	}
	return path.Join(done...), nil
}
