package table

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/markdown"
)

// Audience says who may read a block of the GM's text. The zero Audience is the
// GM alone.
type Audience struct {
	Party bool     // everyone at the table
	Names []string // or just these characters
}

// SeatTable is the seat of a person without a character: it sees what the whole
// party sees, like a spectator.
const SeatTable = "table"

// Block is a stretch of the GM's text for one audience.
type Block struct {
	Audience Audience
	Text     string
}

// ParseNarrative splits a GM's text into blocks by audience. Text stands for
// the party unless it is between markers, best written on lines of their own:
//
//	[TO: tilda-brannock, gideon-harrowmoor]
//	Only these two read this.
//	[/TO]
//	[GM]
//	Nobody but the GM reads this.
//	[/GM]
//
// Markers count wherever they stand, in code and in the middle of a line too: a
// secret must not become public because of a forgotten back-quote. They do not
// nest. What is unclear is never shown to more people than the GM can have
// meant: an unknown name, a marker inside a block, or a block that is not
// closed makes the block the GM's alone, and faults say so for a repair.
func ParseNarrative(text string, r Roster) (blocks []Block, faults []string) {
	stretches, faults := ParseStretches(text, nil, r)
	for _, s := range stretches {
		blocks = append(blocks, Block{s.Audience, s.Texts[0]})
	}
	return blocks, faults
}

// Stretch is a block that is cut into pieces where something else stands: the
// i-th of them before the cut with the number Cuts[i].
type Stretch struct {
	Audience Audience
	Texts    []string // one more than cuts
	Cuts     []int
}

// ParseStretches is ParseNarrative for a text in which something else stands at
// some places, rolls for example: cuts are where, in ascending order. The text
// must be clean (markdown.Clean).
func ParseStretches(text string, cuts []int, r Roster) ([]Stretch, []string) {
	p := &audienceParser{roster: r, current: Audience{Party: true}}
	if len(cuts) == 0 {
		text = markdown.Clean(text)
	}
	next, at := 0, 0
	add := func(to int) {
		for ; next < len(cuts) && cuts[next] <= to; next++ {
			p.cuts = append(p.cuts, cutPlace{next, p.text.Len() + max(0, cuts[next]-at)})
		}
		p.text.WriteString(text[at:to])
	}
	for _, m := range findMarkers(text, r) {
		add(m.from)
		at = m.to
		p.marker(m)
	}
	add(len(text))
	if p.open.text != "" {
		p.fault("block %s is not closed", p.open.text)
	}
	p.flush()
	return p.out, p.faults
}

// cutPlace is where a cut stands in a block.
type cutPlace struct{ number, at int }

// cutBlock is a block with its cuts.
type cutBlock struct {
	Block
	cuts []cutPlace
}

// stretch trims the block, as far as no cut stands there, and cuts it; false when
// there is nothing in it.
func (b cutBlock) stretch() (Stretch, bool) {
	first, last := len(b.Text), 0
	if n := len(b.cuts); n > 0 {
		first, last = b.cuts[0].at, b.cuts[n-1].at
	}
	from := first - len(strings.TrimLeft(b.Text[:first], "\n"))
	text := b.Text[:max(last, len(strings.TrimRight(b.Text, "\n")))]
	s := Stretch{Audience: b.Audience}
	for _, c := range b.cuts {
		s.Texts, s.Cuts = append(s.Texts, text[from:c.at]), append(s.Cuts, c.number)
		from = c.at
	}
	s.Texts = append(s.Texts, text[min(from, len(text)):])
	return s, strings.TrimSpace(text) != "" || len(s.Cuts) > 0
}

// What begins like a marker, in a text that was folded: its brackets, what
// stands before the word, the word, what follows.
var audienceMarkers = []*regexp.Regexp{
	regexp.MustCompile(`\[([^a-z0-9\[\]\n]*)(gm|to)((?:[^a-z0-9\]\n][^\]\n]*)?)\]`),
	regexp.MustCompile(`(?m)\[([^a-z0-9\[\]\n]*)(gm|to)([ \t]*(?::[^\]\n]*)?)$`),
	regexp.MustCompile(`[({]([ \t/\\*_]*)(gm)([ \t*_]*)[)}]`),
}

