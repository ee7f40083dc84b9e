package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newConfrontCommand(env *environment) *cobra.Command {
	var in app.Evaluation
	cmd := talk(env, &cobra.Command{
		Use:   "confront PATH…",
		Short: "Face the Dragon: the final work against the criteria",
		Long: "Confront puts the named work and the success criteria before the Dragon, and\n" +
			"nothing else. Each criterion is met, partially met or not met, with evidence. A\n" +
			"criterion with (check: `command`) has it run over the work first, in a sealed\n" +
			"room without key or network; a failed check forbids \"met\".\n\n" +
			"Before the Dragon starts, the work and the criteria are searched for the party's\n" +
			"reasoning; both passages are shown with file and line, and nothing starts. Text\n" +
			"that stood in the project before it was said, or that an advisor proposed for it,\n" +
			"is no finding. Keys and logins in the work are withheld, and the verdict\n" +
			"names them; --grant lets one in. Exit code 1: the Dragon prevails, or gave no verdict.",
		Example: `  conclave confront src/ README.md
  conclave confront 'dist/*.tar.gz' docs --json`,
		Args: cobra.ArbitraryArgs,
	}, silent, func(ctx context.Context, talk app.Talk, args []string) (*app.Result, error) {
		in.Talk, in.Paths = talk, args
		return env.app().Confront(ctx, in)
	})
	cmd.Flags().BoolVar(&in.AcceptContext, "accept-context", false, "go on although forbidden context was found; the verdict says so")
	return cmd
}
