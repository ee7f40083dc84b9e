package main

import (
	"errors"

	"github.com/spf13/cobra"

	"conclave/app"
)

// talkFlags are those that every command of a quest has.
type talkFlags struct {
	app.Talk
	message string
	asJSON  bool
}

func (f *talkFlags) add(cmd *cobra.Command, messages bool) {
	if messages {
		cmd.Flags().StringVarP(&f.message, "message", "m", "", "what to say: TEXT, @FILE, or - for standard input")
	}
	cmd.Flags().StringVar(&f.Answers, "answers", "",
		"a file with the answers to questions: one a line, or blocks between lines of ---")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the result as JSON")
	addGrantFlag(cmd, &f.Grants)
	cmd.Flags().BoolVar(&f.Wait, "wait", false, "wait while another process holds the quest")
}

// addGrantFlag adds the only way in which a key or a login gets into a room:
// the person's word, for one command. A project has no such word.
func addGrantFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "grant", nil,
		"let a key or login of the project into the room, by name (may be repeated); receipts say so")
}

// given is what the flags say.
func (f *talkFlags) given(env *environment, cmd *cobra.Command) app.Talk {
	env.muted, f.Once = f.asJSON, f.asJSON
	if cmd.Flags().Changed("message") {
		f.Message = &f.message
	}
	return f.Talk
}

// spoken is given, with standard input for the message when it is neither a
// terminal nor named.
func (f *talkFlags) spoken(env *environment, cmd *cobra.Command) app.Talk {
	talk := f.given(env, cmd)
	if talk.Message == nil && !env.StdinIsTerminal && f.Answers == "" {
		in := "-"
		talk.Message = &in
	}
	return talk
}

// ended prints what a verb came to: as JSON, where events have not shown it.
func ended[T any](env *environment, f *talkFlags, res *T, err error) error {
	if f.asJSON && res != nil && (err == nil || app.Said(err)) {
		err = errors.Join(env.Stdout.JSON(res), err)
	}
	return err
}
