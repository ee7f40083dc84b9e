package profile

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed packs/*/*.md packs/LICENSE.md
var embedded embed.FS

// licence returns the licence of the built-in packs' texts.
func licence() []byte {
	data, _ := embedded.ReadFile("packs/LICENSE.md")
	return data
}

// Library is the search path for packs: the project's, the user's, the built-in
// ones. An empty or missing directory holds none.
type Library struct {
	Project string // profile-packs/ of the project
	User    string // profile-packs/ of the user's data directory
}

// List returns every pack in the order of the search path. Faulty packs are
// listed too, with their faults.
func (l Library) List() ([]*Pack, error) {
	var all []*Pack
	for _, origin := range []Origin{FromProject, fromUser, FromBuiltin} {
		names, err := l.names(origin)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			p, err := l.open(origin, name)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// errNoPack is returned by Find for a name that nobody has.
var errNoPack = errors.New("no such pack")

// Find returns the pack of that name. A name may be qualified by its origin
// (project:fantasy); an unqualified one that several origins have is an error
// that names them.
func (l Library) Find(name string) (*Pack, error) {
	origins := []Origin{FromProject, fromUser, FromBuiltin}
	if prefix, rest, ok := strings.Cut(name, ":"); ok {
		if !slices.Contains(origins, Origin(prefix)) {
			return nil, fmt.Errorf("find pack %s: no origin %q; write project:, user: or builtin: before the name", name, prefix)
		}
		origins, name = []Origin{Origin(prefix)}, rest
	}
	var found []Origin
	var known []string
	for _, origin := range origins {
		names, err := l.names(origin)
		if err != nil {
			return nil, err
		}
		known = append(known, names...)
		if slices.Contains(names, name) {
			found = append(found, origin)
		}
	}
	switch len(found) {
	case 0:
		slices.Sort(known)
		return nil, fmt.Errorf("find pack %q: %w; there are %s", name, errNoPack, strings.Join(slices.Compact(known), ", "))
	case 1:
		return l.open(found[0], name)
	}
	var where []string
	for _, origin := range found {
		where = append(where, fmt.Sprintf("%s:%s (%s)", origin, name, l.where(origin, name)))
	}
	return nil, fmt.Errorf("find pack %q: the name is there more than once: %s; say which", name, strings.Join(where, " and "))
}

func (l Library) dir(origin Origin) string {
	if origin == FromProject {
		return l.Project
	}
	return l.User
}

func (l Library) where(origin Origin, name string) string {
	if origin == FromBuiltin {
		return "built in"
	}
	return filepath.Join(l.dir(origin), name)
}

// names lists the directories of an origin.
func (l Library) names(origin Origin) ([]string, error) {
	var entries []fs.DirEntry
	var err error
	switch dir := l.dir(origin); {
	case origin == FromBuiltin:
		entries, err = fs.ReadDir(embedded, "packs")
	case dir == "":
		return nil, nil
	default:
		entries, err = os.ReadDir(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list packs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (l Library) open(origin Origin, name string) (*Pack, error) {
	if origin != FromBuiltin {
		return loadDir(filepath.Join(l.dir(origin), name), origin)
	}
	sub, err := fs.Sub(embedded, "packs/"+name)
	if err != nil {
		return nil, err
	}
	f, err := readDir(sub, name, "builtin/"+name)
	if err != nil {
		return nil, fmt.Errorf("open built-in pack %s: %w", name, err)
	}
	return newPack(f, origin), nil
}
