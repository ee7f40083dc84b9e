package profile

import (
	"regexp"
	"slices"
	"strings"
)

var themeParts = regexp.MustCompile(`\s*(?:[&+,/]|\band\b)\s*`)

// Suits returns the words of a text that speak for a pack: its theme, a part of
// it (family of "Family & Parenting"), or one of its characters by its whole name,
// in the order of the pack. A name that is an archetype's own says nothing.
func (p *Pack) Suits(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return Slug(string(r)) == "" })
	one := make([]string, len(words))
	for i, w := range words {
		one[i] = singular(Slug(w))
	}
	var found []string
	for _, name := range append(themeParts.Split(p.Theme, -1), p.skins()...) {
		var want []string
		for _, w := range strings.Split(Slug(name), "-") {
			want = append(want, singular(w))
		}
		if _, archetype := Lookup(want[0]); len(want) == 1 && (archetype || want[0] == "") {
			continue
		}
		for i := 0; i+len(want) <= len(one); i++ {
			if slices.Equal(one[i:i+len(want)], want) {
				found = append(found, strings.Join(words[i:i+len(want)], " "))
				break
			}
		}
	}
	return found
}

// skins are the names of the characters, without their articles.
func (p *Pack) skins() []string {
	var names []string
	for _, q := range p.Profiles {
		names = append(names, strings.TrimPrefix(q.SkinName, "The "))
	}
	return names
}

// singular is a word of a slug as if there were one of it.
func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 3:
		return w[:len(w)-1]
	}
	return w
}
