package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/dice"
	"conclave/engine"
	"conclave/internal/screen"
	"conclave/policy"
	"conclave/table"
	tableflow "conclave/table/flow"
	"conclave/table/story"
)

func newTablePlay(env *environment) *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "play NAME",
		Short: "Play",
		Long: `Play goes on where the campaign stands. With --as you sit in a seat: a
character's, or gm; what is printed is what that seat sees and nothing else.
Without, you see what the whole party sees, and what you say is said to the game
master. A question for another person's seat is not printed here: it waits until
they play or resume from their own.

Several people at one terminal name a seat each (--as bram-oatley --as corin-vale).
Each is asked by name when the keyboard was handed over, and what one of them read
alone is cleared before the next looks. Speak with your name: "bram: I go in".

Lines that begin with a slash are for the engine: /end ends the session, /quit
leaves it open, /away and /back let an agent play your character meanwhile,
/save NAME keeps a save point, /roll EXPR lets dice fall. In the game master's
seat they are how you ask, tell and roll: /help lists them. The end of the input
(Ctrl-D) leaves the session open.`,
		Example: `  conclave table play ashfall
  conclave table play ashfall --as bram-oatley
  conclave table play ashfall --as gm
  conclave table play ashfall --as bram-oatley --as corin-vale
  conclave table play ashfall --auto --max-turns 10
  conclave table play ashfall --answers lines.txt`,
		Args: oneArg("campaign"),
		RunE: func(cmd *cobra.Command, args []string) error { return env.playTable(cmd, args[0], f) },
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&f.as, "as", nil, "the seat you sit in: a character, gm, or table; several for people who share a terminal")
	cmd.Flags().StringVar(&f.answers, "answers", "", "a file with what you say: one a line, or blocks between lines of ---")
	cmd.Flags().BoolVar(&f.auto, "auto", false, "nobody is asked: agents play every seat")
	cmd.Flags().IntVar(&f.maxTurns, "max-turns", 0, fmt.Sprintf("stop after so many cycles (with --auto after %d; -1 for no limit)", autoTurns))
	cmd.Flags().BoolVar(&f.endAfter, "end", false, "end the session after the last turn")
	return cmd
}

// autoTurns is where a table stops that nobody watches, if nobody said where.
const autoTurns = 100

func (env *environment) playTable(cmd *cobra.Command, name string, f tableFlags) (err error) {
	ctx := cmd.Context()
	if err := env.checkSeats(name, f.as); err != nil {
		return err
	}
	if !f.auto {
		if f.asker, err = env.tableAsker(f.answers); err != nil {
			return err
		}
		if f.asker == nil {
			return environmentError("nobody is here to play: use a terminal, --answers, or --auto")
		}
	}
	f.screen = env.newTableScreen(f.as, f.asker)
	t, _, err := env.openTable(ctx, cmd, name, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tableError(name, t.Close())) }()
	if f.auto && f.maxTurns == 0 {
		f.maxTurns = autoTurns
	}
	p := tableflow.Play{Seat: table.SeatTable, MaxTurns: f.maxTurns, EndAt: f.endAfter, Keep: true}
	if f.screen.shared() {
		p.Speaker = f.screen.speaker
	} else if len(f.as) == 1 {
		p.Seat = f.as[0]
	}
	if !f.auto {
		if !f.screen.gmIsHere() { // a game master is asked as the game master
			p.Listen = f.screen.listen
		}
		p.Command = func(ctx context.Context, who, line string) (bool, error) {
			stop, err := env.tableLine(ctx, t, who, line)
			if cut := (*engine.CutError)(nil); err == nil || ctx.Err() != nil || errors.As(err, &cut) {
				return stop, err
			}
			env.Stdout.Printf("\n%v\n", err) // no reason to leave the table
			return false, nil
		}
	}
	if err := t.Play(ctx, p); ctx.Err() != nil {
		return environmentError("interrupted. Go on with: conclave table play %s", name)
	} else if err != nil {
		return tableError(name, err)
	}
	if f.auto && t.InSession() {
		env.Stderr.Printf("\nThe session is open. Go on with: conclave table play %s\n", name)
	}
	return nil
}

// checkSeats refuses a table that is not here, and seats that are not at it.
func (env *environment) checkSeats(name string, seats []string) error {
	for i, seat := range seats {
		if err := env.checkSeat(name, seat); err != nil {
			return err
		}
		if slices.Contains(seats[:i], seat) {
			return usageError("--as %s was given twice", seat)
		}
		if len(seats) > 1 && seat == table.SeatTable {
			return usageError("who sits at no seat shares no screen with one: leave out --as %s", seat)
		}
	}
	return env.checkSeat(name, "")
}

