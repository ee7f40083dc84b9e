// Package instructions is what a role of a quest is told before anybody speaks
// to it: the built-in text or the project's own in its place, and behind it the
// directives of its isolation, which no text of a project's takes away.
//
// It reads nothing but what it is given and what the program holds, and says the
// same for a role wherever it sits: in a quest or before a gate.
package instructions

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"conclave/policy"
)

//go:embed *.md isolation/*.md
var texts embed.FS

// BuiltIn are the instructions of a role, as a template.
func BuiltIn(role policy.Role) ([]byte, error) {
	return texts.ReadFile(string(role) + ".md")
}

// Told is what a template of instructions may use.
type Told struct {
	Name    string // the name it goes under
	Tag     string // how its words are marked in a conversation
	Mode    string
	Purpose string
	Profile string // the text of the profile it wears, empty without one
}

// Render renders the instructions of a role, the project's own where there are
// some, with the directives of its isolation.
func Render(role policy.Role, own []byte, t Told) (string, error) {
	text := own
	if len(text) == 0 {
		var err error
		if text, err = BuiltIn(role); err != nil {
			return "", fmt.Errorf("instructions of %s: %w", role, err)
		}
	}
	form, err := template.New(string(role) + ".md").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("instructions of %s: %w", role, err)
	}
	var b strings.Builder
	if err := form.Execute(&b, t); err != nil {
		return "", fmt.Errorf("instructions of %s: %w", role, err)
	}
	directives, err := isolation(role)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(b.String(), "\n") + "\n\n" + directives, nil
}

// isolation is what a role is told about keeping apart.
func isolation(role policy.Role) (string, error) {
	name := string(role)
	if slices.Contains(policy.Animals(), role) {
		name = "animal"
	}
	text, err := texts.ReadFile("isolation/" + name + ".md")
	if err != nil {
		return "", fmt.Errorf("isolation of %s: %w", role, err)
	}
	return string(text), nil
}
