package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newDebriefCommand(env *environment) *cobra.Command {
	return talk(env, &cobra.Command{
		Use:   "debrief",
		Short: "Look back on a quest whose Dragon is slain, with Simon",
		Long: `Debrief looks back: a full reflection in the mode Grow, a short retrospective
in Ship, something of both in Grow & Ship. Answers end it as in consult.`,
		Example: "  conclave debrief\n  conclave debrief --message \"What did we learn?\" --answers answers.txt",
		Args:    cobra.NoArgs,
	}, mayTalk, func(ctx context.Context, talk app.Talk, _ []string) (*app.Result, error) {
		return env.app().Debrief(ctx, talk)
	})
}
