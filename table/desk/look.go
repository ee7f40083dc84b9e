package desk

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"conclave/internal/markdown"
	"conclave/policy"
	"conclave/table"
	"conclave/table/story"
)

// Desk is a seat with what can be looked up from it.
type Desk struct {
	Seat     string // "gm", a character, or table.SeatTable
	At       At
	Campaign *table.Campaign
	Roster   table.Roster
	Past     story.Past
	Scene    story.Scene
	// Played says who plays a character, "" where nobody knows.
	Played func(slug string) string
	Caps   table.Caps
}

// Show is what a command shows that only looks. ok is false for the others.
func (d Desk) Show(c Call) (text string, ok bool, err error) {
	switch c.Name {
	case "help":
		text = Help(KindOf(d.Seat), d.At)
	case "who", "party":
		text = d.party()
	case "recap":
		text = d.recap()
	case "sheet":
		text, err = d.sheet(c.Rest)
	case "journal":
		text, err = d.journal()
	case "overview":
		text, err = d.file(d.Campaign.Root, "", "overview.md")
	case "state":
		text, err = d.file(d.Campaign.Root, "", "story-state.md")
	case "beats":
		text, err = d.beats(c.Rest)
	case "scene":
		if text = d.Scene.Heading(); text == "" {
			text = "No scene has a name yet: /scene TITLE | PLACE begins one."
		}
	default:
		return "", false, nil
	}
	return strings.TrimSpace(text), true, err
}

// party are the characters as everybody may know them.
func (d Desk) party() string {
	var b strings.Builder
	for _, c := range d.Roster.Characters {
		fmt.Fprintf(&b, "%s (%s): %s", c.Name, c.Slug, c.Status)
		switch by := d.Played(c.Slug); {
		case strings.HasPrefix(by, "agent"):
			b.WriteString(", played by an " + by)
		case by != "":
			b.WriteString(", played by a " + by)
		}
		if c.Slug == d.Seat {
			b.WriteString(" – you")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// recap is the scene and the last exchange as the seat knew it.
func (d Desk) recap() string {
	text := d.Past.For(d.Seat)
	if d.Past.Scene.Place != "" {
		text = "*" + d.Past.Scene.Place + "*\n\n" + text
	}
	if d.Past.Scene.Title != "" {
		text = "# " + d.Past.Scene.Title + "\n" + text
	}
	if text == "" {
		return "Nothing has happened yet."
	}
	return text
}

func (d Desk) sheet(who string) (string, error) {
	slug := d.Seat
	if KindOf(d.Seat) == GM {
		c, err := d.Roster.Find(who)
		if err != nil {
			return "", err
		}
		slug = c.Slug
	}
	return d.file(d.Campaign.Party, "party/", table.SheetFile(slug))
}

// entries is how many entries of a journal are shown.
const entries = 3

func (d Desk) journal() (string, error) {
	text, err := d.file(d.Campaign.Party, "party/", table.JournalFile(d.Seat))
	if err != nil {
		return "", err
	}
	head, list := table.SplitJournal(text)
	if left := len(list) - entries; left > 0 {
		text = fmt.Sprintf("%s\n\n(%d older entries: conclave table journal %s %s)\n\n%s", strings.TrimSpace(head), left,
			d.Campaign.Name, d.Seat, strings.Join(list[left:], ""))
	}
	return text, nil
}

func (d Desk) beats(name string) (string, error) {
	dir, err := d.Campaign.Root.Sub("beats")
	if errors.Is(err, fs.ErrNotExist) {
		return "There are no beats: write beats/{name}.md.", nil
	}
	if err != nil {
		return "", err
	}
	defer dir.Close()
	names, err := dir.List()
	if err != nil {
		return "", err
	}
	var list []string
	for _, n := range names {
		slug, md := strings.CutSuffix(n, ".md")
		if !md {
			continue
		}
		if slug == strings.ToLower(name) {
			return d.file(dir, "beats/", n)
		}
		text, err := d.file(dir, "beats/", n)
		if err != nil {
			return "", err
		}
		list = append(list, slug+": "+markdown.FirstHeading(text))
	}
	if name != "" {
		return "", fmt.Errorf("no beat is called %q:\n%s", table.Clip(name, 80), strings.Join(list, "\n"))
	}
	return strings.Join(list, "\n"), nil
}

// file reads what the seat may read, without the GM's parts for others.
func (d Desk) file(dir *table.Dir, prefix, name string) (string, error) {
	reader := table.Reader{Role: policy.Player, Character: d.Seat}
	if KindOf(d.Seat) == GM {
		reader = table.Reader{Role: policy.GM}
	}
	if !reader.May(prefix + name) {
		return "", fmt.Errorf("%s is not for this seat", prefix+name)
	}
	data, err := dir.Read(name, d.Caps.WithDefaults().PartyKnowledge)
	if errors.Is(err, fs.ErrNotExist) {
		return "There is no " + prefix + name + " yet.", nil
	}
	if err != nil {
		return "", err
	}
	if !markdown.Readable(data) {
		return "", fmt.Errorf("%s%s: not valid UTF-8", prefix, name)
	}
	text := markdown.Normalise(string(data))
	if reader.Role != policy.GM {
		text = table.RemoveGM(text)
	}
	return text, nil
}
