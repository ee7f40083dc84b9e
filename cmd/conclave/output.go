package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// counted says "1 entry" or "7 entries".
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// oneArg wants exactly one argument and says which.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usageError("%s takes one %s, not %d\ntry: %[1]s --help", cmd.CommandPath(), name, len(args))
	}
}
