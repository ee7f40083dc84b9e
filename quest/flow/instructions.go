package flow

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
)

//go:embed instructions/*.md instructions/isolation/*.md
var instructions embed.FS

// builtInInstructions are those of a role, as a template.
func builtInInstructions(role string) ([]byte, error) {
	return instructions.ReadFile("instructions/" + role + ".md")
}

// engineSays are sentences of the engine's own, which agents read and may well
// repeat: instructions, and what turns begin with.
var engineSays = sync.OnceValue(func() []string {
	out := []string{discussFraming, discussedBefore, roomGuide(Opening{History: true}),
		councilFraming(Opening{Role: policy.Bear}), councilSaid}
	for _, role := range policy.Roles() {
		if text, err := builtInInstructions(string(role)); err == nil {
			out = append(out, string(text))
		}
		if role.Evaluator() {
			v := evaluation{in: Evaluate{Role: role}, q: &quest.Quest{}}
			out = append(out, v.framing())
		}
	}
	return out
})

// told is what a template of instructions may use.
type told struct {
	Name    string // the name it goes under
	Tag     string // how its words are marked in a conversation
	Mode    string
	Purpose string
	Profile string // the text of the profile it wears, empty without one
}

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
	} else {
		if text, err = builtInInstructions(role); err != nil {
			return "", fmt.Errorf("instructions of %s: %w", role, err)
		}
	}
	t, err := template.New(role + ".md").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("instructions of %s: %w", role, err)
	}
	face := o.face(o.Role)
	fields := told{Name: face.Name(), Tag: face.Tag(), Mode: string(o.Mode), Purpose: o.Purpose}
	if p, faults := profile.Parse(role+".md", m.Profiles[role]); p != nil && len(faults) == 0 {
		fields.Profile = worn(p)
	}
	var b strings.Builder
	if err := t.Execute(&b, fields); err != nil {
		return "", fmt.Errorf("instructions of %s: %w", role, err)
	}
	directives, err := isolation(o.Role)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(b.String(), "\n") + "\n\n" + directives + whoIsWho(o), nil
}

// isolation is what a role is told about keeping apart.
func isolation(role policy.Role) (string, error) {
	name := string(role)
	if slices.Contains(policy.Animals(), role) {
		name = "animal"
	}
	text, err := instructions.ReadFile("instructions/isolation/" + name + ".md")
	if err != nil {
		return "", fmt.Errorf("isolation of %s: %w", role, err)
	}
	return string(text), nil
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
