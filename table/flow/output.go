package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/dice"
	"conclave/internal/markdown"
	"conclave/table"
	"conclave/table/story"
)

// output is what a GM's turn says, taken apart.
type output struct {
	Blocks   []table.Block // may hold marks of rolls, see fill
	Files    []fileWrite
	Rolls    []rollRequest
	Scene    *story.Scene
	Statuses []statusChange
	End      bool
	Signal   table.Signal
	Aside    string   // words that are told to nobody, see parseSpoken
	Faults   []string // for a repair
	Notes    []string // to be told, nothing to repair
}

// fileWrite is a file as the GM wants it.
type fileWrite struct {
	Path   string `json:"path"`
	Text   string `json:"text"`
	Append bool   `json:"append,omitempty"`
}

// rollRequest is dice that the GM asks for.
type rollRequest struct {
	Expr       string          `json:"expr"`
	Who        string          `json:"who"`
	Purpose    string          `json:"purpose"`
	DC         *int64          `json:"dc,omitempty"`
	HideDC     bool            `json:"hide_dc,omitempty"`
	Visibility dice.Visibility `json:"visibility,omitempty"`
	Adv        bool            `json:"advantage,omitempty"`
	Dis        bool            `json:"disadvantage,omitempty"`
	// ID is set for dice that fell during the turn, by a tool.
	ID string `json:"-"`
}

type statusChange struct {
	Character string       `json:"character"`
	Status    table.Status `json:"status"`
}

// mark stands in a text for the n-th control of an output. GMs do not write
// private-use characters; what they write of them is dropped.
const mark = '\uE000'

func marked(n int) string { return string(mark) + strconv.Itoa(n) + string(mark) }

var markForm = regexp.MustCompile(string(mark) + `(\d+)` + string(mark))

// blankLines are what controls leave behind.
var blankLines = regexp.MustCompile(`\n[ \t]*\n(?:[ \t]*\n)+`)

var (
	fileOpen    = regexp.MustCompile(`(?i)^\[FILE(\+?):\s*(.+?)\s*\]$`)
	fileClose   = regexp.MustCompile(`(?i)^\[/FILE\]$`)
	controlLine = regexp.MustCompile(`(?i)^\[(ROLL|SCENE|STATUS):\s*(.+?)\s*\]$|^\[(END_SESSION)\]$`)
)

// control is a form on a line of its own, or the place of a tool's call.
type control struct {
	blocks []table.Block // what the tool was told to say
	file   *fileWrite
	word   string // ROLL, SCENE, STATUS, END_SESSION
	rest   string
	// fault is what is wrong with its form.
	fault string
}

// spoken is a piece of an output: words, or what a tool was told to say between
// them.
type spoken struct {
	text   string
	blocks []table.Block
}

// parseOutput reads what a GM said. It must never be given a player's text.
func parseOutput(text string, roster table.Roster) output {
	return parseSpoken([]spoken{{text: text}}, roster, false)
}

// parseSpoken reads words and calls together. When the party hears its
// narrative by a tool, it does not hear the words beside it: programs like to
// report what they have just done. Forms among them count.
func parseSpoken(pieces []spoken, roster table.Roster, quiet bool) output {
	var o output
	var rest strings.Builder
	var controls []control
	for _, p := range pieces {
		if p.blocks != nil {
			controls = putControl(&rest, controls, control{blocks: p.blocks})
			continue
		}
		controls = cutControls(&rest, controls, p.text)
	}
	o.Signal = table.ParseSignal(rest.String())
	narrative, late := o.Signal.Before, o.Signal.After
	for i, c := range controls {
		if c.blocks != nil {
			continue // see weave
		}
		if o.Signal.Found && strings.Contains(late, marked(i)) {
			o.Notes = append(o.Notes, "what stood after the signal was not taken: "+c.name())
			continue
		}
		rolls := len(o.Rolls)
		o.control(c, roster)
		if len(o.Rolls) == rolls {
			narrative = strings.ReplaceAll(narrative, marked(i), "")
		}
	}
	o.signalNotes()
	blocks, faults := table.ParseNarrative(narrative, roster)
	var woven []table.Block
	for _, b := range blocks {
		words := quiet && b.Audience.Party
		for _, w := range weave(b, controls) {
			if words && !w.tool {
				o.Aside += strings.TrimSpace(markForm.ReplaceAllString(w.Text, "")) + "\n"
				continue
			}
			woven = append(woven, w.Block)
		}
	}
	o.Aside = strings.TrimSpace(o.Aside)
	for i, c := range controls {
		// What a tool said behind a signal in words stands as well: it was an
		// act of its own.
		if o.Signal.Found && strings.Contains(late, marked(i)) {
			woven = append(woven, c.blocks...)
		}
	}
	for _, b := range woven {
		if b.Text = strings.TrimSpace(blankLines.ReplaceAllString(b.Text, "\n\n")); b.Text != "" {
			o.Blocks = append(o.Blocks, b)
		}
	}
	for _, f := range faults {
		o.Faults = append(o.Faults, f+"; that block was kept for you alone")
	}
	return o
}

