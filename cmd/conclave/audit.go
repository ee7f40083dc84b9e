package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newAuditCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:   "audit [RUN|FILE…]",
		Short: "Prove from the record who knew what",
		Long: `Audit reads records and holds them against the policy: what each role was
given, which paths it named, whether text that it is denied reached it (in
messages, in the results of tools, in the bytes that its model was sent),
whether its room was shown to be locked, and whether every turn has a receipt.

It needs the record alone, so it can judge one that was made on another
machine. Without a name it judges all records of this workspace. It exits with
1 when anything was found, and says what no record can show.`,
		Example: `  conclave audit
  conclave audit 20260218T143200.000Z-1f0c9a3b5d7e --json
  conclave audit somebody-elses.record`,
	}, func(_ context.Context, args []string) ([]*app.AuditReport, error) {
		return env.app().Audit(args)
	}, func(w *screen.Writer, reports []*app.AuditReport) error {
		printAudit(w, reports, 0)
		return nil
	})
}

// printAudit prints what records show, besides so many findings elsewhere.
func printAudit(w *screen.Writer, reports []*app.AuditReport, beside int) {
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
	stamped, shown := printStamps(w, reports), counted(len(reports), "record", "records")
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
