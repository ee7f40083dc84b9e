package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newCouncilCommand(env *environment) *cobra.Command {
	return talk(env, &cobra.Command{
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
	}, mayTalk, func(ctx context.Context, talk app.Talk, _ []string) (*app.Result, error) {
		return env.app().Council(ctx, talk)
	})
}