// wovenBlock is a block of words, or one that a tool was told to say.
type wovenBlock struct {
	table.Block
	tool bool
}

// weave puts what tools said into their places in a block.
func weave(b table.Block, controls []control) []wovenBlock {
	var out []wovenBlock
	words := func(text string) {
		out = append(out, wovenBlock{Block: table.Block{Audience: b.Audience, Text: text}})
	}
	from := 0
	for _, m := range markForm.FindAllStringSubmatchIndex(b.Text, -1) {
		n, err := strconv.Atoi(b.Text[m[2]:m[3]])
		if err != nil || n >= len(controls) || controls[n].blocks == nil {
			continue // a roll
		}
		words(b.Text[from:m[0]])
		for _, t := range controls[n].blocks {
			out = append(out, wovenBlock{t, true})
		}
		from = m[1]
	}
	words(b.Text[from:])
	return out
}

func (o *output) signalNotes() {
	s := o.Signal
	if strings.TrimSpace(markForm.ReplaceAllString(s.After, "")) != "" {
		o.Notes = append(o.Notes, fmt.Sprintf("%d characters after the signal were withheld from everyone", len(s.After)))
	}
	if len(s.NotRun) > 0 {
		o.Notes = append(o.Notes, "only the first signal counts; not run: "+strings.Join(s.NotRun, ", "))
	}
}

func (c control) name() string {
	if c.file != nil {
		return "FILE " + clip(c.file.Path, 80)
	}
	return c.word
}

// cleanWords takes out what no text has: marks, NUL, bytes that are no UTF-8.
func cleanWords(text string) string {
	return strings.Map(func(r rune) rune {
		if r == mark || r == 0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(markdown.Normalise(text), "\ufffd"))
}

// putControl puts the mark of a control where the text has got to, as a
// paragraph of its own.
func putControl(b *strings.Builder, controls []control, c control) []control {
	b.WriteString("\n" + marked(len(controls)) + "\n\n")
	return append(controls, c)
}

// cutControls writes a text with marks in place of the forms on lines of their
// own.
func cutControls(b *strings.Builder, controls []control, text string) []control {
	lines := strings.Split(cleanWords(text), "\n")
	var fence string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		bare := strings.Trim(line, " \t*`_")
		if fence = fenced(fence, line); fence != "" || strings.HasPrefix(strings.TrimSpace(line), "```") {
			b.WriteString(line + "\n")
			continue
		}
		if m := fileOpen.FindStringSubmatch(bare); m != nil {
			end := closing(lines, i+1)
			c := control{file: &fileWrite{Path: m[2], Append: m[1] != ""}}
			if end < 0 {
				c.fault, end = "the file is not closed by [/FILE]: nothing was written", len(lines)
			} else {
				c.file.Text = strings.Join(lines[i+1:end], "\n") + "\n"
			}
			controls = putControl(b, controls, c)
			i = end
			continue
		}
		if m := controlLine.FindStringSubmatch(bare); m != nil {
			controls = putControl(b, controls, control{word: strings.ToUpper(m[1] + m[3]), rest: m[2]})
			continue
		}
		b.WriteString(line + "\n")
	}
	return controls
}

// fenced follows fenced code: it returns the fence that is open after a line.
func fenced(open, line string) string {
	t := strings.TrimLeft(line, " ")
	n := 0
	for n < len(t) && (t[0] == '`' || t[0] == '~') && t[n] == t[0] {
		n++
	}
	switch {
	case open == "" && n >= 3:
		return t[:n]
	case open != "" && n >= len(open) && t[0] == open[0] && strings.TrimSpace(t[n:]) == "":
		return ""
	}
	return open
}

