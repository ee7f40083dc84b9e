package gm

import (
	"fmt"
	"slices"
	"strings"

	"conclave/table"
	"conclave/table/story"
)

// Help is what a person in the game master's seat may type.
const Help = `What you type is told to the whole party. Lines that begin with a slash do something else:

  /ask WHO: TEXT       a quick question, answered before you go on
  /decide WHO: TEXT    one that deserves thought
  /fight WHO: TEXT     one turn in a fight
  /secret WHO: TEXT    a chance to do something that nobody sees
  /tell WHO: TEXT      told to nobody else
  /roll EXPR | WHO | WHAT FOR | dc N
                       dice; the last three only if wanted
  /scene TITLE | PLACE a new scene begins
  /note TEXT           kept in the story state, for you
  /status WHO WORD     present, dead, retired, benched or absent
  /end                 the session is over after this
  /quit                leave; the table waits where it is
  //…                  a line that begins with a slash

WHO is a character (its first name will do), several with commas, or all. An empty line ends your turn.
The game master's forms ([TO: …], [FILE: …] and the others) work as well.`

var slashCommands = []string{"ask", "decide", "fight", "secret", "tell", "roll", "scene", "note", "status", "end"}

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
// forms. The error is for that person, who can type it again.
func (t Typist) Forms(text string) (string, error) {
	d := &draft{Typist: t, scene: t.Scene.Describe()}
	for line := range strings.SplitSeq(text, "\n") {
		if err := d.line(line); err != nil {
			return "", err
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
	rest, ok := strings.CutPrefix(line, "/")
	if !ok || strings.HasPrefix(rest, "/") {
		d.out.WriteString(rest + "\n")
		return nil
	}
	word, rest, _ := strings.Cut(rest, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case !slices.Contains(slashCommands, word):
		return fmt.Errorf("/%s is nothing here: /help says what there is", word)
	case rest == "" && word != "end":
		return fmt.Errorf("/%s needs something behind it: /help says what", word)
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
		if !strings.Contains(rest, "|") {
			rest += " | gm | for the game master"
		}
		fmt.Fprintf(&d.out, "[ROLL: %s]\n", rest)
	case "scene":
		title, place, _ := strings.Cut(rest, "|")
		d.scene = story.Scene{Title: strings.TrimSpace(title), Place: strings.TrimSpace(place)}.Describe()
		fmt.Fprintf(&d.out, "[SCENE: %s]\n", rest)
	case "note":
		fmt.Fprintf(&d.out, "[FILE+: %s]\n- %s\n[/FILE]\n", "story-state.md", rest)
	case "status":
		fmt.Fprintf(&d.out, "[STATUS: %s]\n", rest)
	case "end":
		d.out.WriteString("[END_SESSION]\n")
	}
	return nil
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
	for name := range strings.FieldsFuncSeq(who, func(r rune) bool { return r == ',' || r == ' ' }) {
		names = append(names, d.called(name))
	}
	names, bad := Signal{Found: true, Names: names}.Check(d.Roster)
	if bad == nil {
		return names, text, nil
	}
	var faults []string
	for _, n := range bad.Names {
		fault := fmt.Sprintf("%q: %s", n.Name, n.Reason)
		if n.Suggest != "" {
			fault += "; did you mean " + n.Suggest + "?"
		}
		faults = append(faults, fault)
	}
	if bad.Fault != "" {
		faults = append(faults, bad.Fault)
	}
	return nil, "", fmt.Errorf("/%s: %s\nthere are: %s",
		word, strings.Join(faults, "; "), strings.Join(bad.Known, ", "))
}

// called finds a character by the first part of its name, if only one has it.
func (d *draft) called(name string) string {
	var found []string
	for _, slug := range d.Roster.Slugs() {
		if strings.HasPrefix(slug, strings.ToLower(name)+"-") {
			found = append(found, slug)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return name
}

// Gist is what a person in the game master's seat needs to read of a message:
// what is new in it, without the marks that are there for an agent.
func Gist(message string) string {
	const now = "\n# Now\n\n"
	if i := strings.LastIndex(message, now); i >= 0 {
		message = message[i+len(now):]
	} else if _, after, ok := strings.Cut(message, "\n\n"); ok {
		message = after
	}
	var out strings.Builder
	for line := range strings.Lines(message) {
		who, words := strings.CutPrefix(line, "<<< words from ")
		switch {
		case words:
			who, _, _ = strings.Cut(who, ",")
			out.WriteString(who + ":\n")
		case strings.HasPrefix(line, "<<< "), strings.HasPrefix(line, ">>> "):
		case strings.HasPrefix(line, "# "):
			out.WriteString(strings.TrimPrefix(line, "# "))
		case strings.HasPrefix(line, ">"):
			out.WriteString("  " + strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
		default:
			out.WriteString(line)
		}
	}
	return strings.TrimSpace(out.String())
}
