package main

import "github.com/spf13/cobra"

func newDemoCommand(env *environment) *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: no key, no network",
		Long: `Demo runs the commands that you would run, in a workspace of its own: a
consultation with the Cat, a look into the Dragon's room, an attempt on its walls,
the Dragon's verdict, and the beginning of an adventure with a secret on three
screens. Then it asks the record who knew what. A script says what you say and what
the Cat answers; everybody else is the embedded party.`,
		Example: "  conclave demo\n  conclave demo --keep /tmp/demo      keep the workspace to look at",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.app().Demo(cmd.Context(), keep)
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "keep the workspace in this directory")
	return cmd
}
