package profile

import (
	"regexp"
	"strings"
)

var themeParts = regexp.MustCompile(`\s*(?:[&+,/]|\band\b)\s*`)

// Suits returns what of a pack a text speaks of: its theme, a part of it (Family
// of "Family & Parenting"), or one of its characters, by their whole names and in
// the order of the pack. A name that is an archetype's own says nothing.
func (p *Pack) Suits(text string) []string {
	words := singular(text)
	var found []string
	for _, name := range append(themeParts.Split(p.Theme, -1), p.skins()...) {
		want := singular(name)
		if _, archetype := Lookup(want); archetype || want == "" {
			continue
		}
		if strings.Contains("-"+words+"-", "-"+want+"-") {
			found = append(found, name)
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

// singular is a text's slug with each word as if there were one of it.
func singular(text string) string {
	words := strings.Split(Slug(text), "-")
	for i, w := range words {
		switch {
		case strings.HasSuffix(w, "ies") && len(w) > 4:
			words[i] = w[:len(w)-3] + "y"
		case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 3:
			words[i] = w[:len(w)-1]
		}
	}
	return strings.Join(words, "-")
}
