package main

import (
	"github.com/spf13/cobra"

	"conclave/app"
)

func newTableChat(env *environment) *cobra.Command {
	var in app.Chat
	var message string
	cmd := &cobra.Command{
		Use:   "chat NAME CHARACTER",
		Short: "Talk to a character outside of play",
		Long: `Chat is a talk with a character between two sessions. Whoever plays it answers,
with what the character knows at the table and nothing else; where a person does,
the embedded player stands in. Nothing of it happens in the story, and no file of
the campaign is changed; the talk is recorded, and "conclave table audit" reads it
like any other call.

A character may tell you what its sheet and its journal say: do not ask one that
somebody else plays what you do not want to know.`,
		Example: `  conclave table chat ashfall tilda-brannock
  conclave table chat ashfall tilda-brannock --message "Why did you leave the abbey?"`,
		Args: argsNamed("a campaign", "a character"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Table, in.Character = args[0], args[1]
			if cmd.Flags().Changed("message") {
				in.Message = &message
			}
			return env.app().ChatWithCharacter(cmd.Context(), in)
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "one question: TEXT, @FILE, or - for what comes in")
	cmd.Flags().StringVar(&in.Answers, "answers", "", "a file with what you say: one a line, or blocks between lines of ---")
	return cmd
}
