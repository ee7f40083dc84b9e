package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"conclave/policy"
	"conclave/quest/flow"
)

func newCheckpointCommand(env *environment) *cobra.Command {
	var flags campaignFlags
	var in flow.Evaluate
	cmd := &cobra.Command{
		Use:   "checkpoint --stage NAME [--expect TEXT] PATH…",
		Short: "Have the Guardian judge the work of a stage",
		Long: `Checkpoint puts the named work, and nothing else, before the Guardian: no
conversations, no criteria, no earlier verdicts, no words of yours but the stage's
name and what ready means for it (--expect, at most 2,000 characters).

Before it starts, everything that would enter the Guardian's room, and what it
is told, is searched for passages of what it must not know; a hit is shown with
file and line, and nothing starts. Keys and logins in the work are withheld, and
the verdict names them; --grant lets one in. The verdict is Approved, Blocked or Conditional Approval; exit code 1
says Blocked, or that no verdict was given.`,
		Example: `  conclave checkpoint --stage design docs/design.md
  conclave checkpoint --stage api --expect "every endpoint has an error case" src/api 'docs/*.md'
  conclave checkpoint --stage beta --json src/`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				return usageError("name the work: conclave checkpoint --stage NAME PATH…")
			}
			in.Role, in.Paths = policy.Guardian, args
			in.Words = commandWords("checkpoint", in)
			return env.evaluateCommand(cmd, flags, in)
		},
	}
	cmd.Flags().StringVar(&in.Stage, "stage", "", "the stage's name")
	cmd.Flags().StringVar(&in.Expect, "expect", "", "what ready means for this stage")
	cmd.Flags().BoolVar(&in.AcceptContext, "accept-context", false, "go on although forbidden context was found; the verdict says so")
	flags.add(cmd, false)
	return cmd
}

func (env *environment) evaluateCommand(cmd *cobra.Command, flags campaignFlags, in flow.Evaluate) (err error) {
	c, err := env.openCampaign(cmd, flags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	in.Granted = c.granted
	res, err := c.evaluate(cmd.Context(), in)
	return c.finish(cmd.Context(), res, err)
}

// evaluate shows what goes in before it goes in.
func (c *campaign) evaluate(ctx context.Context, in flow.Evaluate) (flow.Result, error) {
	e, err := c.house.Examine(ctx, in)
	if err != nil {
		return flow.Result{}, campaignError(err)
	}
	if err := c.available(string(in.Role)); err != nil {
		return flow.Result{}, err
	}
	if err := c.vouchForChecks(in.Role); err != nil {
		return flow.Result{}, err
	}
	c.voice.aside("The work: %s", e.Summary)
	for _, l := range e.LeftOut {
		c.voice.aside("left out: %s (%s)", l.Path, l.Reason)
	}
	return c.start(ctx, "evaluate", in)
}

// vouchForChecks: only the Dragon runs the criteria's checks.
func (c *campaign) vouchForChecks(role policy.Role) error {
	if role != policy.Dragon {
		return nil
	}
	items, err := c.w.CheckItems()
	if err != nil {
		return environmentError("%w", err)
	}
	return c.w.VouchFor(items)
}

// commandWords stand in the conversation for what the person said.
func commandWords(verb string, in flow.Evaluate) string {
	words := []string{verb}
	if in.Stage != "" {
		words = append(words, "--stage", quoteWord(in.Stage))
	}
	if in.Expect != "" {
		words = append(words, "--expect", quoteWord(in.Expect))
	}
	for _, p := range in.Paths {
		words = append(words, quoteWord(p))
	}
	return strings.Join(words, " ")
}

func quoteWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'\\$`*?[]{}()<>|&;!#~") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
