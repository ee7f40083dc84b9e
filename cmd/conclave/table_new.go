package main

import (
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
)

func newTableNew(env *environment) *cobra.Command {
	var from, answers string
	var talk bool
	var characters []string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a campaign",
		Long: `New makes campaigns/NAME: with --adventure a copy of an adventure that comes with
the program, which the embedded game master can tell; otherwise an empty campaign
with the characters that you name, whose game master you are, or an agent that you
name in conclave.yaml. Write sheets, story state and party knowledge with any
editor.

With --talk campaign and characters are made in talk: the game master's agent
proposes what you describe, and again as you want it different; where no agent is
named you are asked one thing after the other. You see it whole before it is
written, and what was interrupted goes on with the same command.`,
		Example: `  conclave table new ashfall --adventure
  conclave table new ashfall --talk
  conclave table new ashfall --character "Tilda Brannock" --character "O'Brien"`,
		Args: oneArg("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("adventure") {
				from = ""
			}
			if talk && (from != "" || len(characters) > 0) || answers != "" && !talk {
				return usageError("--talk asks for everything itself, and --answers is for --talk\ntry: conclave table new %s --talk",
					args[0])
			}
			var sit string
			var err error
			if talk {
				sit, err = env.app().TalkNewTable(cmd.Context(), args[0], answers)
			} else {
				sit, err = env.app().NewTable(args[0], from, characters)
			}
			if err != nil || sit == "" {
				return err
			}
			env.Stdout.Printf("campaigns/%s is ready. Sit down: conclave table play %[1]s --as %s\n", args[0], sit)
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "adventure", app.DefaultAdventure, "copy an adventure: "+strings.Join(app.Adventures(), ", "))
	cmd.Flags().Lookup("adventure").NoOptDefVal = app.DefaultAdventure
	cmd.Flags().BoolVar(&talk, "talk", false, "make campaign and characters in talk, with the game master's agent or by questions")
	cmd.Flags().StringVar(&answers, "answers", "", "with --talk, a file with what you say: one a line, or blocks between lines of ---")
	cmd.Flags().StringArrayVar(&characters, "character", nil, "a character's name, or name=slug")
	return cmd
}
