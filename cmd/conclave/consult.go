package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"conclave/policy"
	"conclave/quest/flow"
)

func newConsultCommand(env *environment) *cobra.Command {
	var flags campaignFlags
	var readiness bool
	cmd := &cobra.Command{
		Use:   "consult WHO",
		Short: "Talk to an advisor about the quest",
		Long: `Consult talks to one of the party: bear, cat, owl, puppy, rabbit or wolf for
their perspective, gandalf for counsel (with --readiness: for a review of whether
to face the Dragon). After a verdict, guardian or dragon can be asked about it;
that cannot change it.

At a terminal the conversation goes on until you send an empty line. A script
gives the first message with --message and further ones with --answers; standard
input is the message when it is neither a terminal nor named.`,
		Example: `  conclave consult cat
  conclave consult owl --message "Can we make it by Friday?"
  git diff | conclave consult cat --message -
  conclave consult gandalf --readiness -m "Are we ready?" --json`,
		Args: oneArg("WHO"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			who := policy.Role(strings.ToLower(args[0]))
			if readiness && who != policy.Gandalf {
				return usageError("--readiness is asked of gandalf, not of %s", who)
			}
			c, err := env.openCampaign(cmd, flags)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			message, err := env.message(cmd, flags)
			if err != nil {
				return err
			}
			res, err := c.consult(cmd.Context(), flow.Consult{Who: who, Message: message, Readiness: readiness})
			return c.finish(cmd.Context(), res, err)
		},
	}
	cmd.Flags().BoolVar(&readiness, "readiness", false, "ask gandalf for a review of readiness")
	flags.add(cmd, true)
	return cmd
}

func (c *campaign) consult(ctx context.Context, in flow.Consult) (flow.Result, error) {
	if !in.Who.Known() {
		return flow.Result{}, usageError("nobody is called %q (there are %s)", in.Who, roleNames())
	}
	if err := c.house.CheckConsult(in); err != nil {
		return flow.Result{}, campaignError(err)
	}
	if strings.TrimSpace(in.Message) == "" && !c.asker.person() && len(c.asker.answers) == 0 {
		return flow.Result{}, usageError("say something to %s: --message TEXT, @FILE or -", in.Who)
	}
	if err := c.available(string(in.Who)); err != nil {
		return flow.Result{}, err
	}
	return c.start(ctx, "consult", in)
}
