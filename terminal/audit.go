package terminal

import (
	"fmt"
	"strings"

	"conclave/app"
	"conclave/internal/screen"
)

// PrintAudit prints what records show, besides so many findings elsewhere.
func PrintAudit(w *screen.Writer, reports []*app.AuditReport, beside int) {
	tw := w.Table(false)
	tw.Printf("ROLE\tTURN\tGIVEN\tDENIED\tSEARCHED\tROOM\tPROBES\tMODEL INPUT\tCHAIN\tRECEIPT\n")
	findings := beside
	for _, r := range reports {
		chain := "sealed"
		if !r.Sound {
			chain = "BROKEN"
		} else if !r.Sealed {
			chain = "open"
		}
		for _, t := range r.Turns {
			receipt := "yes"
			if !t.Receipt {
				receipt = "MISSING"
			}
			who := t.Role
			if character, ok := strings.CutPrefix(r.Prompt, "table."+t.Role+"."); ok {
				who += " " + character
			}
			tw.Printf("%s\t%s\t%d\t%d\t%d\t%s\t%d\t%s\t%s\t%s\n",
				who, t.ID, len(t.Given), t.Denied, t.Searched, t.Level, t.Probes, t.Model, chain, receipt)
		}
		findings += len(r.Findings)
	}
	tw.Flush()
	for _, r := range reports {
		for _, f := range r.Findings {
			w.Printf("%s %s: %s\n", screen.Red("found"), r.Run, f)
		}
	}
	printGaps(w, reports)
	stamped, shown := printStamps(w, reports), screen.Counted(len(reports), "record", "records")
	const nothing = "nothing reached anyone that they must not know, as far as"
	switch {
	case findings == 0 && stamped:
		w.Printf("beyond what is stamped, %s %s can show\n", nothing, shown)
	case findings == 0:
		w.Printf("%s %s %s can show\n", screen.Green("clean:"), nothing, shown)
	}
	if len(reports) > 0 {
		w.Printf("%s\n", screen.Dim("no record shows: "+strings.Join(reports[0].Unseen, "; ")))
	}
}

// printStamps shows what the person allowed and every artefact says: it is not
// found, for it was not hidden, and it is not clean.
func printStamps(w *screen.Writer, reports []*app.AuditReport) bool {
	any := false
	for _, r := range reports {
		for _, t := range r.Turns {
			for _, stamp := range t.Stamps {
				w.Printf("%s %s: %s: %s\n", screen.Bold("stamped"), r.Run, t.Role, stamp)
				any = true
			}
		}
	}
	return any
}

// printGaps names each gap once, with the runs that have it.
func printGaps(w *screen.Writer, reports []*app.AuditReport) {
	runs := map[string][]string{}
	var order []string
	for _, r := range reports {
		for _, g := range r.Gaps {
			if runs[g] == nil {
				order = append(order, g)
			}
			runs[g] = append(runs[g], r.Run)
		}
	}
	for _, g := range order {
		where := runs[g][0]
		if n := len(runs[g]); n > 1 {
			where = fmt.Sprintf("%d runs", n)
		}
		w.Printf("%s %s: %s\n", screen.Dim("gap"), where, g)
	}
}

// PrintFaults says what is wrong, for people.
func PrintFaults(w *screen.Writer, faults []app.Fault) {
	for _, f := range faults {
		where := screen.Bold(fmt.Sprintf("%s:%d", f.File, f.Line))
		w.Printf("%s: %s: %s\n    %s\n", where, screen.Red(f.Rule), f.Message, f.Fix)
	}
}
