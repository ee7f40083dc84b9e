package gm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/dice"
	"conclave/table"
	"conclave/table/combat"
	"conclave/table/story"
)

// Intent is what a game master's turn asks for, whoever the game master is and
// in whatever way it was said. Words are passages with their readers; nothing
// stands in them that is not meant to be read.
type Intent struct {
	Told     []Passage // in order
	Files    []File
	Rolls    []*Roll // each in a passage, or to be told by itself
	Scene    *story.Scene
	Statuses []StatusChange
	Combat   []combat.Command
	Huddle   *Huddle // one a turn
	End      bool
	Signal   Signal
	Fallen   []uint64 // numbers of the dice that fell during the turn, by a tool
	// Withheld are words that nobody is told: those beside narrate, and those
	// behind a signal.
	Withheld []string
	Faults   []string // for a repair
	Notes    []string // to be told, nothing to repair
}

// Passage is text for one audience, with rolls among it.
type Passage struct {
	Audience table.Audience
	Parts    []Part
}

// Part is words, or a roll that stands between them.
type Part struct {
	Words string
	Roll  *Roll
}

// blankLines are what forms leave behind.
var blankLines = regexp.MustCompile(`\n[ \t]*\n(?:[ \t]*\n)+`)

// Text is the passage as it is read. told says how a roll reads; nil leaves them
// out.
func (p Passage) Text(told func(*Roll) string) string {
	return strings.TrimSpace(blankLines.ReplaceAllString(p.raw(told), "\n\n"))
}

// raw is the text with what forms left behind.
func (p Passage) raw(told func(*Roll) string) string {
	var b strings.Builder
	for _, part := range p.Parts {
		b.WriteString(part.Words)
		if part.Roll != nil && told != nil {
			b.WriteString(told(part.Roll))
		}
	}
	return b.String()
}

func (p Passage) hasRolls() bool {
	return slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Roll != nil })
}

// plain are blocks that are passages as they are.
func plain(blocks []table.Block) []Passage {
	var out []Passage
	for _, b := range blocks {
		out = append(out, Passage{b.Audience, []Part{{Words: b.Text}}})
	}
	return out
}

// Blocks are the passages without their rolls, as far as they have words.
func (o Intent) Blocks() []table.Block {
	var out []table.Block
	for _, p := range o.Told {
		if text := p.Text(nil); text != "" {
			out = append(out, table.Block{Audience: p.Audience, Text: text})
		}
	}
	return out
}

// File is a file as the GM wants it.
type File struct {
	Path   string `json:"path"`
	Text   string `json:"text"`
	Append bool   `json:"append,omitempty"`
}

// Roll is dice that the GM asks for.
type Roll struct {
	Expr       string          `json:"expr"`
	Who        string          `json:"who"`
	Purpose    string          `json:"purpose"`
	DC         *int64          `json:"dc,omitempty"`
	HideDC     bool            `json:"hide_dc,omitempty"`
	Visibility dice.Visibility `json:"visibility,omitempty"`
	Adv        bool            `json:"advantage,omitempty"`
	Dis        bool            `json:"disadvantage,omitempty"`
}

// StatusChange says whether a character can be called.
type StatusChange struct {
	Character string       `json:"character"`
	Status    table.Status `json:"status"`
}

// AddStatus adds a change of a status, or a fault.
func (o *Intent) AddStatus(name, status string, roster table.Roster) {
	ch, ok := roster.Get(name)
	if !ok || !slices.Contains(table.Statuses, table.Status(status)) {
		o.Faults = append(o.Faults, fmt.Sprintf("STATUS: want a character and one of %v, not %q",
			table.Statuses, Clip(name+" "+status, 80)))
		return
	}
	o.Statuses = append(o.Statuses, StatusChange{ch.Slug, table.Status(status)})
}

// AddCombat adds a command to a fight, or a fault.
func (o *Intent) AddCombat(text string) {
	c, err := combat.Parse(text)
	if err != nil {
		o.Faults = append(o.Faults, err.Error())
		return
	}
	o.Combat = append(o.Combat, c)
}

