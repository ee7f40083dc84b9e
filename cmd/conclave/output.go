package main

import "github.com/spf13/cobra"

// oneArg wants exactly one argument and says which.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usageError("%s takes one %s, not %d\ntry: %[1]s --help", cmd.CommandPath(), name, len(args))
	}
}
