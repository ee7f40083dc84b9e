package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

// answer makes a command of a question: ask finds the answer, which is shown to
// people, or with --json to programs. An answer that says no by itself is shown
// before it becomes an exit code.
func answer[T any](
	env *environment, cmd *cobra.Command,
	ask func(ctx context.Context, args []string) (T, error), show func(w *screen.Writer, answer T) error,
) *cobra.Command {
	var asJSON bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		v, err := ask(cmd.Context(), args)
		env.clearProgress()
		if err != nil && !app.Said(err) {
			return err
		}
		if asJSON {
			return cmp.Or(env.Stdout.JSON(v), err)
		}
		return cmp.Or(show(env.Stdout, v), err)
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// someArgs wants at least one argument and says which.
func someArgs(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return usageError("%s takes at least one %s\ntry: %[1]s --help", cmd.CommandPath(), name)
	}
}

// first is an argument that need not be given.
func first(args []string) string { return strings.Join(args[:min(1, len(args))], "") }

// printJSON says what --json of a command prints.
func printJSON(cmd *cobra.Command, what string) *cobra.Command {
	cmd.Flag("json").Usage = what
	return cmd
}
