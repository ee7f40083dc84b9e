package profile

import (
	"fmt"
	"slices"
	"strings"
)

// FromTalk is the origin of characters that were thought up in a conversation.
const FromTalk Origin = "talk"

// Draft is a character in words, before it is a profile.
type Draft struct {
	Archetype string `json:"archetype"`
	Name      string `json:"name"`
	Emoji     string `json:"emoji"` // empty: the archetype's own
	Concept   string `json:"concept"`
	Voice     string `json:"voice"`
	Modifiers string `json:"modifiers"` // empty: none
}

// file is the draft as a profile.
func (d Draft) file(theme string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\narchetype: %s\nskin-name: %s\ntheme: %s\n", quoted(inLine(d.Archetype)), quoted(inLine(d.Name)), quoted(theme))
	if emoji := inLine(d.Emoji); emoji != "" {
		fmt.Fprintf(&b, "emoji: %s\n", quoted(emoji))
	}
	b.WriteString("---\n")
	for i, text := range []string{d.Concept, d.Voice, d.Modifiers} {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", parts[i].names[0], text)
		}
	}
	return []byte(b.String())
}

func inLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Compose makes a pack of drafts and checks it like any other. Fewer than nine
// are a pack for those alone; what is wrong is in its Faults.
func Compose(theme string, drafts []Draft) *Pack {
	theme = inLine(theme)
	f := &files{name: Slug(theme), where: "proposal", inside: "/", data: map[string][]byte{}}
	for _, d := range drafts {
		name := inLine(d.Archetype) + ".md"
		if _, twice := f.data[name]; twice {
			f.fault(f.path(name), "pack-twice", "there are two profiles for the "+d.Archetype, "give one for each")
		}
		f.data[name] = d.file(theme)
	}
	p := newPack(f, FromTalk)
	if len(drafts) > 0 && len(drafts) < packSize {
		p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool { return f.Rule == "pack-incomplete" })
	}
	return p
}
