package gm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/table"
	"conclave/table/combat"
	"conclave/table/desk"
	"conclave/table/story"
)

// asks are the commands that put a question, and its kind.
var asks = map[string]table.RequestType{
	"ask": table.QuickReaction, "decide": table.FullContext, "fight": table.CombatAction, "secret": table.SecretAction,
}

// Typist is a person in the game master's seat, who types short commands in place
// of the forms.
type Typist struct {
	Roster table.Roster
	Scene  story.Scene // as it is now
	// Lately is what a character heard last.
	Lately func(who string) string
}

// Forms turns what the person typed into what any game master says: text and
// forms. The error is a *desk.Fault with the line, for that person, who can type
// it again.
func (t Typist) Forms(text string) (string, error) {
	d := &draft{Typist: t, scene: t.Scene.Describe()}
	for i, line := range strings.Split(text, "\n") {
		if err := d.line(line); err != nil {
			return "", &desk.Fault{Line: i + 1, Text: line, Err: err}
		}
	}
	if len(d.asked) > 0 {
		fmt.Fprintf(&d.out, "[FILE: tmp/%s]\n## Expecting\n%s[/FILE]\n", table.GMContextFile, d.expect.String())
		d.out.WriteString(FormatSignal(d.asked) + "\n")
	}
	return d.out.String(), nil
}

// draft is a turn while it is typed.
type draft struct {
	Typist
	scene  string
	out    strings.Builder
	asked  []string
	expect strings.Builder // what the answers are to, for the notes
}

func (d *draft) line(line string) error {
	word, rest, ok := desk.IsCommand(line)
	if !ok {
		d.out.WriteString(desk.Plain(line) + "\n")
		return nil
	}
	c, err := desk.Find(word, rest, desk.GM, desk.Asked)
	switch {
	case err != nil:
		return err
	case !c.Turn || word == "scene" && rest == "":
		return fmt.Errorf("/%s is no part of a turn: type it by itself, at the table", word)
	}
	if kind, ok := asks[word]; ok {
		return d.ask(kind, word, rest)
	}
	switch word {
	case "tell":
		names, text, err := d.addressed(word, rest)
		if err != nil {
			return err
		}
		fmt.Fprintf(&d.out, "[TO: %s]\n%s\n[/TO]\n", strings.Join(names, ", "), text)
	case "roll":
		text, err := d.roll(rest)
		if err != nil {
			return err
		}
		fmt.Fprintf(&d.out, "[ROLL: %s]\n", text)
	case "scene":
		title, place, _ := strings.Cut(rest, "|")
		d.scene = story.Scene{Title: strings.TrimSpace(title), Place: strings.TrimSpace(place)}.Describe()
		fmt.Fprintf(&d.out, "[SCENE: %s]\n", rest)
	case "note":
		fmt.Fprintf(&d.out, "[FILE+: %s]\n- %s\n[/FILE]\n", "story-state.md", rest)
	case "status":
		text, err := d.status(rest)
		if err != nil {
			return err
		}
		fmt.Fprintf(&d.out, "[STATUS: %s]\n", text)
	case "huddle":
		names, text, err := d.addressed(word, rest)
		if err != nil {
			return err
		}
		if len(names) < 2 {
			return fmt.Errorf("/huddle WHO, WHO: WHAT ABOUT needs two who talk")
		}
		fmt.Fprintf(&d.out, "[HUDDLE: %s | %s]\n", strings.Join(names, ", "), strings.ReplaceAll(text, "|", "/"))
	case "combat":
		text, err := d.combat(rest)
		if err != nil {
			return err
		}
		fmt.Fprintf(&d.out, "[COMBAT: %s]\n", text)
	case "end":
		d.out.WriteString("[END_SESSION]\n")
	}
	return nil
}

// combat reads what a person does to a fight, with whom they name. Words that
// are nobody's name stay: an enemy is called as one likes.
func (d *draft) combat(rest string) (string, error) {
	text, words, reason := strings.Cut(rest, ":")
	names := strings.Fields(strings.ReplaceAll(text, ",", " , "))
	for i := 1; i < len(names); i++ {
		if c, err := d.Roster.Find(names[i]); err == nil && names[i] != "after" {
			names[i] = c.Slug
		}
	}
	out := strings.ReplaceAll(strings.Join(names, " "), " , ", ", ")
	if reason {
		out += ":" + words
	}
	_, err := combat.Parse(out)
	return out, err
}

