package offline

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"conclave/agent"
	"conclave/agent/local"
	"conclave/transcript"
)

// Player returns a player. It acts from its sheet and from what it is asked.
func Player() agent.Agent {
	return &local.Agent{Name: transcript.AdapterOffline, New: func(s agent.Spec) (local.Conversation, error) {
		return local.Words((&player{files: s.Files}).Answer), nil
	}}
}

type player struct {
	files fs.FS
	chats bool // this is a talk outside of play
}

func (p *player) read(name string) string {
	if p.files == nil {
		return ""
	}
	data, err := fs.ReadFile(p.files, name)
	if err != nil {
		return ""
	}
	return string(data)
}

// Answer plays a turn of the player.
func (p *player) Answer(_ context.Context, m agent.Message) ([]string, error) {
	in := parse(m.Text)
	sheet := p.read("sheet.md")
	if sheet == "" {
		sheet = section(m.Text, "Your character")
	}
	prompt := p.read("prompt.md")
	if prompt == "" {
		prompt = section(m.Text, "The game master asks")
	}
	if in.header["Event"] == "chat" || p.chats {
		p.chats = true
		return one(chat(sheet, said(m.Text))), nil
	}
	c := character{bonds: bullets(section(sheet, "Bonds")), voice: voice(sheet)}
	kind := in.header["Request"]
	if in.header["Event"] == "retry" {
		kind = "FULL_CONTEXT"
	}
	if touched := c.touched(prompt); kind == "QUICK_REACTION" && touched != "" {
		return one(fmt.Sprintf("[VETO - need more input]\n\nThis touches what my sheet says of me: %s\n\n[NOTES]\nThey wanted a quick word from me, and it was not a quick matter.", touched)), nil
	}
	return one(c.speak(kind, prompt)), nil
}

// character is what a sheet says that a player acts from.
type character struct {
	bonds []string
	voice []line
}

// line is something the character would say: for a kind of request, and
// perhaps only where a certain word falls.
type line struct{ kind, word, text string }

var voiceLine = regexp.MustCompile(`^(\w+)(?: \(([^)]+)\))?: (.+)$`)

// voice reads the section in which the character speaks for itself.
func voice(sheet string) []line {
	var out []line
	for _, heading := range []string{"In her own words", "In his own words", "In their own words"} {
		for _, item := range bullets(section(sheet, heading)) {
			if m := voiceLine.FindStringSubmatch(item); m != nil {
				out = append(out, line{m[1], m[2], m[3]})
			}
		}
	}
	return out
}

var voiceKinds = map[string]string{"QUICK_REACTION": "quick", "COMBAT_ACTION": "fight", "FULL_CONTEXT": "full", "SECRET_ACTION": "secret"}

// plain is what somebody does whose sheet has no words for it.
var plain = map[string]string{
	"quick":  "I stop and look before I move. If nobody else goes first, I do.",
	"fight":  "I go for what matters and not for the man. (I try to stop it without hurting anyone.)",
	"full":   "I take the end that nobody has taken yet, and I stay until it is done.",
	"secret": "I do nothing that I would have to explain. I wait, and I watch.",
}

// speak picks the line for the request: one whose word falls in the prompt
// before one that always does.
func (c character) speak(kind, prompt string) string {
	want := voiceKinds[kind]
	if want == "" {
		want = "quick"
	}
	said := ""
	for _, l := range c.voice {
		if l.kind != want {
			continue
		}
		if l.word != "" && strings.Contains(prompt, l.word) {
			said = l.text
			break
		}
		if l.word == "" && said == "" {
			said = l.text
		}
	}
	if said == "" {
		said = plain[want]
	}
	return said + "\n\n[NOTES]\n" + said
}

// touched is the bond that the scene touches directly, by a name of its own.
func (c character) touched(prompt string) string {
	for _, bond := range c.bonds {
		for word := range strings.FieldsSeq(bond) {
			word = strings.Trim(word, ".,;:'\"")
			if named(word) && strings.Contains(prompt, word) {
				return bond
			}
		}
	}
	return ""
}

// named says whether a word is somebody's name: capital letter, and none of
// the words that begin sentences.
func named(word string) bool {
	if len(word) < 3 || word[0] < 'A' || word[0] > 'Z' {
		return false
	}
	switch word {
	case "Her", "His", "She", "The", "They", "Any", "Anyone":
		return false
	}
	return true
}
