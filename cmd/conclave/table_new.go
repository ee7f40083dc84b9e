package main

import (
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newTableNew(env *environment) *cobra.Command {
	var from string
	var characters []string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a campaign",
		Long: `New makes campaigns/NAME: with --adventure a copy of an adventure that comes with
the program, otherwise an empty campaign with the characters that you name. Write
sheets, story state and party knowledge with any editor.`,
		Example: `  conclave table new ashfall --adventure
  conclave table new ashfall --character "Tilda Brannock" --character "O'Brien"`,
		Args: oneArg("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("adventure") {
				from = ""
			}
			if err := env.app().NewTable(args[0], from, characters); err != nil {
				return err
			}
			env.Stdout.Printf("campaigns/%s is ready. Play it: conclave table play %[1]s\n", args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "adventure", app.DefaultAdventure, "copy an adventure: "+strings.Join(app.Adventures(), ", "))
	cmd.Flags().Lookup("adventure").NoOptDefVal = app.DefaultAdventure
	cmd.Flags().StringArrayVar(&characters, "character", nil, "a character's name, or name=slug")
	return cmd
}