// checkSeat refuses a table that is not here, and a seat that is not at it.
func (env *environment) checkSeat(name, seat string) error {
	root, err := env.findRoot()
	if err != nil {
		return err
	}
	c, err := table.OpenCampaign(root, name)
	if err != nil {
		return environmentError("%w", err)
	}
	defer c.Close()
	if seat == "" || seat == string(policy.GM) || seat == table.SeatTable {
		return nil
	}
	roster, err := table.LoadRoster(c.Party, nil, table.Caps{})
	if err != nil {
		return environmentError("%w", err)
	}
	if _, ok := roster.Get(seat); !ok {
		return usageError("no seat is called %q at this table: gm, table, %s", seat, strings.Join(roster.Slugs(), ", "))
	}
	return nil
}

// tableLine does what a slash line says.
func (env *environment) tableLine(ctx context.Context, t *tableflow.Table, seat, line string) (stop bool, err error) {
	word, rest, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "end":
		return true, t.End(ctx)
	case "quit":
		return true, nil
	case "away":
		return false, t.StepAway(ctx, seat, false)
	case "back":
		digest, err := t.Digest(seat)
		if err != nil {
			return false, err
		}
		if digest != "" {
			env.Stdout.Printf("\n  %s\n", screen.Indent("  ", digest))
		}
		return false, t.StepAway(ctx, seat, true)
	case "save":
		save, err := t.Save(ctx, rest)
		if err == nil {
			env.Stdout.Printf("\nsaved as %s\n", save.Name)
		}
		return false, err
	case "roll":
		who := seat
		if who == table.SeatTable {
			who = "a person"
		}
		l, err := t.Roll(dice.Request{Who: who, Expr: rest, Purpose: "asked for at the table"})
		if err != nil {
			return false, err
		}
		env.Stdout.Printf("\n%s\n", l.Told(dice.Viewer{Name: seat}))
		return false, nil
	}
	env.Stdout.Printf("\n/%s is nothing here: /end, /quit, /away, /back, /save NAME, /roll EXPR\n", word)
	return false, nil
}

func newTableResume(env *environment) *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use: "resume NAME", Short: "Continue what was cut, and nothing more", Args: oneArg("campaign"),
		Example: "  conclave table resume ashfall\n  conclave table resume ashfall --as gm",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := env.checkSeats(args[0], f.as); err != nil {
				return err
			}
			t, _, err := env.openTable(cmd.Context(), cmd, args[0], f)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tableError(args[0], t.Close())) }()
			results, err := t.Recover(cmd.Context())
			if err != nil {
				return tableError(args[0], err)
			}
			if len(results) == 0 {
				env.Stdout.Printf("no cycle was open\n")
			}
			return tableError(args[0], t.Drain(cmd.Context()))
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&f.as, "as", nil, "the seat you sit in; several for people who share a terminal")
	cmd.Flags().StringVar(&f.answers, "answers", "", "a file with answers")
	cmd.Flags().BoolVar(&f.auto, "auto", false, "nobody is asked")
	return cmd
}

func newTableSay(env *environment) *cobra.Command {
	var f tableFlags
	var as string
	cmd := &cobra.Command{
		Use:   "say NAME TEXT",
		Short: "Say something, in one command",
		Long: `Say runs one cycle with your words and prints what your seat sees of it. While a
cycle is open and waits for your seat, it leaves your answer there instead: you
can say it again, differently, until the cycle is resumed.`,
		Example: `  conclave table say ashfall "I open the hatch."
  conclave table say ashfall --as bram-oatley "I open the hatch."`,
		Args: argsNamed("a campaign", "what you say"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := env.checkSeat(args[0], as); err != nil {
				return err
			}
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			st, err := tableflow.Look(cmd.Context(), root, args[0])
			if err != nil {
				return environmentError("%w", err)
			}
			seat := as
			if seat == "" {
				seat = table.SeatTable
			} else {
				f.as = []string{as}
			}
			if len(st.Open) > 0 {
				if as == "" {
					return noError("a cycle is open: answer from a seat with --as, then conclave table resume %s", args[0])
				}
				if err := tableflow.LeaveDraft(root, args[0], seat, args[1]); err != nil {
					return environmentError("%w", err)
				}
				env.Stdout.Printf("kept for %s. Send it: conclave table resume %s --as %[1]s\n", seat, args[0])
				return nil
			}
			return env.sayTable(cmd, args[0], story.Input{Kind: story.InputSaid, Who: seat, Text: args[1]}, f)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&as, "as", "", "the seat you speak from")
	return cmd
}

// sayTable runs one cycle.
func (env *environment) sayTable(cmd *cobra.Command, name string, in story.Input, f tableFlags) (err error) {
	if in.Who == string(policy.GM) && in.Kind == story.InputSaid {
		// The game master's words are the game master's turn.
		root, err := env.findRoot()
		if err != nil {
			return err
		}
		if err := tableflow.LeaveDraft(root, name, in.Who, in.Text); err != nil {
			return environmentError("%w", err)
		}
		in = story.Input{Kind: story.InputContinue}
	}
	t, _, err := env.openTable(cmd.Context(), cmd, name, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tableError(name, t.Close())) }()
	if _, err = t.Say(cmd.Context(), in); err != nil {
		return tableError(name, err)
	}
	return tableError(name, t.Drain(cmd.Context()))
}

