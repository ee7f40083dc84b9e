package gm

import (
	"fmt"
	"slices"
	"strings"

	"conclave/table"
)

// Preview is what will be seen of a turn that is not sent yet.
type Preview struct {
	Text string
	// Differs: not everybody sees the same.
	Differs bool
}

// Preview tells what each player would see of a turn as it was typed. It is never
// less: what repeats a secret is told to fewer (Telling).
func (t Typist) Preview(text string) (Preview, error) {
	forms, err := t.Forms(text)
	if err != nil {
		return Preview{}, err
	}
	so := Reader{Roster: t.Roster, Caps: table.Caps{}.WithDefaults()}.Read(Turn{Text: forms})
	var p Preview
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if so.Scene != nil {
		add("A new scene begins: %s", strings.TrimSuffix(so.Scene.Describe(), "."))
	}
	var heard [][]string // names of those who see the same
	texts := map[string]string{}
	for _, c := range t.Roster.Characters {
		texts[c.Slug] = strings.TrimSpace(table.TextFor(so.Blocks(), c.Slug))
		at := slices.IndexFunc(heard, func(names []string) bool { return texts[names[0]] == texts[c.Slug] })
		if at < 0 {
			heard = append(heard, nil)
			at = len(heard) - 1
		}
		heard[at] = append(heard[at], c.Slug)
	}
	p.Differs = len(heard) > 1
	for _, names := range heard {
		who := t.names(names) + " will read"
		if len(heard) == 1 {
			who = "Everybody will read"
		}
		add("%s:\n%s", who, indented(orNothing(texts[names[0]])))
	}
	for _, f := range so.Files {
		slug := table.Classify(f.Path).Character
		prompt, err := table.ParsePrompt([]byte(f.Text), table.Caps{})
		if table.Classify(f.Path).Kind != table.KindPrompt || err != nil {
			continue
		}
		secret := ""
		if prompt.Type == table.SecretAction {
			secret, p.Differs = ", and nobody else learns of it", true
		}
		add("%s is asked%s:\n%s", t.Roster.NameOf(slug), secret, indented(prompt.Section("Request")))
	}
	for _, r := range so.Rolls {
		add("Dice, %s: %s for %s", r.Visibility, r.Expr, t.Roster.NameOf(r.Who))
	}
	p.Text = strings.Join(parts, "\n\n")
	return p, nil
}

func (t Typist) names(slugs []string) string {
	var out []string
	for _, s := range slugs {
		out = append(out, t.Roster.NameOf(s))
	}
	return strings.Join(out, ", ")
}

func orNothing(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return text
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}