func (o *Intent) addFile(f File, roster table.Roster) {
	path, err := filePath(f.Path, roster)
	if err != nil {
		o.Faults = append(o.Faults, err.Error())
		return
	}
	f.Path = path
	o.Files = append(o.Files, f)
}

// filePath finds the file that a GM means among those that a GM may write. What
// it returns is made of the roster's names and of checked slugs, never of the
// text as it was typed.
func filePath(typed string, roster table.Roster) (string, error) {
	typed = strings.TrimSpace(typed)
	known := []string{"tmp/" + table.GMContextFile,
		"story-state.md", "party-knowledge.md", "world-primer.md", "overview.md", "decision-log.md"}
	for _, c := range roster.Characters {
		known = append(known, "tmp/"+table.PromptFile(c.Slug), "party/"+table.SheetFile(c.Slug))
	}
	if i := slices.Index(known, typed); i >= 0 {
		return known[i], nil
	}
	if dir, name, ok := strings.Cut(typed, "/"); ok {
		slug, md := strings.CutSuffix(name, ".md")
		i := slices.Index(gmDirs, dir)
		if i >= 0 && md && table.CheckSlug(slug) == nil {
			return gmDirs[i] + "/" + slug + ".md", nil
		}
	}
	return "", fmt.Errorf("%q is no file that a GM writes: prompts are tmp/{character}-prompt.md with a name of "+
		"the roster (%s); further tmp/gm-context.md, story-state.md, party-knowledge.md, world-primer.md, overview.md, "+
		"decision-log.md, party/{character}.md and %s/{slug}.md",
		Clip(typed, 80), strings.Join(roster.Slugs(), ", "), strings.Join(gmDirs, "|"))
}

var gmDirs = []string{"beats", "npcs", "factions", "locations", "items"}

// parseRoll reads "1d20+3 | who | purpose | dc 15 | open".
func parseRoll(text string, roster table.Roster) (*Roll, error) {
	parts := strings.Split(text, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	r := &Roll{Expr: parts[0], Who: "gm", Visibility: dice.Open}
	if _, err := dice.Parse(r.Expr); err != nil {
		return r, err
	}
	if len(parts) > 1 && parts[1] != "" {
		r.Who = parts[1]
	}
	if len(parts) > 2 {
		r.Purpose = Clip(parts[2], 200)
	}
	for _, p := range parts[min(3, len(parts)):] {
		if err := r.Option(strings.ToLower(p)); err != nil {
			return r, err
		}
	}
	return r, r.Check(roster)
}

// Option reads one of the words behind a roll: dc N, hidden dc N, adv, dis, or
// who sees it.
func (r *Roll) Option(p string) error {
	words := strings.Fields(p)
	switch {
	case len(words) == 0:
	case p == "open" || p == "sealed" || p == "private":
		r.Visibility = dice.Visibility(p)
	case p == "adv":
		r.Adv = true
	case p == "dis":
		r.Dis = true
	case len(words) >= 2 && words[len(words)-2] == "dc":
		n, err := strconv.ParseInt(words[len(words)-1], 10, 32)
		if err != nil || len(words) > 3 || len(words) == 3 && words[0] != "hidden" {
			return fmt.Errorf("%q is no dc", Clip(p, 40))
		}
		r.DC, r.HideDC = &n, len(words) == 3
	default:
		return fmt.Errorf("%q is none of dc N, hidden dc N, adv, dis, open, sealed, private", Clip(p, 40))
	}
	return nil
}

// Check says why nobody can roll it.
func (r *Roll) Check(roster table.Roster) error {
	if _, ok := roster.Get(r.Who); !ok && r.Who != "gm" {
		return fmt.Errorf("%q rolls nothing: want gm or one of %s", Clip(r.Who, 40), strings.Join(roster.Slugs(), ", "))
	}
	return nil
}

// Clip shortens a text to so many characters, and shows that it did.
func Clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
