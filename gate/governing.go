package gate

import (
	"fmt"
	"path"
	"strings"

	"conclave/internal/git"
)

// Governed is a place in a workspace that says who judges, or how: a file, or a
// directory with all that is in it.
type Governed struct {
	Path string
	Dir  bool
}

// has says whether a path is of that place, however a careless file system spells
// it. A file in place of one of its directories is, too.
func (g Governed) has(name string) bool {
	name, place := fold(name), fold(g.Path)
	return name == place || strings.HasPrefix(place, name+"/") || g.Dir && strings.HasPrefix(name, place+"/")
}

func fold(name string) string { return strings.ToLower(path.Clean(name)) }

// TouchedError: a change reaches for what it is judged by.
type TouchedError struct {
	Paths []string
	Base  string // the commit that it was taken from
}

func (e *TouchedError) Error() string {
	lines := make([]string, 0, len(e.Paths))
	for _, p := range e.Paths {
		lines = append(lines, fmt.Sprintf("%q: the change touches it, and it says who judges or by what", p))
	}
	return strings.Join(lines, "\n") + "\nland these files by themselves first, by somebody's own yes; then judge the rest"
}

// governed are the places of a case: what the caller of Open lists, and the file
// of the criteria.
func (o *Opened) governed(list []Governed) []Governed {
	if o.Case.Criteria.Origin == Committed || o.Case.Criteria.Origin == OfQuest {
		list = append(list, Governed{Path: o.Case.Criteria.File})
	}
	return list
}

func governs(list []Governed, name string) bool {
	for _, g := range list {
		if g.has(name) {
			return true
		}
	}
	return false
}

// untouched refuses a change to what governs.
func untouched(list []Governed, changed []string, base string) error {
	e := &TouchedError{Base: base}
	for _, name := range changed {
		if governs(list, name) {
			e.Paths = append(e.Paths, name)
		}
	}
	if len(e.Paths) > 0 {
		return e
	}
	return nil
}

// governing are the files of a commit that govern. A link or a submodule among
// them is refused: what it leads to could be changed without it.
func (t tree) governing(list []Governed) ([]git.Entry, error) {
	var out []git.Entry
	for _, e := range t.entries {
		if !governs(list, e.Path) {
			continue
		}
		if e.Mode == git.Link || e.Mode == git.Submodule {
			return nil, fmt.Errorf("%q: it says who judges or by what, and at %.12s it is no file of the repository "+
				"but leads elsewhere", e.Path, t.commit)
		}
		out = append(out, e)
	}
	return out, nil
}
