package table

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/markdown"
)

// doubt is a place in a text where a tag is not clear. What follows it is the
// GM's, to its end if that is clear, else to the end of the text.
type doubt struct {
	Line int // from 1
	Tag  string
	Why  string
}

// taggedSecret is a tagged region.
type taggedSecret struct{ ID, Text string }

// region is a stretch of a text, its tags included, that not everybody reads.
type region struct {
	from, to int
	gm       bool // or a secret, which the owner of the file may read
	id       string
	inner    int // where its text begins
	end      int // and ends
}

// markup is a text with its regions. It is the only reader of tags: what players
// get, what guards keep from them and what validation reports are all taken from
// here.
type markup struct {
	text    string
	tags    []tag
	regions []region
	doubts  []doubt
}

func readMarkup(text string) *markup {
	m := &markup{text: text}
	var comments []comment
	m.tags, comments = findTags(text)
	m.pair()
	m.comments(comments)
	return m
}

// maxDoubts is how many places of one text are named, maxNested how deep regions
// may stand in one another: a text made to cost time costs none.
const maxDoubts, maxNested = 40, 16

func (m *markup) doubt(from, to int, why string) {
	if len(m.doubts) == maxDoubts {
		return
	}
	t := strings.Join(strings.Fields(m.text[from:min(to, len(m.text))]), " ")
	m.doubts = append(m.doubts, doubt{1 + strings.Count(m.text[:from], "\n"), Clip(t, 60), why})
}

func (m *markup) hide(from, to int) {
	m.regions = append(m.regions, region{from: from, to: to, gm: true, inner: from, end: to})
}

// pair makes regions of the tags. A closing tag that does not fit ends it: from
// there nobody knows what was meant for whom.
func (m *markup) pair() {
	var open []tag
	for _, t := range m.tags {
		if t.doubt != "" {
			m.doubt(t.from, t.to, t.doubt)
		}
		switch {
		case !t.closes && len(open) == maxNested:
			m.doubt(t.from, t.to, fmt.Sprintf("stands in %d others", maxNested))
			m.hide(open[0].from, len(m.text))
			return
		case !t.closes:
			open = append(open, t)
		case len(open) == 0:
			m.doubt(t.from, t.to, "closes nothing")
			m.hide(m.section(t.from), len(m.text))
			return
		case t.doubt != "": // it may have been meant to end something else
		case open[len(open)-1].gm != t.gm:
			m.doubt(t.from, t.to, "does not close "+open[len(open)-1].kind())
			for _, o := range open {
				m.region(o, len(m.text), len(m.text), true)
			}
			return
		default:
			m.region(open[len(open)-1], t.from, t.to, false)
			open = open[:len(open)-1]
		}
	}
	for _, t := range open {
		m.doubt(t.from, t.to, "is not closed")
		m.region(t, len(m.text), len(m.text), true)
	}
}

func (m *markup) region(t tag, end, to int, unclosed bool) {
	gm := t.gm || t.doubt != "" || unclosed
	m.regions = append(m.regions, region{from: t.from, to: to, gm: gm, id: t.id, inner: t.to, end: end})
	if !t.gm {
		m.regions[len(m.regions)-1].id = orID(t.id)
	}
}

// orID: a secret without a name is one all the same.
func orID(id string) string {
	if id == "" {
		return "unnamed"
	}
	return id
}

// section is where the part of the text begins in which something stands: behind
// the heading before it.
func (m *markup) section(at int) int {
	var f markdown.Fence
	from, here := 0, 0
	for line := range strings.Lines(m.text[:at]) {
		here += len(line)
		if level, _ := markdown.Heading(strings.TrimSuffix(line, "\n")); !f.Inside(line) && level > 0 && here <= at {
			from = here
		}
	}
	return from
}

// comments hides what is commented out, and what stands between two comments
// that open and close something we do not know.
func (m *markup) comments(list []comment) {
	opened := map[string]comment{} // by their first word
	for _, c := range list {
		m.hide(c.from, c.to)
		o, known := opened[c.word]
		switch {
		case c.open:
			m.doubt(c.from, c.from+4, "begins a comment that does not end")
			m.hide(c.from, len(m.text))
			return
		case c.closes && !known:
			m.doubt(c.from, c.to, "closes nothing")
			m.hide(m.section(c.from), len(m.text))
			return
		case c.closes:
			m.doubt(o.from, o.to, "begins nothing that is known: write <!-- gm --> or <!-- secret:id -->")
			m.hide(o.from, c.to)
		case !known:
			opened[c.word] = c
		}
	}
}

// hidden are the stretches that a reader does not get, in order and apart. The
// owner of a file reads the secrets in it; what is the GM's nobody does.
func (m *markup) hidden(owner bool) []region {
	var out []region
	for _, r := range m.regions {
		if r.gm || !owner {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b region) int { return a.from - b.from })
	var merged []region
	for _, r := range out {
		if last := len(merged) - 1; last >= 0 && r.from <= merged[last].to {
			merged[last].to = max(merged[last].to, r.to)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// split returns what a reader gets and what not.
func (m *markup) split(owner bool) (seen, kept string) {
	var a, b strings.Builder
	at := 0
	for _, r := range m.hidden(owner) {
		a.WriteString(m.text[at:r.from])
		b.WriteString(untagged(m.text[r.from:r.to]) + "\n")
		at = r.to
	}
	a.WriteString(m.text[at:])
	return a.String(), strings.TrimSpace(b.String())
}

// seenAt is where a place of the text stands in what everybody sees; false when
// it is hidden.
func (m *markup) seenAt(at int) (int, bool) {
	gone := 0
	for _, r := range m.hidden(false) {
		if r.from < at && at < r.to {
			return 0, false
		}
		if r.to <= at {
			gone += r.to - r.from
		}
	}
	return at - gone, true
}

// RemoveGM cuts out of a text what is the GM's: <!-- gm -->…<!-- /gm -->,
// comments, and whatever is unclear. It is what the owner of a file reads.
func RemoveGM(text string) string {
	seen, _ := readMarkup(text).split(true)
	return seen
}

// ForEveryone is a text without what is the GM's in it and without named secrets.
func ForEveryone(text string) string {
	seen, _ := readMarkup(text).split(false)
	return seen
}

// taggedSecrets lists the tagged regions of a text; inner ones are listed too.
func taggedSecrets(text string) []taggedSecret {
	var out []taggedSecret
	for _, r := range readMarkup(text).regions {
		if r.id != "" {
			out = append(out, taggedSecret{r.id, untagged(text[r.inner:r.end])})
		}
	}
	return out
}

// untagged is a text without its tags.
func untagged(text string) string {
	tags, _ := findTags(text)
	var b strings.Builder
	at := 0
	for _, t := range tags {
		b.WriteString(text[at:t.from] + " ")
		at = t.to
	}
	b.WriteString(text[at:])
	return b.String()
}