// ask writes the prompts of a question. What just happened is what the character
// was told in this turn, or else what it heard last.
func (d *draft) ask(kind table.RequestType, word, rest string) error {
	names, text, err := d.addressed(word, rest)
	if err != nil {
		return err
	}
	for _, who := range names {
		if slices.Contains(d.asked, who) {
			return fmt.Errorf("%s is asked twice: one question a turn", who)
		}
		happened := d.told(who)
		if happened == "" {
			happened = d.Lately(who)
		}
		if happened == "" {
			happened = "The game master turns to you."
		}
		fmt.Fprintf(&d.out, "[FILE: tmp/%s]\n---\nrequest_type: %s\n---\n\n"+
			"## Scene\n%s\n\n## Just Happened\n%s\n\n## Request\n%s\n[/FILE]\n",
			table.PromptFile(who), kind, d.scene, happened, text)
		fmt.Fprintf(&d.expect, "- %s (%s): %s\n", who, kind, text)
		d.asked = append(d.asked, who)
	}
	return nil
}

// told is what a character is told in this turn so far.
func (d *draft) told(who string) string {
	so := Reader{Roster: d.Roster, Caps: table.Caps{}.WithDefaults()}.Read(Turn{Text: d.out.String()})
	return strings.TrimSpace(table.TextFor(so.Blocks(), who))
}

// roll reads "EXPR | WHO | WHAT FOR | …", with whom a person names.
func (d *draft) roll(rest string) (string, error) {
	if !strings.Contains(rest, "|") {
		rest += " | gm | for the game master"
	}
	parts := strings.Split(rest, "|")
	if who := strings.TrimSpace(parts[1]); who != "" && who != "gm" {
		c, err := d.Roster.Find(who)
		if err != nil {
			return "", err
		}
		parts[1] = " " + c.Slug + " "
	}
	rest = strings.Join(parts, "|")
	_, err := parseRoll(rest, d.Roster)
	return rest, err
}

// status reads "WHO WORD".
func (d *draft) status(rest string) (string, error) {
	at := strings.LastIndex(rest, " ")
	if at < 0 {
		return "", errors.New("/status WHO WORD needs a character and a word")
	}
	c, err := d.Roster.Find(rest[:at])
	if err != nil {
		return "", err
	}
	word := strings.ToLower(rest[at+1:])
	if !slices.Contains(table.Statuses, table.Status(word)) {
		return "", fmt.Errorf("%q is none of present, dead, retired, benched and absent", Clip(rest[at+1:], 40))
	}
	return c.Slug + " " + word, nil
}

// addressed reads "WHO, WHO: TEXT".
func (d *draft) addressed(word, rest string) (names []string, text string, err error) {
	who, text, ok := strings.Cut(rest, ":")
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return nil, "", fmt.Errorf("/%s WHO: TEXT needs a colon and a text", word)
	}
	if strings.TrimSpace(who) == "all" {
		for _, c := range d.Roster.Characters {
			if c.Status == table.Present {
				names = append(names, c.Slug)
			}
		}
		return names, text, nil
	}
	list := strings.Split(who, ",")
	if _, err := d.Roster.Find(who); err != nil && len(list) == 1 {
		list = strings.Fields(who) // several first names
	}
	for _, name := range list {
		c, err := d.Roster.Find(name)
		if err != nil {
			return nil, "", err
		}
		names = append(names, c.Slug)
	}
	names, bad := Signal{Found: true, Names: names}.Check(d.Roster)
	if bad == nil {
		return names, text, nil
	}
	var faults []string
	for _, n := range bad.Names {
		faults = append(faults, n.Name+": "+n.Reason)
	}
	if bad.Fault != "" {
		faults = append(faults, bad.Fault)
	}
	return nil, "", errors.New(strings.Join(faults, "; "))
}
