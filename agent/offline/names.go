package offline

import (
	"strings"

	"conclave/internal/pattern"
)

// whoMark begins the list of names in the instructions of a party that wears
// characters.
const whoMark = "\n## Who is who\n"

var whoLine = pattern.New(`(?m)^- ([^()\n]+) \((\pL+)\): `)

// called is the name of a member of the cast within a sentence, as this party
// wears it: the Cat, or The Rogue.
func (s *session) called(id string) string {
	if _, list, ok := strings.Cut(s.spec.System, whoMark); ok {
		for _, m := range whoLine.FindAllStringSubmatch(list, -1) {
			if strings.EqualFold(m[2], id) {
				return m[1]
			}
		}
	}
	switch title := strings.ToUpper(id[:1]) + id[1:]; id {
	case "gandalf", "simon":
		return title
	default:
		return "the " + title
	}
}

// begins is a name, or anything else, at the beginning of a sentence.
func begins(text string) string {
	if rest, ok := strings.CutPrefix(text, "the "); ok {
		return "The " + rest
	}
	return text
}

var youAre = pattern.New(`(?m)^# You are (.+)$`)

// aloud is a verdict of the Dragon in the mouth of whoever is the Dragon: Dragon
// Slain, or, under another name, I am slain (Dragon Slain).
func (s *session) aloud(verdict string) string {
	said := map[string]string{"Dragon Slain": "I am slain", "Dragon Prevails": "I prevail"}[verdict]
	if m := youAre.FindStringSubmatch(s.spec.System); said != "" && m != nil && m[1] != "Dragon" {
		return said + " (" + verdict + ")"
	}
	return verdict
}

// verdictOf is a verdict of the log, under the name that the Dragon goes by.
func (s *session) verdictOf(verdict string) string {
	who := s.called("dragon")
	for _, v := range [][2]string{{"Dragon Slain", "is slain"}, {"Dragon Prevails", "prevails"}} {
		if rest, ok := strings.CutPrefix(verdict, v[0]); ok && who != "the Dragon" {
			return who + " " + v[1] + " (" + v[0] + ")" + rest
		}
	}
	return verdict
}
