package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newDebriefCommand(env *environment) *cobra.Command {
	return talk(env, &cobra.Command{
		Use:   "debrief",
		Short: "Look back with Simon once the Dragon was faced",
		Long: `Debrief looks back: a full reflection in the mode Grow, a short retrospective
in Ship, something of both in Grow & Ship. When the Dragon is slain it is the
quest's last phase; when it prevailed it is a conversation, and the quest goes on
from where it stands. Answers end it as in consult.`,
		Example: "  conclave debrief\n  conclave debrief --message \"What did we learn?\" --answers answers.txt",
		Args:    cobra.NoArgs,
	}, mayTalk, func(ctx context.Context, talk app.Talk, _ []string) (*app.Result, error) {
		return env.app().Debrief(ctx, talk)
	})
}
