package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newCheckpointCommand(env *environment) *cobra.Command {
	var in app.Evaluation
	cmd := talk(env, &cobra.Command{
		Use:   "checkpoint --stage NAME [--expect TEXT] PATH…",
		Short: "Have the Guardian judge the work of a stage",
		Long: `Checkpoint puts the named work, and nothing else, before the Guardian: no
conversations, no criteria, no earlier verdicts, no words of yours but the stage's
name and what ready means for it (--expect, at most 2,000 characters).

Before it starts, everything that would enter the Guardian's room, and what it
is told, is searched for the party's reasoning; both passages are shown with file
and line, and nothing starts. Text that stood in the project before it was said,
or that an advisor proposed for it, is no finding. Keys and logins in the work are withheld, and
the verdict names them; --grant lets one in. The verdict is Approved, Blocked or Conditional Approval; exit code 1
says Blocked, or that no verdict was given.`,
		Example: `  conclave checkpoint --stage design docs/design.md
  conclave checkpoint --stage api --expect "every endpoint has an error case" src/api 'docs/*.md'
  conclave checkpoint --stage beta --json src/`,
		Args: cobra.ArbitraryArgs,
	}, silent, func(ctx context.Context, talk app.Talk, args []string) (*app.Result, error) {
		in.Talk, in.Paths = talk, args
		return env.app().Checkpoint(ctx, in)
	})
	cmd.Flags().StringVar(&in.Stage, "stage", "", "the stage's name")
	cmd.Flags().StringVar(&in.Expect, "expect", "", "what ready means for this stage")
	cmd.Flags().BoolVar(&in.AcceptContext, "accept-context", false, "go on although forbidden context was found; the verdict says so")
	return cmd
}
