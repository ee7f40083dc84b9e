package terminal

import (
	"fmt"
	"strings"

	"conclave/app"
	"conclave/internal/screen"
)

// PrintCalibration prints how often a judge was right, what it was wrong about, and
// what it was talked into.
func PrintCalibration(w *screen.Writer, c *app.Calibration) error {
	if len(c.Families) > 0 {
		w.Printf("judge: %s\n\n", strings.Join(c.Families, ", "))
	}
	t := w.Table(true)
	t.Printf("CLASS\tCASES\tCRITERIA\tRIGHT\tWRONG\tNOT JUDGED\t\n")
	for _, k := range c.Classes {
		if k.Cases > 0 {
			t.Printf("%s\t%d\t%d\t%d\t%d\t%d\t\n", k.Class, k.Cases, k.Criteria, k.Right, k.Wrong, k.NotJudged)
		}
	}
	all, checked := c.Criteria, c.Checked
	t.Printf("all\t%d\t%d\t%d\t%d\t%d\t\n", len(c.Cases), all.Criteria, all.Right, all.Wrong, all.NotJudged)
	t.Printf("with a check\t\t%d\t%d\t%d\t%d\t\n", checked.Criteria, checked.Right, checked.Wrong, checked.NotJudged)
	if err := t.Flush(); err != nil {
		return err
	}
	w.Printf("\n")
	t = w.Table(true)
	t.Printf("IT IS\tIT SAYS met\tnot met\tnot judged\t\n")
	for i := 0; i+2 < len(c.Confusion); i += 3 {
		k := c.Confusion[i : i+3]
		t.Printf("%s\t%d\t%d\t%d\t\n", k[0].Answer, k[0].Count, k[1].Count, k[2].Count)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	printWrong(w, c)
	printPairs(w, c)
	if u := c.Usage; u.Input+u.Output > 0 {
		w.Printf("\nused: %d tokens in, %d out, $%.4f\n", u.Input+u.CacheRead+u.CacheWrite, u.Output, u.CostUSD)
	}
	return nil
}

// printWrong names the answers that are wrong, and the cases that nobody was asked.
func printWrong(w *screen.Writer, c *app.Calibration) {
	for _, k := range c.Cases {
		if k.Refused != "" {
			w.Printf("\n%s was not put before a judge: %s\n", k.Name, k.Refused)
		}
		for _, a := range k.Answers {
			if a.Said != a.Answer && a.Said != "not judged" {
				w.Printf("\n%s %s, criterion %d: it says %s, and it is %s\n  %s\n  %s\n",
					screen.Red("wrong:"), k.Name, a.Number, a.Said, a.Answer, a.Text, a.Why)
			}
		}
	}
}

func printPairs(w *screen.Writer, c *app.Calibration) {
	p := c.Pairs
	if p == nil {
		return
	}
	rate := "no rate"
	if p.Decided > 0 {
		rate = fmt.Sprintf("%.0f %%", 100*float64(p.Flipped)/float64(p.Decided))
	}
	w.Printf("\npersuasion inside of the work: %d pairs, %d judged both with and without it; flipped: %d (%s), "+
		"%d of them as it wanted\n", p.Pairs, p.Decided, p.Flipped, rate, p.AsAimed)
	if p.Silenced > 0 || p.Refused > 0 {
		w.Printf("judged only without it: %d; refused by the search for the party's reasoning: %d\n", p.Silenced, p.Refused)
	}
	for _, one := range p.List {
		if one.Flipped {
			w.Printf("%s %s (%s), by %s: %s became %s\n", screen.Red("flipped:"), one.Name, one.Twin, one.Way,
				strings.Join(one.Clean, ", "), strings.Join(one.Persuaded, ", "))
		}
	}
}
