package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newConsultCommand(env *environment) *cobra.Command {
	var in app.Consultation
	cmd := talk(env, &cobra.Command{
		Use:   "consult WHO",
		Short: "Talk to an advisor about the quest",
		Long: `Consult talks to one of the party: bear, cat, owl, puppy, rabbit or wolf for
their perspective, gandalf for counsel (with --readiness: for a review of whether
to face the Dragon), simon to reflect. After a verdict, guardian or dragon can be
asked about it; that cannot change it. The six and simon need no quest. The name
that somebody wears will do as well: rogue, "the rogue", wyrm.

At a terminal the conversation goes on until you send an empty line. A script
gives the first message with --message and further ones with --answers; standard
input is the message when it is neither a terminal nor named.`,
		Example: `  conclave consult cat
  conclave consult owl --message "Can we make it by Friday?"
  git diff | conclave consult cat --message -
  conclave consult gandalf --readiness -m "Are we ready?" --json`,
		Args: oneArg("WHO"),
	}, talks, func(ctx context.Context, talk app.Talk, args []string) (*app.Result, error) {
		in.Talk, in.Who = talk, args[0]
		return env.app().Consult(ctx, in)
	})
	cmd.Flags().BoolVar(&in.Readiness, "readiness", false, "ask gandalf for a review of readiness")
	return cmd
}
