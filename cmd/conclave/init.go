package main

import (
	"github.com/spf13/cobra"

	"conclave/internal/screen"
)

func newInitCommand(env *environment) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make this directory a workspace",
		Long: `Init makes .campaign/ for the quest's files and .conclave/ for the records, and
keeps .conclave/ out of git: records hold every word and leave the machine only
as bundles. It changes nothing that is there already.`,
		Example: "  conclave init\n  conclave init --yes",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			setup, err := env.app().Setup()
			if err != nil {
				return err
			}
			if len(setup.Steps) == 0 {
				return env.Stdout.Printf(
					"This is a workspace already. Start with: conclave council, or conclave quest start\n")
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
			env.printCast(cast)
			return env.Stdout.Printf(`
Done. What next:
  conclave council         hear the six on this project
  conclave consult cat     ask one of them; no quest is needed
  conclave quest start     define a quest
`)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it without asking")
	return cmd
}
