package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
)

// talkFlags are those that every command of a quest has.
type talkFlags struct {
	app.Talk
	message string
	asJSON  bool
}

// speaking is how a command of a quest comes to a message.
type speaking int

const (
	silent speaking = iota // it takes none
	mayTalk
	talks // standard input is the message when it is neither a terminal nor named
)

// talk makes a command of a verb that talks to the party. What events have not
// shown is printed with --json.
func talk(
	env *environment, cmd *cobra.Command, how speaking,
	do func(ctx context.Context, talk app.Talk, args []string) (*app.Result, error),
) *cobra.Command {
	var f talkFlags
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env.Muted, f.Once = f.asJSON, f.asJSON
		if cmd.Flags().Changed("message") {
			f.Message = &f.message
		} else if how == talks && !env.StdinIsTerminal && f.Answers == "" {
			f.message = "-"
			f.Message = &f.message
		}
		res, err := do(cmd.Context(), f.Talk, args)
		if f.asJSON && res != nil && (err == nil || app.Said(err) || len(res.Leaks) > 0) {
			err = cmp.Or(env.Stdout.JSON(res), err)
		}
		return err
	}
	if how != silent {
		cmd.Flags().StringVarP(&f.message, "message", "m", "", "what to say: TEXT, @FILE, or - for standard input")
	}
	cmd.Flags().StringVar(&f.Answers, "answers", "",
		"a file with the answers to questions: one a line, or blocks between lines of ---; what is not asked for is said")
	env.addJSON(cmd, &f.asJSON, "print the result as JSON", do)
	addGrantFlag(cmd, &f.Grants)
	cmd.Flags().BoolVar(&f.Drop, "drop", false, "first put away what was interrupted; what was said is kept")
	cmd.Flags().BoolVar(&f.Wait, "wait", false, "wait while another process holds the quest")
	return cmd
}

// addGrantFlag adds the only way in which a key or a login of the project gets into a room:
// the person's word, for one command. A project has no such word.
func addGrantFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "grant", nil,
		"let a key or login of the project into the room, by name (may be repeated); receipts say so")
}
