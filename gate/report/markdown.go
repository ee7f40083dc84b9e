package report

import (
	"fmt"
	"strings"

	"conclave/gate"
	"conclave/internal/markdown"
)

// maxMarkdown is the most that GitHub takes for a step's summary, less what we
// say when it is too long.
const maxMarkdown = 1<<20 - 256

// marks are shown before a status.
var marks = map[string]string{gate.Met: "✅", gate.NotMet: "❌", gate.NotJudged: "❓"}

// Markdown is a summary for people.
func Markdown(g Gate) []byte {
	w := &page{}
	w.line("## %s %s – criteria: %s", marks[g.outcome()], strings.ToUpper(g.outcome()), plain(g.origin()))
	w.line("")
	if g.Cached {
		made := g.Made.UTC().Format("2 January 2006 15:04 UTC")
		w.line("Judged before, on %s, and not again: nothing has changed since.", made)
		w.line("")
	}
	w.line("Case %s, receipt %s, head of its record %s.", plain(g.Case.Digest), plain(g.Receipt), plain(g.Head))
	if g.Signed != "" {
		w.line("Signed by %s.", plain(g.Signed))
	}
	w.line("")
	w.line("| | criterion | votes |")
	w.line("|---|---|---|")
	all := g.criteria()
	for _, c := range all {
		w.line("| %s %s | %d\\. %s | %s |", marks[c.Status], c.Status, c.Number, plain(c.text), c.votes())
	}
	for _, c := range all {
		if c.Status != gate.Met {
			w.criterion(&c)
		}
	}
	w.judges(&g)
	return w.bytes()
}

func (w *page) criterion(c *criterion) {
	w.line("")
	head, _, _ := strings.Cut(c.text, "\n")
	w.line("### %s %d\\. %s", marks[c.Status], c.Number, plain(head))
	for _, e := range c.evidence() {
		w.line("")
		for line := range strings.SplitSeq(e, "\n") {
			w.line("> %s", plain(line))
		}
	}
}

// judges says who they were; those of one family repeat each other.
func (w *page) judges(g *Gate) {
	w.line("")
	switch n := len(g.Judges); {
	case n > 1 && g.Decision.Independent:
		w.line("%d judges of different families: %s.", n, plain(strings.Join(g.Decision.Families, ", ")))
	case n > 1:
		w.line("%d judges, which are repeats and not independent: %s.", n, plain(strings.Join(g.Decision.Families, ", ")))
	case n == 1:
		w.line("One judge: %s.", plain(strings.Join(g.Decision.Families, ", ")))
	}
	for _, f := range g.failures() {
		w.line("")
		w.line("> %s", plain(f))
	}
	for _, s := range g.Stamps {
		w.line("")
		w.line("> %s", plain(words(s)))
	}
}

func (c *criterion) votes() string {
	out := fmt.Sprintf("%d met, %d not met", c.Met, c.NotMet)
	if c.Abstained > 0 {
		out += fmt.Sprintf(", %d abstained", c.Abstained)
	}
	return out
}

func plain(text string) string { return markdown.Plain(words(text)) }

// page is a document that does not grow over its limit.
type page struct {
	b   strings.Builder
	cut int // lines that did not fit
}

func (w *page) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if w.cut > 0 || w.b.Len()+len(text)+1 > maxMarkdown {
		w.cut++
		return
	}
	w.b.WriteString(text + "\n")
}

func (w *page) bytes() []byte {
	if w.cut > 0 {
		fmt.Fprintf(&w.b, "\n%d lines more did not fit on this page; the receipt has them.\n", w.cut)
	}
	return []byte(w.b.String())
}
