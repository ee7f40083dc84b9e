package main

import "github.com/spf13/cobra"

func newDebriefCommand(env *environment) *cobra.Command {
	var flags talkFlags
	cmd := &cobra.Command{
		Use:   "debrief",
		Short: "Look back on a quest whose Dragon is slain, with Simon",
		Long: `Debrief looks back: a full reflection in the mode Grow, a short retrospective
in Ship, something of both in Grow & Ship. Answers end it as in consult.`,
		Example: "  conclave debrief\n  conclave debrief --message \"What did we learn?\" --answers answers.txt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := env.app().Debrief(cmd.Context(), flags.given(env, cmd))
			return ended(env, &flags, res, err)
		},
	}
	flags.add(cmd, true)
	return cmd
}
