package report

import (
	"fmt"
	"slices"
	"strings"

	"conclave/gate"
	"conclave/internal/screen"
	"conclave/receipt"
)

// Gate is a body, and what is known about the receipt that holds it.
type Gate struct {
	receipt.Body
	Receipt string // its file
	Head    string // of the gate's record
	Signed  string // by whom, if it is
	Cached  bool   // it was judged before
}

// maxWords bounds each of somebody else's texts, in characters.
const maxWords = 8000

// words is foreign text, bounded, with its control characters shown.
func words(text string) string {
	if r := []rune(text); len(r) > maxWords {
		text = string(r[:maxWords]) + "… (cut)"
	}
	return strings.TrimSpace(screen.Block(text).String())
}

// criterion is all that is known about one of them.
type criterion struct {
	gate.Decided
	text  string
	check *receipt.Check
	said  []said
}

// said is what a judge says of a criterion.
type said struct {
	judge *receipt.Judge
	receipt.Finding
}

// criteria are those that were decided, in their order.
func (g *Gate) criteria() []criterion {
	out := make([]criterion, 0, len(g.Decision.Criteria))
	for _, d := range g.Decision.Criteria {
		c := criterion{Decided: d, text: g.text(d.Number)}
		c.Status = known(d.Status)
		if i := slices.IndexFunc(g.Checks, func(k receipt.Check) bool { return k.Number == d.Number }); i >= 0 {
			c.check = &g.Checks[i]
		}
		for i := range g.Judges {
			for _, f := range g.Judges[i].Findings {
				if f.Number == d.Number {
					c.said = append(c.said, said{&g.Judges[i], f})
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// known is a status that there is. Whatever else stands there is no verdict.
func known(status string) string {
	if status == gate.Met || status == gate.NotMet {
		return status
	}
	return gate.NotJudged
}

func (g *Gate) outcome() string { return known(g.Decision.Outcome) }

// text is what a criterion says, or what the Guardian was told to expect.
func (g *Gate) text(number int) string {
	for _, c := range g.Case.Criteria.List {
		if c.Number == number {
			return words(c.Text)
		}
	}
	if g.Case.Expect != "" {
		return words(g.Case.Expect)
	}
	return fmt.Sprintf("criterion %d", number)
}

// evidence is everything that was said of a criterion, a paragraph each.
func (c *criterion) evidence() []string {
	var out []string
	if c.Why != "" {
		out = append(out, words(c.Why))
	}
	if c.check != nil {
		line := fmt.Sprintf("check %s: %s", words(c.check.Command), words(c.check.State))
		if c.check.Note != "" {
			line += " (" + words(c.check.Note) + ")"
		}
		out = append(out, line)
	}
	for _, s := range c.said {
		line := fmt.Sprintf("judge %d: %s", s.judge.Number, words(s.Status))
		if s.Evidence != "" {
			line += ": " + words(s.Evidence)
		}
		for _, k := range s.Citations {
			if !k.OK {
				line += fmt.Sprintf("\n(%s is not in the work: %s)", words(k.Text), words(k.Reason))
			}
		}
		out = append(out, line)
	}
	return out
}

// failures are judges without a verdict.
func (g *Gate) failures() []string {
	var out []string
	for _, j := range g.Judges {
		if j.Failed != "" {
			out = append(out, fmt.Sprintf("judge %d gave no verdict: %s", j.Number, words(j.Failed)))
		}
	}
	return out
}

// places are the citations that show why a criterion is not met, each once: those
// that were found, in files of the work. work.diff is none of them, which is in no
// repository.
func (g *Gate) places(c *criterion) []receipt.Citation {
	var out []receipt.Citation
	for _, s := range c.said {
		if gate.Vote(s.Status) == gate.Met {
			continue
		}
		for _, k := range s.Citations {
			if !k.OK || k.Line < 1 || !g.holds(k.Path) || slices.ContainsFunc(out, func(o receipt.Citation) bool {
				return o.Path == k.Path && o.Line == k.Line && o.EndLine == k.EndLine
			}) {
				continue
			}
			out = append(out, k)
		}
	}
	return out
}

func (g *Gate) holds(path string) bool {
	return slices.ContainsFunc(g.Case.Work.Files, func(f receipt.File) bool { return f.Path == path })
}

// origin says who wrote the criteria.
func (g *Gate) origin() string {
	c := g.Case.Criteria
	switch c.Origin {
	case gate.Committed:
		return "committed at " + words(short(c.Commit))
	case gate.OfQuest:
		return "the quest's own"
	case "":
		return "none, an expectation"
	}
	return "the caller's own"
}

func short(commit string) string {
	if len(commit) > 12 {
		return commit[:12]
	}
	return commit
}

func (g *Gate) version() string { return strings.TrimPrefix(g.Program, "conclave ") }

// facts say which case it is, and where its receipt lies.
func (g *Gate) facts() map[string]string {
	return map[string]string{"outcome": g.outcome(), "criteria": g.origin(), "case": words(g.Case.Digest),
		"receipt": words(g.Receipt), "head": words(g.Head)}
}
