package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
	"conclave/terminal"
)

func newGateCommand(env *environment) *cobra.Command {
	var in app.Gate
	var out app.GateReports
	var cmd *cobra.Command
	cmd = answer(env, &cobra.Command{
		Use:   "gate --criteria FILE|TEXT [--work PATH…|--diff BASE..HEAD]",
		Short: "Put work before a judge that was kept from seeing anything else",
		Long: `Gate puts criteria and work before the Dragon in a fresh sealed room, and nothing
else: no conversations, no commit messages, no words of whoever did the work. It
needs no quest and moves none. Criteria with (check: ` + "`command`" + `) have it run over
the work first; a failed check cannot be outvoted.

The first line says who wrote the criteria: "committed" (they stand at BASE, or in
the last commit as they do here), "quest", or "the caller's own". Of a change who
judges, and how, is read from BASE; a change that touches that is not judged.

Several judges (--judges 3) do not know of each other. A criterion is met if all
say so (--rule all), or most (--rule majority). Judges other than the first are
cast as dragon.2, dragon.3 in conclave.yaml; those of one family of models are
called repeats, not independent.

The verdict has a receipt, which strangers can check: conclave audit receipt FILE.
What was decided is kept, and the same case is not judged twice (--no-cache).

Exit codes: 0 met, 1 not met, 3 not judged: a failure of the judge is no verdict.
With --again: 0 the verdicts agree, 1 they differ, 3 it was not judged now.`,
		Example: `  conclave gate --criteria docs/done.md --work src --work README.md
  conclave gate --criteria "Every flag in the manual exists." --work docs/manual.md --work cmd
  conclave gate --criteria docs/done.md --diff origin/main...HEAD --trust-base --sarif gate.sarif
  conclave gate --judge guardian --expect "The design names what can fail." --work docs/design.md
  conclave gate --again receipt.json --work src`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) (*app.GateAnswer, error) {
		env.Muted = out.Printed() || cmd.Flags().Changed("json")
		got, err := env.app().Gate(ctx, in)
		switch {
		case got == nil:
			return got, err
		case len(got.Leaks) > 0 && cmd.Flags().Changed("json"):
			return got, orElse(env.Stdout.JSON(got), err)
		case len(got.Leaks) > 0:
			return got, err
		}
		return got, orElse(env.app().WriteReports(env.Stdout.Raw(), got, out), err)
	}, func(w *screen.Writer, g *app.GateAnswer) error {
		if !out.Printed() {
			terminal.PrintGate(w, g)
		}
		return nil
	})
	gateFlags(cmd, &in, &out)
	cmd.AddCommand(newCalibrateCommand(env))
	return cmd
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func gateFlags(cmd *cobra.Command, in *app.Gate, out *app.GateReports) {
	f := cmd.Flags()
	f.StringVar(&in.Criteria, "criteria", "", "a file, or the words themselves; else the quest's own")
	f.StringArrayVar(&in.Work, "work", nil, "a path or glob that is judged; with --diff, what of the change's tree is")
	f.StringVar(&in.Diff, "diff", "", "judge a commit and what it changes: BASE..HEAD, BASE...HEAD or BASE")
	f.StringVar(&in.Judge, "judge", "", "dragon (by criteria) or guardian (by --expect)")
	f.StringVar(&in.Expect, "expect", "", "what ready means, for the Guardian")
	f.IntVar(&in.Judges, "judges", 0, "how many are asked, an odd number (default 1)")
	f.StringVar(&in.Rule, "rule", "", "all or majority (default all)")
	addGrantFlag(cmd, &in.Grants)
	f.BoolVar(&in.AcceptContext, "accept-context", false, "go on although forbidden context was found, stamped")
	f.BoolVar(&in.TrustBase, "trust-base", false, "you vouch for what stands at BASE: configuration, instructions, checks")
	f.StringVar(&in.Cache, "cache", "", "where decided cases are kept (outside of the workspace)")
	f.BoolVar(&in.NoCache, "no-cache", false, "judge anew")
	f.StringVar(&in.Again, "again", "", "judge the case of this receipt once more, blind")
	f.StringVar(&in.Sign, "sign", "", "sign the receipt with this key, or with git's where none is named")
	f.Lookup("sign").NoOptDefVal = app.GitsKey
	f.StringVar(&in.Receipt, "receipt", "", "where the receipt is written (default .conclave/receipts)")
	f.StringVar(&out.SARIF, "sarif", "", "write the findings as SARIF to this file, - for the output")
	f.StringVar(&out.JUnit, "junit", "", "write the criteria as JUnit XML to this file, - for the output")
	f.StringVar(&out.Markdown, "markdown", "", "write a summary as Markdown to this file, - for the output")
}
