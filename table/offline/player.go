package offline

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"conclave/agent"
	"conclave/agent/local"
	"conclave/transcript"
)

// Player returns a player. It acts from its sheet and from what it is asked.
func Player() agent.Agent {
	return &local.Agent{Name: transcript.AdapterOffline, New: func(s agent.Spec) (local.Answerer, error) {
		return &player{files: s.Files}, nil
	}}
}

type player struct{ files fs.FS }

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

// Answer implements local.Answerer.
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
	c := character{bonds: bullets(section(sheet, "Bonds")), flaws: bullets(section(sheet, "Flaws")), triggers: section(sheet, "Interrupt triggers")}
	kind := in.header["Request"]
	touched := c.touched(prompt)
	switch {
	case in.header["Event"] == "retry":
		return one(c.full(prompt)), nil
	case kind == "QUICK_REACTION" && touched != "":
		return one(fmt.Sprintf("[VETO - need more input]\n\nThis touches what my sheet says of me: %s\n\n[NOTES]\nThey wanted a quick word from me, and it was not a quick matter. %s", touched, touched)), nil
	case kind == "SECRET_ACTION":
		return one(c.secret(section(sheet, "Secret"))), nil
	case kind == "COMBAT_ACTION":
		return one(c.fight()), nil
	case kind == "FULL_CONTEXT":
		return one(c.full(prompt)), nil
	}
	return one(c.quick()), nil
}

type character struct {
	bonds, flaws []string
	triggers     string
}

func first(list []string, otherwise string) string {
	if len(list) == 0 {
		return otherwise
	}
	return list[0]
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

func (c character) quick() string {
	return fmt.Sprintf("I stop and look before I move, and keep my hands where the others can see them. %s\n\n[NOTES]\nI said little. What went through my head was this: %s",
		"If nobody else goes first, I do.", first(c.flaws, "stay dry, stay quiet."))
}

func (c character) fight() string {
	return fmt.Sprintf("I go for the handle, not for the man: I want that wheel to stop, and I want everyone to walk home.\n\n(I try to hold the windlass.)\n\n[NOTES]\nI did not think. Afterwards I thought: %s", first(c.bonds, "it could have been worse."))
}

func (c character) full(prompt string) string {
	return fmt.Sprintf("I take the heavy end. While we work I say it, because there will be no better moment: %s And it is true of me, too, that %s\n\nThen I put my weight on the rope and leave it there.\n\n[NOTES]\nI said it. The sky did not fall; the river nearly did.",
		sentence(first(c.bonds, "I have people I would like to see again.")), lower(sentence(first(c.flaws, "I would rather act than talk."))))
}

func (c character) secret(secret string) string {
	opening, _, _ := strings.Cut(secret, ". ")
	return fmt.Sprintf("While the others listen to Hanna, I turn my back for as long as it takes to draw three breaths. I do what somebody does who carries this: %s I tell nobody.\n\n[NOTES]\nNobody saw. I am not sure whether I am glad of it.", sentence(opening))
}

func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
