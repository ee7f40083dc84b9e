package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"conclave/policy"
	"conclave/quest/flow"
)

func newDebriefCommand(env *environment) *cobra.Command {
	var flags campaignFlags
	cmd := &cobra.Command{
		Use:   "debrief",
		Short: "Look back on a quest whose Dragon is slain, with Simon",
		Long: `Debrief looks back: a full reflection in the mode Grow, a short retrospective
in Ship, something of both in Grow & Ship. Answers end it as in consult.`,
		Example: "  conclave debrief\n  conclave debrief --message \"What did we learn?\" --answers answers.txt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := env.openCampaign(cmd, flags)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			in := flow.Debrief{}
			if cmd.Flags().Changed("message") {
				if in.Message, err = env.message(cmd, flags); err != nil {
					return err
				}
			}
			res, err := c.debrief(cmd.Context(), in)
			return c.finish(cmd.Context(), res, err)
		},
	}
	flags.add(cmd, true)
	return cmd
}

func (c *campaign) debrief(ctx context.Context, in flow.Debrief) (flow.Result, error) {
	if err := c.house.CheckDebrief(in); err != nil {
		return flow.Result{}, campaignError(err)
	}
	if err := c.available(string(policy.Simon)); err != nil {
		return flow.Result{}, err
	}
	return c.start(ctx, "debrief", in)
}