func closing(lines []string, from int) int {
	for i := from; i < len(lines); i++ {
		if fileClose.MatchString(strings.TrimSpace(lines[i])) {
			return i
		}
	}
	return -1
}

// control takes one form.
func (o *output) control(c control, roster table.Roster) {
	if c.fault != "" {
		o.Faults = append(o.Faults, c.name()+": "+c.fault)
		return
	}
	if c.file != nil {
		o.addFile(*c.file, roster)
		return
	}
	switch c.word {
	case "ROLL":
		req, err := parseRoll(c.rest, roster)
		if err != nil {
			o.Faults = append(o.Faults, "ROLL: "+err.Error())
			return
		}
		o.Rolls = append(o.Rolls, req)
	case "SCENE":
		title, place, _ := strings.Cut(c.rest, "|")
		o.Scene = &story.Scene{Title: clip(strings.TrimSpace(title), table.MaxTitle), Place: clip(strings.TrimSpace(place), 200)}
	case "STATUS":
		name, status, _ := strings.Cut(c.rest, " ")
		o.addStatus(strings.TrimSpace(name), strings.TrimSpace(status), roster)
	case "END_SESSION":
		o.End = true
	}
}

func (o *output) addStatus(name, status string, roster table.Roster) {
	ch, ok := roster.Get(name)
	if !ok || !slices.Contains(table.Statuses, table.Status(status)) {
		o.Faults = append(o.Faults, fmt.Sprintf("STATUS: want a character and one of %v, not %q", table.Statuses, clip(name+" "+status, 80)))
		return
	}
	o.Statuses = append(o.Statuses, statusChange{ch.Slug, table.Status(status)})
}

func (o *output) addFile(f fileWrite, roster table.Roster) {
	path, err := gmPath(f.Path, roster)
	if err != nil {
		o.Faults = append(o.Faults, err.Error())
		return
	}
	f.Path = path
	o.Files = append(o.Files, f)
}

// gmPath finds the file that a GM means among those that a GM may write. What
// it returns is made of the roster's names and of checked slugs, never of the
// text as it was typed.
func gmPath(typed string, roster table.Roster) (string, error) {
	typed = strings.TrimSpace(typed)
	known := []string{"tmp/" + table.GMContextFile, "story-state.md", "party-knowledge.md", "world-primer.md", "overview.md", "decision-log.md"}
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
	return "", fmt.Errorf("%q is no file that a GM writes: prompts are tmp/{character}-prompt.md with a name of the roster (%s); further tmp/gm-context.md, story-state.md, party-knowledge.md, world-primer.md, overview.md, decision-log.md, party/{character}.md and %s/{slug}.md",
		clip(typed, 80), strings.Join(roster.Slugs(), ", "), strings.Join(gmDirs, "|"))
}

var gmDirs = []string{"beats", "npcs", "factions", "locations", "items"}

// parseRoll reads "1d20+3 | who | purpose | dc 15 | open".
func parseRoll(text string, roster table.Roster) (rollRequest, error) {
	parts := strings.Split(text, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	r := rollRequest{Expr: parts[0], Who: "gm", Visibility: dice.Open}
	if _, err := dice.Parse(r.Expr); err != nil {
		return r, err
	}
	if len(parts) > 1 && parts[1] != "" {
		r.Who = parts[1]
	}
	if len(parts) > 2 {
		r.Purpose = clip(parts[2], 200)
	}
	for _, p := range parts[min(3, len(parts)):] {
		if err := r.option(strings.ToLower(p)); err != nil {
			return r, err
		}
	}
	return r, r.check(roster)
}

func (r *rollRequest) option(p string) error {
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
			return fmt.Errorf("%q is no dc", clip(p, 40))
		}
		r.DC, r.HideDC = &n, len(words) == 3
	default:
		return fmt.Errorf("%q is none of dc N, hidden dc N, adv, dis, open, sealed, private", clip(p, 40))
	}
	return nil
}

func (r *rollRequest) check(roster table.Roster) error {
	if _, ok := roster.Get(r.Who); !ok && r.Who != "gm" {
		return fmt.Errorf("%q rolls nothing: want gm or one of %s", clip(r.Who, 40), strings.Join(roster.Slugs(), ", "))
	}
	return nil
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
