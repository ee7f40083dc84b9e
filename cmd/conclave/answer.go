package main

import (
	"cmp"
	"context"
	"reflect"
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
		env.ClearProgress()
		if err != nil && !app.Said(err) {
			return err
		}
		if asJSON {
			return cmp.Or(env.Stdout.JSON(v), err)
		}
		return cmp.Or(show(env.Stdout, v), err)
	}
	env.addJSON(cmd, &asJSON, "print as JSON", ask)
	return cmd
}

// addJSON gives a command --json, with which it prints what the verb returns
// first. docs/json.md describes every such answer, and a test holds that page
// against the commands.
func (env *environment) addJSON(cmd *cobra.Command, to *bool, usage string, verb any) {
	cmd.Flags().BoolVar(to, "json", false, usage)
	if env.answers == nil {
		env.answers = map[*cobra.Command]reflect.Type{}
	}
	env.answers[cmd] = reflect.TypeOf(verb).Out(0)
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
