package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Find is whoever is called so in this party. What files and commands call
// somebody always means that one (cat), whatever others wear; else a skin counts
// as it is heard (rogue, The Rogue, the-rogue), as menus show it (The Rogue
// (Cat)), or by words of it that nobody else bears (wyrm). An error names those
// who were meant, or everybody, with what else the caller takes for a name.
func (p Party) Find(name string, beside ...string) (Archetype, error) {
	said := strings.Join(strings.Fields(name), " ")
	for _, a := range cast {
		if strings.EqualFold(said, a.ID) {
			return a, nil
		}
	}
	for _, fits := range []func(Face) bool{
		func(f Face) bool { return strings.EqualFold(said, f.MenuName()) || strings.EqualFold(said, f.Name()) },
		func(f Face) bool {
			heard := likeness(said)
			return heard != "" && (heard == likeness(f.Name()) || heard == f.Archetype.ID)
		},
		func(f Face) bool { return hasWords(Slug(f.Name()), Slug(said)) },
	} {
		var found []Face
		for _, a := range cast {
			if f := NewFace(a, p[a.ID]); fits(f) {
				found = append(found, f)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0].Archetype, nil
		default:
			return Archetype{}, fmt.Errorf("%q could be %s", name, listed(found, " or "))
		}
	}
	all := append([]string{listed(p.faces(), ", ")}, beside...)
	return Archetype{}, fmt.Errorf("nobody is called %q; there are %s", name, strings.Join(all, ", "))
}

// faces is the whole cast as this party wears it.
func (p Party) faces() []Face {
	var all []Face
	for _, a := range cast {
		all = append(all, NewFace(a, p[a.ID]))
	}
	return all
}

// listed names faces as a command takes them: cat, or cat (The Rogue).
func listed(faces []Face, between string) string {
	var names []string
	for _, f := range faces {
		name := f.Archetype.ID
		if f.Skin != "" {
			name += " (" + f.Skin + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, between)
}

// hasWords finds the words of one slug, one after the other, in another.
func hasWords(slug, part string) bool {
	all, want := strings.Split(slug, "-"), strings.Split(part, "-")
	for i := 0; part != "" && i+len(want) <= len(all); i++ {
		if slices.Equal(all[i:i+len(want)], want) {
			return true
		}
	}
	return false
}
