package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/terminal"
)

func newCalibrateCommand(env *environment) *cobra.Command {
	var in app.Calibrate
	cmd := answer(env, &cobra.Command{
		Use:   "calibrate",
		Short: "Try your judge with cases whose answers are known",
		Long: `Calibrate puts small cases with known answers before whoever is configured as
the Dragon, each as conclave gate would, and prints how often they were right, wrong
or did not judge: for work that meets its criteria, for work that does not, and for
traps, where the work says more of itself than is there. Not to judge is never wrong.

With --persuasion, works that try to talk the judge round are judged too, each beside
the same work without that, and the rate of flipped verdicts is printed.

A model is asked once for every case and judge, and that costs money. The runs are on
the record of this workspace.

Exit codes: 0 nothing wrong and nothing flipped, 1 something was, 3 nobody could be
asked.`,
		Example: `  conclave gate calibrate
  conclave gate calibrate --only 'go-*' --judges 3
  conclave gate calibrate --persuasion --json`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) (*app.Calibration, error) {
		return env.app().Calibrate(ctx, in)
	}, terminal.PrintCalibration)
	f := cmd.Flags()
	f.BoolVar(&in.Persuasion, "persuasion", false, "also with words inside of the work that want another verdict")
	f.StringVar(&in.Only, "only", "", "only cases whose `NAME` this is, or matches: 'go-*'")
	f.IntVar(&in.Judges, "judges", 0, "how many are asked, an odd number (default 1)")
	f.StringVar(&in.Rule, "rule", "", "all or majority (default all)")
	return cmd
}
