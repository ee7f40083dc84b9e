package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
)

func newInitCommand(env *environment) *cobra.Command {
	var yes bool
	var play, model string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make this directory a workspace",
		Long: `Init makes .campaign/ for the quest's files and .conclave/ for the records, and
keeps .conclave/ out of git: records hold every word and leave the machine only
as bundles. It changes nothing that is there already.

At a terminal it then asks who shall play, if your own configuration does not say
so yet and something is here that could: a server of models on this machine, a
key in the environment. The choice is written into your own configuration, and
holds for every workspace. A script says it with --play NAME, with the names that
conclave doctor --json gives.`,
		Example: "  conclave init\n  conclave init --yes\n  conclave init --yes --play ollama --model llama3.2",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if model != "" && play == "" {
				return usageError("--model says which model --play NAME asks: say both")
			}
			setup, err := env.app().Setup(cmd.Context(), play, model)
			if err != nil {
				return err
			}
			if len(setup.Steps) == 0 {
				env.Stdout.Printf(
					"This is a workspace already. Start with: conclave council, or conclave quest start\n")
				return env.choosePlayers(cmd.Context(), play, model)
			}
			env.Stdout.Printf("In %s:\n", setup.Dir)
			for _, s := range setup.Steps {
				env.Stdout.Printf("  %s\n", s.What)
			}
			if !yes && !env.confirm(screen.Sprintf("Do this? [y/N] ")) {
				return environmentError("nothing was changed (without a terminal say --yes)")
			}
			if err := setup.Do(); err != nil {
				return err
			}
			cast, err := env.app().Party()
			if err != nil {
				return err
			}
			env.PrintCast(cast)
			if err := env.choosePlayers(cmd.Context(), play, model); err != nil {
				return err
			}
			return env.Stdout.Printf(`
Done. What next:
  conclave council         hear the six on this project
  conclave consult cat     ask one of them; no quest is needed
  conclave quest start     define a quest
`)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it without asking")
	cmd.Flags().StringVar(&play, "play", "", "have every role answered by this, one of those that doctor proposes")
	cmd.Flags().StringVar(&model, "model", "", "the model that --play asks")
	return cmd
}

// choosePlayers has a person choose who plays: with --play at once, else by
// asking, where nobody has chosen yet and there is a choice.
func (env *environment) choosePlayers(ctx context.Context, play, model string) error {
	a := env.app()
	if play == "" {
		if !env.StdinIsTerminal {
			return nil
		}
		var err error
		if play, model, err = a.ChooseMeans(ctx); err != nil || play == "" {
			return err
		}
	}
	file, lines, err := a.Adopt(ctx, play, model)
	if err != nil {
		return err
	}
	return env.Stdout.Printf("\nWritten into %s:\n  %s\nconclave agents try cat asks it one small thing.\n",
		file, screen.Indent("  ", strings.Join(lines, "\n")))
}
