package main

import (
	"slices"

	"github.com/spf13/cobra"
)

func newHookCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "What the plugin's hooks call in Claude Code and Codex",
		Long: `These commands read on stdin what a client gives to a hook. They never fail the
hook: whatever goes wrong is said on stderr, and the exit code is 0.
"conclave install" writes the hooks that call them.`,
	}
	cmd.AddCommand(newHookSession(env), newHookDone(env), newHookCollect(env))
	return cmd
}

func newHookSession(env *environment) *cobra.Command {
	return hookCommand(env, &cobra.Command{
		Use:   "session",
		Short: "Put the session on the record",
		Long: `Session notes the files of the session and has another process put them on the
record, which nobody waits for: in the workspace that the session is held in, or
among your own data where there is none.`,
	}, func(cmd *cobra.Command, _ []string) error { return env.app().RecordHook(cmd.Context()) })
}

func newHookDone(env *environment) *cobra.Command {
	return hookCommand(env, &cobra.Command{
		Use:   "done",
		Short: "Have the work judged before the agent stops",
		Long: `Done does nothing unless your own configuration says gate: {before_done: FILE}.
Then the criteria in that file are put before the judge, with the workspace as the
work. If they are not met the agent is told so, once, with the findings; if it
could not be judged you are told, and the agent stops as it wanted.`,
	}, func(cmd *cobra.Command, _ []string) error {
		word, err := env.app().DoneHook(cmd.Context())
		if err != nil || word == nil {
			return err
		}
		return env.Stdout.JSON(word)
	})
}

func newHookCollect(env *environment) *cobra.Command {
	return hookCommand(env, &cobra.Command{
		Use:    "collect FILE",
		Short:  "Put what hooks have told on the record",
		Hidden: true, // "hook session" starts it
	}, func(cmd *cobra.Command, args []string) error {
		return env.app().CollectNoted(cmd.Context(), first(args))
	})
}

// hookCommand is one that never fails whoever calls it.
func hookCommand(
	env *environment, cmd *cobra.Command, do func(cmd *cobra.Command, args []string) error,
) *cobra.Command {
	cmd.DisableFlagParsing = true // a wrong flag must not fail the hook
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
			return cmd.Help()
		}
		if err := do(cmd, args); err != nil {
			env.Stderr.Printf("conclave hook %s: %v\n", cmd.Name(), err)
		}
		return nil
	}
	return cmd
}
