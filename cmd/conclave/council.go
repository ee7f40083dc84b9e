package main

import "github.com/spf13/cobra"

func newCouncilCommand(env *environment) *cobra.Command {
	var flags talkFlags
	cmd := &cobra.Command{
		Use:   "council",
		Short: "Hear the six advisors on this project, and what they agree on",
		Long: `Council lets bear, cat, owl, puppy, rabbit and wolf look at the project, each
alone and none hearing the others. Their claims cite path:line; every citation is
checked, and what could not be verified is marked. Simon brings the six together
and keeps the dissent. The report is .campaign/council-report.md.

It needs no quest and never moves one. --message says what to look at.`,
		Example: `  conclave council
  conclave council --message "Could a newcomer maintain this?"
  conclave council --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := env.app().Council(cmd.Context(), flags.given(env, cmd))
			return ended(env, &flags, res, err)
		},
	}
	flags.add(cmd, true)
	return cmd
}