// findMarkers lists the markers of a text. Full-width signs, invisible ones and
// forgotten colons and brackets do not hide one.
func findMarkers(text string, r Roster) []marker {
	f := foldMarks(text)
	var out []marker
	for _, like := range audienceMarkers {
		for _, m := range like.FindAllStringSubmatchIndex(f.text, -1) {
			t := marker{from: f.at[m[0]], to: f.at[m[1]], text: text[f.at[m[0]]:f.at[m[1]]],
				closing: strings.ContainsAny(f.text[m[2]:m[3]], `/\`), gm: f.text[m[4]:m[5]] == "gm",
				names: text[f.at[m[6]]:f.at[m[7]]]}
			if t.gm || t.closing || addresses(f.text[m[6]:m[7]], f.text[m[1]:], r) {
				t.names = strings.TrimPrefix(strings.TrimLeft(t.names, " \t\u00a0"), ":")
				t.names = strings.TrimPrefix(t.names, "：")
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, func(a, b marker) int { return a.from - b.from })
	return slices.CompactFunc(out, func(next, before marker) bool { return next.from < before.to })
}

// addresses tells [TO tilda] from [to be continued].
func addresses(names, after string, r Roster) bool {
	rest := strings.TrimSpace(names)
	if rest == "" || rest[0] == ':' || closesTo.MatchString(after) {
		return true
	}
	word := strings.Join(words(rest), " ")
	return slices.ContainsFunc(r.Characters, func(c Character) bool {
		name := words(c.Name + " " + c.Slug)
		return len(name) > 0 && strings.HasPrefix(word+" ", name[0]+" ")
	})
}

var closesTo = regexp.MustCompile(`\[[^a-z0-9\[\]\n]*[/\\][^a-z0-9\[\]\n]*to[^a-z0-9\]\n]*\]`)

// Decoration is what may stand around a form or a name.
const Decoration = " \t*`_"

type marker struct {
	from, to int

	text    string
	closing bool
	gm      bool
	names   string
}

type audienceParser struct {
	roster  Roster
	current Audience
	open    marker // the marker that opened the block
	depth   int    // of markers inside markers
	spoilt  bool   // the block is the GM's alone because of a fault
	text    strings.Builder
	cuts    []cutPlace // of the block
	out     []Stretch
	faults  []string
}

func (p *audienceParser) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
	p.spoilt = p.spoilt || p.depth > 0
}

func (p *audienceParser) flush() {
	a := p.current
	if p.spoilt {
		a = Audience{}
	}
	for _, b := range p.tagged(cutBlock{Block{a, p.text.String()}, p.cuts}) {
		if s, ok := b.stretch(); ok {
			p.out = append(p.out, s)
		}
	}
	p.cuts = nil
	p.text.Reset()
	p.spoilt = false
}

// tagged keeps what stands between the tags of files for the GM: a GM that
// copies out of a file copies them with it.
func (p *audienceParser) tagged(b cutBlock) []cutBlock {
	if b.Audience.String() == "gm" {
		return []cutBlock{b}
	}
	m := readMarkup(b.Text)
	if len(m.regions) == 0 {
		return []cutBlock{b}
	}
	p.faults = append(p.faults, "tags of files and comments stand in a narrative: "+
		"what is for some alone goes between [TO: …] and [/TO] or [GM] and [/GM]")
	seen, kept := m.split(false)
	open, hidden := cutBlock{Block: Block{b.Audience, seen}}, cutBlock{Block: Block{Audience{}, kept}}
	for _, c := range b.cuts {
		if at, ok := m.seenAt(c.at); ok {
			open.cuts = append(open.cuts, cutPlace{c.number, at})
		} else {
			hidden.Text += "\n\n"
			hidden.cuts = append(hidden.cuts, cutPlace{c.number, len(hidden.Text)})
		}
	}
	return []cutBlock{open, hidden}
}

func (p *audienceParser) marker(m marker) {
	switch {
	case !m.closing && p.depth > 0:
		p.depth++
		p.fault("%s stands inside %s", m.text, p.open.text)
	case !m.closing:
		p.flush()
		p.open, p.depth, p.current = m, 1, Audience{}
		if !m.gm {
			p.audience(m.names)
		}
	case p.depth == 0: // what it was to close stands before it
		p.fault("%s closes nothing", m.text)
		p.spoilt = true
		p.flush()
	case p.depth > 1:
		p.depth--
	case m.gm != p.open.gm:
		p.fault("%s does not close %s", m.text, p.open.text)
	default:
		p.flush()
		p.open, p.depth, p.current = marker{}, 0, Audience{Party: true}
	}
}

// audience reads the names of a [TO: …] marker, all or nothing.
func (p *audienceParser) audience(list string) {
	for item := range strings.SplitSeq(list, ",") {
		name := strings.Trim(item, Decoration)
		if name == "" {
			continue
		}
		if name == "party" {
			p.current.Party = true
			continue
		}
		c, ok := p.roster.Get(name)
		if !ok {
			p.fault("%s: no such character", quoted(name))
			continue
		}
		if !slices.Contains(p.current.Names, c.Slug) {
			p.current.Names = append(p.current.Names, c.Slug)
		}
	}
	if !p.current.Party && len(p.current.Names) == 0 && !p.spoilt {
		p.fault("%s names nobody", p.open.text)
	}
}

// May reports whether a character may read text for this audience.
func (a Audience) May(character string) bool {
	return a.Party || slices.Contains(a.Names, character)
}

// String is "party", "gm" or the names.
func (a Audience) String() string {
	switch {
	case a.Party:
		return "party"
	case len(a.Names) == 0:
		return "gm"
	}
	return strings.Join(a.Names, ", ")
}

// PartyText is the shared narrative: the party's blocks and nothing else.
func PartyText(blocks []Block) string {
	return join(blocks, func(a Audience) bool { return a.Party })
}

// TextFor is what one character reads: the party's blocks and its own, in order.
func TextFor(blocks []Block, character string) string {
	return join(blocks, func(a Audience) bool { return a.May(character) })
}

// PrivateText is what one character reads and the party does not.
func PrivateText(blocks []Block, character string) string {
	return join(blocks, func(a Audience) bool { return !a.Party && a.May(character) })
}

func join(blocks []Block, want func(Audience) bool) string {
	var parts []string
	for _, b := range blocks {
		if want(b.Audience) {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}
