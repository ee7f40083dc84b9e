package terminal

import (
	"fmt"
	"slices"
	"strings"

	"conclave/app"
	"conclave/internal/screen"
)

// PrintGate prints what came of a case: the verdict and who wrote the criteria
// first, then criterion by criterion what was said and by how many.
func PrintGate(w *screen.Writer, g *app.GateAnswer) {
	w.Printf("%s – %s\n", verdictWord(g.Decision.Outcome), whoseCriteria(g))
	if g.Cached {
		w.Printf("%s\n", screen.Dim("judged before, on "+g.Made.Local().Format("2 January 2006 15:04")+
			", and not again: the case and its judges are the same (--no-cache judges anew)"))
	}
	if g.Agrees != nil {
		printAgreement(w, g)
	}
	for _, d := range g.Decision.Criteria {
		printCriterion(w, g, d.Number)
	}
	printJudges(w, g)
	for _, s := range g.Stamps {
		w.Printf("note: %s\n", s)
	}
	w.Printf("receipt: %s\nhead: %s\n", g.Receipt, g.Head)
	if g.Signed != "" {
		w.Printf("signed: %s\n", g.Signed)
	}
}

// verdictWord is a decision as a headline.
func verdictWord(outcome string) screen.Text {
	word := strings.ToUpper(outcome)
	switch outcome {
	case "met":
		return screen.Green(word)
	case "not met":
		return screen.Red(word)
	}
	return screen.Bold(word)
}

func whoseCriteria(g *app.GateAnswer) screen.Text {
	c := g.Case.Criteria
	switch c.Origin {
	case "committed":
		return screen.Sprintf("criteria: committed at %.12s (%s)", c.Commit, c.File)
	case "quest":
		return screen.Sprintf("criteria: the quest's")
	case "caller":
		if c.File != "" {
			return screen.Sprintf("criteria: the caller's own (%s)", c.File)
		}
		return screen.Sprintf("criteria: the caller's own")
	}
	return screen.Sprintf("the Guardian, by the caller's expectation")
}

func printAgreement(w *screen.Writer, g *app.GateAnswer) {
	if *g.Agrees {
		w.Printf("judged again: the verdicts agree\n")
		return
	}
	var list []string
	for _, n := range g.Differs {
		list = append(list, fmt.Sprint(n))
	}
	w.Printf("%s the verdicts differ (criteria: %s)\n", screen.Red("judged again:"), strings.Join(list, ", "))
}

// printCriterion shows one criterion: what it came to, how it was voted, and the
// evidence of each judge.
func printCriterion(w *screen.Writer, g *app.GateAnswer, number int) {
	i := slices.IndexFunc(g.Decision.Criteria, func(d app.GateDecided) bool { return d.Number == number })
	d := g.Decision.Criteria[i]
	w.Printf("\n%d. %s: %s\n", d.Number, criterionText(g, number), screen.Bold(d.Status))
	if g.Case.N > 1 {
		w.Printf("   %s\n", screen.Dim(fmt.Sprintf("%d met, %d not met, %d did not judge", d.Met, d.NotMet, d.Abstained)))
	}
	if d.Why != "" {
		w.Printf("   %s\n", d.Why)
	}
	for _, c := range g.Checks {
		if c.Number == number {
			note := ""
			if c.Note != "" {
				note = ": " + c.Note
			}
			w.Printf("   check `%s` %s%s\n", c.Command, c.State, note)
		}
	}
	for _, j := range g.Judges {
		for _, f := range j.Findings {
			if f.Number != number {
				continue
			}
			who := ""
			if g.Case.N > 1 {
				who = fmt.Sprintf("judge %d, %s: ", j.Number, f.Status)
			}
			w.Printf("   %s\n", screen.Indent("   ", who+f.Evidence))
			for _, at := range f.Citations {
				if !at.OK {
					w.Printf("   %s %s (%s)\n", screen.Red("not there:"), at.Text, at.Reason)
				}
			}
		}
	}
}

func criterionText(g *app.GateAnswer, number int) string {
	text := g.Case.Expect
	for _, c := range g.Case.Criteria.List {
		if c.Number == number {
			text, _, _ = strings.Cut(c.Text, "\n")
		}
	}
	return text
}

// printJudges says who judged, behind what, and whether they were several.
func printJudges(w *screen.Writer, g *app.GateAnswer) {
	w.Printf("\n")
	for _, j := range g.Judges {
		who := j.Adapter
		if j.Model != "" {
			who += " " + j.Model
		}
		where := "in this program, which hands it the case alone"
		if !j.InProcess {
			where = fmt.Sprintf("room: %s, %s", j.Enforced.Level, screen.Counted(len(j.Enforced.Probes), "probe", "probes"))
		}
		w.Printf("judge %d: %s – %s\n", j.Number, who, where)
		if j.Failed != "" {
			w.Printf("   %s %s\n", screen.Red("no verdict:"), j.Failed)
		}
	}
	switch {
	case g.Case.N == 1:
	case g.Decision.Independent:
		w.Printf("independent: %s\n", strings.Join(g.Decision.Families, ", "))
	default:
		w.Printf("repeats, not independent of each other (%s)\n", strings.Join(g.Decision.Families, ", "))
	}
}