func newTableSignal(env *environment) *cobra.Command {
	f := tableFlags{as: []string{string(policy.GM)}}
	cmd := &cobra.Command{
		Use:   "signal NAME CHARACTER…",
		Short: "As the game master: ask these characters",
		Long: `Signal is for a person who is the game master: write campaigns/NAME/tmp/
{character}-prompt.md for each character, and gm-context.md for yourself, then
signal. The same checks hold as for any game master. When the answers are in,
narrate with: conclave table say NAME --as gm TEXT, and resume.`,
		Example: "  conclave table signal ashfall bram-oatley corin-vale",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError("%s takes a campaign and at least one character", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, c := range args[1:] {
				if err := env.checkSeat(args[0], c); err != nil {
					return err
				}
				if slices.Contains([]string{string(policy.GM), table.SeatTable}, c) {
					return usageError("%s is no character", c)
				}
			}
			return env.sayTable(cmd, args[0], story.Input{Kind: story.InputSignal, Who: string(policy.GM), Names: args[1:]}, f)
		},
	}
	f.add(cmd)
	return cmd
}

func newTableSeats(env *environment) *cobra.Command {
	var away, back string
	var status []string
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "seats NAME",
		Short: "Who plays whom; step away and come back; dead or alive",
		Example: `  conclave table seats ashfall
  conclave table seats ashfall --away bram-oatley
  conclave table seats ashfall --status corin-vale=dead`,
		Args: oneArg("campaign"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if away != "" || back != "" || len(status) > 0 {
				if err := env.changeSeats(cmd, args[0], away, back, status, f); err != nil {
					return err
				}
			}
			w, err := env.openWorkspace()
			if err != nil {
				return err
			}
			st, err := tableflow.Look(cmd.Context(), w.Root, args[0])
			if err != nil {
				return environmentError("%w", err)
			}
			env.Stdout.Printf("gm: %s\n", w.Config.For("gm").Agent)
			for _, c := range st.Characters {
				key := "player." + c.Slug
				if _, ok := w.Config.Agents[key]; !ok {
					key = "player"
				}
				who := w.Config.For(key).Agent
				if c.Away {
					who += ", away"
				}
				env.Stdout.Printf("%s: %s (%s)\n", c.Slug, who, c.Status)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&away, "away", "", "a character whose person steps away")
	cmd.Flags().StringVar(&back, "back", "", "a character whose person comes back")
	cmd.Flags().StringArrayVar(&status, "status", nil, "CHARACTER=present|dead|retired|benched|absent")
	return cmd
}

func (env *environment) changeSeats(cmd *cobra.Command, name, away, back string, status []string, f tableFlags) (err error) {
	t, _, err := env.openTable(cmd.Context(), cmd, name, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tableError(name, t.Close())) }()
	if away != "" {
		err = errors.Join(err, t.StepAway(cmd.Context(), away, false))
	}
	if back != "" {
		digest, derr := t.Digest(back)
		if digest != "" {
			env.Stdout.Printf("  %s\n\n", screen.Indent("  ", digest))
		}
		err = errors.Join(err, derr, t.StepAway(cmd.Context(), back, true))
	}
	for _, s := range status {
		who, what, _ := strings.Cut(s, "=")
		err = errors.Join(err, t.SetStatus(cmd.Context(), who, table.Status(what)))
	}
	if err != nil {
		return usageError("%w", err)
	}
	return nil
}

func newTableRename(env *environment) *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use: "rename NAME FROM TO", Short: "Give a character another file name", Args: argsNamed("a campaign", "the old name", "the new name"),
		Example: "  conclave table rename ashfall bram-oatley bram-the-elder",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t, _, err := env.openTable(cmd.Context(), cmd, args[0], f)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tableError(args[0], t.Close())) }()
			if err := t.Rename(cmd.Context(), args[1], args[2]); err != nil {
				return noError("%w", err)
			}
			env.Stdout.Printf("%s is %s now\n", args[1], args[2])
			return nil
		},
	}
	f.add(cmd)
	return cmd
}
