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
	p := &audienceParser{roster: r, current: Audience{Party: true}}
	text = markdown.Clean(text)
	at := 0
	for _, m := range findMarkers(text, r) {
		p.text.WriteString(text[at:m.from])
		at = m.to
		p.marker(m)
	}
	p.text.WriteString(text[at:])
	if p.open.text != "" {
		p.fault("block %s is not closed", p.open.text)
	}
	p.flush()
	return p.blocks, p.faults
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
				closing: strings.ContainsAny(f.text[m[2]:m[3]], `/\`), gm: f.text[m[4]:m[5]] == "gm", names: text[f.at[m[6]]:f.at[m[7]]]}
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
	blocks  []Block
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
	for _, b := range p.tagged(Block{a, p.text.String()}) {
		if b.Text = strings.Trim(b.Text, "\n"); strings.TrimSpace(b.Text) != "" {
			p.blocks = append(p.blocks, b)
		}
	}
	p.text.Reset()
	p.spoilt = false
}

// tagged keeps what stands between the tags of files for the GM: a GM that
// copies out of a file copies them with it.
func (p *audienceParser) tagged(b Block) []Block {
	if b.Audience.String() == "gm" {
		return []Block{b}
	}
	m := readMarkup(b.Text)
	if len(m.regions) == 0 {
		return []Block{b}
	}
	seen, kept := m.split(false)
	p.faults = append(p.faults, "tags of files and comments stand in a narrative: what is for some alone goes between [TO: …] and [/TO] or [GM] and [/GM]")
	return []Block{{b.Audience, seen}, {Audience{}, kept}}
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
		name := strings.Trim(item, decoration)
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

// Private gives every block of the party to the named characters alone: a cycle
// of secret actions stays secret whatever the GM forgot to mark.
func Private(blocks []Block, names []string) []Block {
	out := slices.Clone(blocks)
	for i := range out {
		if out[i].Audience.Party {
			out[i].Audience = Audience{Names: slices.Clone(names)}
		}
	}
	return out
}
