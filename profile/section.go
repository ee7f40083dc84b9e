package profile

import (
	"fmt"
	"strings"

	"conclave/frontmatter"
)

// part is one of the sections a profile may have, under any of its names.
type part struct {
	names []string
	rule  string
	need  bool
}

var parts = []part{
	{[]string{"Character Concept", "Thematic Adaptation"}, "concept", true},
	{[]string{"Tone and Voice", "Voice and Manner"}, "voice", true},
	{[]string{"Behavioural Modifiers", "Behavioural Tweaks"}, "modifiers", false},
}

func (r *reader) readSections(p *Profile) {
	for i, target := range []*string{&p.Concept, &p.Voice, &p.Modifiers} {
		if s := r.readPart(parts[i]); s != nil {
			*target = strings.TrimSpace(s.Body)
			if parts[i].rule == "modifiers" {
				p.Depth = Modifier
				r.checkModifiers(p, s)
			}
		}
	}
	r.checkNameSection(p)
}

// readPart finds the one section of a part.
func (r *reader) readPart(want part) *frontmatter.Section {
	var found *frontmatter.Section
	for _, s := range r.doc.Sections() {
		if !isNamed(s.Name, want.names) {
			continue
		}
		if found != nil {
			r.fault(s.Line, "section-twice", fmt.Sprintf("section %q says again what %q at line %d is for", s.Name, found.Name,
				found.Line), "keep one of the two")
			return found
		}
		found = &s
	}
	switch {
	case found == nil && want.need:
		r.fault(1, want.rule+"-missing", fmt.Sprintf("section %q is missing", want.names[0]),
			fmt.Sprintf("add ## %s (or ## %s) with a paragraph", want.names[0], want.names[1]))
	case found != nil && strings.TrimSpace(withoutComments(found.Body)) == "":
		fix := "write a paragraph under it"
		if !want.need {
			fix += ", or remove the heading"
		}
		r.fault(found.Line, want.rule+"-empty", fmt.Sprintf("section %q is empty", found.Name), fix)
	}
	return found
}

func isNamed(name string, names []string) bool {
	for _, n := range names {
		if strings.EqualFold(strings.Join(strings.Fields(name), " "), n) {
			return true
		}
	}
	return false
}

func (r *reader) checkModifiers(p *Profile, s *frontmatter.Section) {
	if a, ok := Lookup(p.Archetype); ok && a.Kind != animal {
		r.fault(s.Line, "modifiers-npc", fmt.Sprintf("%s has modifiers, but only animals have behaviours that flex", a.ID),
			"move what is presentation to Tone and Voice and remove the section")
	}
}

// checkNameSection holds the section Name to the skin name that it repeats. They
// agree as they are heard: letter case, an article and white space are no
// difference.
func (r *reader) checkNameSection(p *Profile) {
	s, ok := r.doc.Section("Name")
	if !ok {
		return
	}
	if text := strings.TrimSpace(withoutComments(s.Body)); likeness(text) != likeness(p.SkinName) {
		r.fault(s.Line, "name-differs", fmt.Sprintf("section Name says %.70q, skin-name says %q", text, p.SkinName),
			"make them agree or remove the section")
	}
}

// withoutComments blanks HTML comments and keeps every line where it is.
func withoutComments(text string) string {
	var b strings.Builder
	for {
		start := strings.Index(text, "<!--")
		if start < 0 {
			break
		}
		end := strings.Index(text[start:], "-->")
		if end < 0 {
			end = len(text) - start
		} else {
			end += len("-->")
		}
		b.WriteString(text[:start])
		for _, c := range []byte(text[start : start+end]) {
			if c != '\n' {
				c = ' '
			}
			b.WriteByte(c)
		}
		text = text[start+end:]
	}
	return b.String() + text
}
