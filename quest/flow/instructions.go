package flow

import (
	"fmt"
	"strings"
	"sync"

	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/instructions"
	"conclave/quest/judging"
)

// engineSays are sentences of the engine's own, which agents read and may well
// repeat: instructions, and what turns begin with.
var engineSays = sync.OnceValue(func() []string {
	out := []string{discussFraming, discussedBefore, roomGuide(Opening{History: true}),
		councilFraming(Opening{Role: policy.Bear}), councilSaid}
	for _, role := range policy.Roles() {
		if text, err := instructions.BuiltIn(role); err == nil {
			out = append(out, string(text))
		}
		if role.Evaluator() {
			c := judging.Case{Role: role, Quest: &quest.Quest{}}
			out = append(out, c.Framing())
			c.Stage, c.Change = "stage", "change"
			out = append(out, c.Framing())
		}
	}
	return out
})

// ownInstructions is the text that the project has in place of the built-in
// one, if it has any, by the name it is known under.
func (h *House) ownInstructions(role policy.Role) ([]quest.NamedText, error) {
	if h.opts.Instructions == nil {
		return nil, nil
	}
	text, err := h.opts.Instructions(string(role))
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return []quest.NamedText{{Name: ".campaign/instructions/" + string(role) + ".md", Data: text}}, nil
}

// system renders the instructions of a role, and adds what no text of a project's
// own takes away: the directives of its isolation, and who is who.
func (h *House) system(o Opening, m quest.Material) (string, error) {
	role := string(o.Role)
	own, err := h.ownInstructions(o.Role)
	if err != nil {
		return "", err
	}
	var text []byte
	if len(own) > 0 {
		text = own[0].Data
	}
	face := o.face(o.Role)
	told := instructions.Told{Name: face.Name(), Tag: face.Tag(), Mode: string(o.Mode), Purpose: o.Purpose}
	if p, faults := profile.Parse(role+".md", m.Profiles[role]); p != nil && len(faults) == 0 {
		told.Profile = worn(p)
	}
	said, err := instructions.Render(o.Role, text, told)
	return said + whoIsWho(o), err
}

// whoIsWho tells the party by which names its members go, where they wear
// characters. Those who judge are told of nobody.
func whoIsWho(o Opening) string {
	if len(o.Skins) == 0 || o.Role.Evaluator() {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Who is who\n\nThe party wears characters. Speak of everybody by the name that stands first; " +
		"what stands in brackets is what files and commands call them.\n\n")
	for _, a := range profile.Cast() {
		face := o.face(policy.Role(a.ID))
		fmt.Fprintf(&b, "- %s: %s\n", face.MenuName(), a.Core)
	}
	return b.String()
}

// worn is what a profile asks of the one who wears it.
func worn(p *profile.Profile) string {
	parts := []string{strings.TrimSpace(p.Concept), strings.TrimSpace(p.Voice)}
	if p.Depth == profile.Modifier {
		parts = append(parts, strings.TrimSpace(p.Modifiers))
	}
	return strings.Join(parts, "\n\n")
}
