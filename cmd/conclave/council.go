package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"conclave/policy"
	"conclave/quest/flow"
)

func newCouncilCommand(env *environment) *cobra.Command {
	var flags campaignFlags
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
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := env.openCampaign(cmd, flags)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			in := flow.Council{Message: "council"}
			if cmd.Flags().Changed("message") {
				if in.Message, err = env.message(cmd, flags); err != nil {
					return err
				}
			}
			res, err := c.council(cmd.Context(), in)
			return c.finish(cmd.Context(), res, err)
		},
	}
	flags.add(cmd, true)
	return cmd
}

func (c *campaign) council(ctx context.Context, in flow.Council) (flow.Result, error) {
	if err := c.house.CheckCouncil(in); err != nil {
		return flow.Result{}, campaignError(err)
	}
	for _, role := range append(policy.Animals(), policy.Simon) {
		if err := c.available(string(role)); err != nil {
			return flow.Result{}, err
		}
	}
	return c.start(ctx, "council", in)
}
