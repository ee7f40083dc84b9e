package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newTablePlay(env *environment) *cobra.Command {
	var f app.Playing
	cmd := &cobra.Command{
		Use:   "play NAME",
		Short: "Play",
		Long: `Play goes on where the campaign stands. With --as you sit in a seat: a
character's, or gm; what is printed is what that seat sees and nothing else.
Without, you see what the whole party sees, and what you say is said to the game
master. A question for another person's seat is not printed here: it waits until
they play or resume from their own.

While a table is played, a second play joins it from another terminal, with other
seats; who is asked is asked at their own. When the first is left, another goes on.

Several people at one terminal name a seat each (--as bram --as corin).
Each is asked by name when the keyboard was handed over, and what one of them read
alone is cleared before the next looks. Speak with your name: "bram: I go in".

Lines that begin with a slash are never said to anybody: /help lists those of your
seat – your sheet and journal, who is here, what happened last, dice, a veto; in the
game master's seat how you ask, tell and roll, and what you may look at. /quit and
the end of the input (Ctrl-D) leave the session open. First names will do.`,
		Example: `  conclave table play ashfall
  conclave table play ashfall --as bram
  conclave table play ashfall --as gm
  conclave table play ashfall --as bram --as corin
  conclave table play ashfall --auto --max-turns 10
  conclave table play ashfall --answers lines.txt`,
		Args: oneArg("campaign"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Table = args[0]
			open, err := env.app().PlayTable(cmd.Context(), f)
			if open {
				env.Stderr.Printf("\nThe session is open. Go on with: conclave table play %s\n", args[0])
			}
			return err
		},
	}
	addWaitFlag(cmd, &f.Seating)
	cmd.Flags().StringArrayVar(&f.As, "as", nil, "the seat you sit in: a character, gm, or table; several for people who share a terminal")
	cmd.Flags().StringVar(&f.Answers, "answers", "", "a file with what you say: one a line, or blocks between lines of ---")
	cmd.Flags().BoolVar(&f.Auto, "auto", false, "nobody is asked: agents play every seat")
	cmd.Flags().IntVar(&f.MaxTurns, "max-turns", 0, fmt.Sprintf("stop after so many cycles (with --auto after %d; -1 for no limit)", app.AutoTurns))
	cmd.Flags().BoolVar(&f.End, "end", false, "end the session after the last turn")
	return cmd
}

func newTableResume(env *environment) *cobra.Command {
	var f app.Seating
	cmd := tableVerb(env, &cobra.Command{
		Use: "resume NAME", Short: "Continue what was cut, and nothing more", Args: oneArg("campaign"),
		Example: "  conclave table resume ashfall\n  conclave table resume ashfall --as gm",
	}, &f, func(ctx context.Context, _ []string) (screen.Text, error) {
		return screen.Text{}, env.app().ResumeTable(ctx, f)
	})
	cmd.Flags().StringArrayVar(&f.As, "as", nil, "the seat you sit in; several for people who share a terminal")
	cmd.Flags().StringVar(&f.Answers, "answers", "", "a file with answers")
	cmd.Flags().BoolVar(&f.Auto, "auto", false, "nobody is asked")
	return cmd
}

func newTableSay(env *environment) *cobra.Command {
	var f app.Seating
	var as string
	cmd := tableVerb(env, &cobra.Command{
		Use:   "say NAME TEXT",
		Short: "Say something, in one command",
		Long: `Say runs one cycle with your words and prints what your seat sees of it. While a
cycle is open and waits for your seat, it leaves your answer there instead: you
can say it again, differently, until the cycle is resumed.`,
		Example: `  conclave table say ashfall "I open the hatch."
  conclave table say ashfall --as bram-oatley "I open the hatch."`,
		Args: argsNamed("a campaign", "what you say"),
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		if as != "" {
			f.As = []string{as}
		}
		kept, err := env.app().SayAtTable(ctx, f, args[1])
		if kept == "" {
			return screen.Text{}, err
		}
		return screen.Sprintf("kept for %s. Send it: conclave table resume %s --as %s", kept, args[0], as), err
	})
	cmd.Flags().StringVar(&as, "as", "", "the seat you speak from")
	return cmd
}

func newTableEnd(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use: "end NAME", Short: "End the session", Args: oneArg("campaign"),
		Long: `End ends the session that is under way, as /end does at the table: the journals
get what was told since their last entries, the seed of the dice is shown, and a
save point is kept. The next play begins a new one.`,
		Example: "  conclave table end ashfall",
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		ended, err := env.app().EndSession(ctx, f)
		if !ended {
			return screen.Sprintf("no session was under way in %s", args[0]), err
		}
		return screen.Sprintf("the session of %s is over", args[0]), err
	})
}

func newTableSignal(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use:   "signal NAME CHARACTER…",
		Short: "As the game master: ask these characters",
		Long: `Signal is for a person who is the game master: write campaigns/NAME/tmp/
{character}-prompt.md for each character, and gm-context.md for yourself, then
signal. The same checks hold as for any game master. When the answers are in,
narrate with: conclave table say NAME --as gm TEXT, and resume.`,
		Example: "  conclave table signal ashfall bram corin",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError("%s takes a campaign and at least one character", cmd.CommandPath())
			}
			return nil
		},
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		return screen.Text{}, env.app().SignalTable(ctx, f, args[1:])
	})
}

func newTableSeats(env *environment) *cobra.Command {
	var change app.SeatChange
	var f app.Seating
	cmd := &cobra.Command{
		Use:   "seats NAME",
		Short: "Who plays whom; step away and come back; dead or alive",
		Example: `  conclave table seats ashfall
  conclave table seats ashfall --away bram
  conclave table seats ashfall --status corin=dead`,
		Args: oneArg("campaign"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Table = args[0]
			seats, err := env.app().Seats(cmd.Context(), f, change)
			for _, s := range seats {
				env.Stdout.Printf("%s: %s", s.Name, s.Agent)
				if s.Status != "" {
					env.Stdout.Printf(" (%s)", s.Status)
				}
				env.Stdout.Printf("\n")
			}
			return err
		},
	}
	addWaitFlag(cmd, &f)
	cmd.Flags().StringVar(&change.Away, "away", "", "a character whose person steps away")
	cmd.Flags().StringVar(&change.Back, "back", "", "a character whose person comes back")
	cmd.Flags().StringArrayVar(&change.Status, "status", nil, "CHARACTER=present|dead|retired|benched|absent")
	return cmd
}

func newTableRename(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use: "rename NAME FROM TO", Short: "Give a character another file name", Args: argsNamed("a campaign", "the old name", "the new name"),
		Example: "  conclave table rename ashfall bram-oatley bram-the-elder",
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		return screen.Sprintf("%s is %s now", args[1], args[2]), env.app().RenameCharacter(ctx, f, args[1], args[2])
	})
}
