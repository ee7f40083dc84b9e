package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newTableDice(env *environment) *cobra.Command {
	cmd := &cobra.Command{Use: "dice", Short: "The log of a table's dice"}
	var asJSON bool
	verify := &cobra.Command{
		Use: "verify NAME", Short: "Recompute every roll", Args: oneArg("campaign"),
		Long: `Verify recomputes the chain, the commitments and every roll whose seed is shown.
It proves that nothing was changed and nothing chosen later: fair against everyone
but the host of the engine, who can read the seed of an epoch that is open. Where
lines were lost and the log was sealed it says so, and exits with 1, for ever.`,
		Example: "  conclave table dice verify ashfall",
		RunE: func(_ *cobra.Command, args []string) error {
			report, err := env.app().VerifyDice(args[0])
			if asJSON && (err == nil || report.Lines > 0 || !report.OK()) {
				return cmp.Or(env.Stdout.JSON(report), err)
			}
			for _, e := range report.Epochs {
				env.Stdout.Printf("epoch %d: %s, %s, commitment %s\n",
					e.Epoch, screen.Counted(e.Rolls, "roll", "rolls"), e.State, e.Commit)
			}
			if report.Overrides > 0 {
				env.Stdout.Printf("%s by the game master's word\n", screen.Counted(report.Overrides, "override", "overrides"))
			}
			for _, b := range report.Breaks {
				env.Stdout.Printf("%s\n", b.String())
			}
			return err
		},
	}
	env.addJSON(verify, &asJSON, "print as JSON", (*app.App).VerifyDice)
	cmd.AddCommand(verify, newTableDiceSeal(env), newTableDiceSeed(env), newTableDiceRotate(env),
		newTableDiceOverride(env))
	return cmd
}

func newTableDiceSeal(env *environment) *cobra.Command {
	var f app.Seating
	var why string
	cmd := tableVerb(env, &cobra.Command{
		Use: "seal NAME", Short: "Let a table go on whose dice log was damaged", Args: oneArg("campaign"),
		Long: `Seal is the way on when the dice log was changed, cut or removed, or its seed is
lost. The file as it is is kept, and so is every line that holds; behind them a
line says for ever what was found, and numbers go on after the last that anybody
may have seen. Nothing that was lost becomes true by it: conclave table dice verify
tells the break each time, and exits with 1.`,
		Example: `  conclave table dice seal ashfall
  conclave table dice seal ashfall --why "the cloud folder put an old copy back"`,
	}, &f, func(ctx context.Context, _ []string) (screen.Text, error) {
		s, err := env.app().SealDice(ctx, f, why)
		if err != nil || s.Seed {
			return screen.Sprintf("the seed was lost: its rolls can never be checked; the next roll is #%d", s.N+1), err
		}
		kept := screen.Sprintf("there was no file to keep")
		if s.Kept != "" {
			kept = screen.Sprintf("the file as it was is kept: %s", s.Kept)
		}
		upTo := screen.Sprintf("and no roll is in them")
		if s.Good > 0 {
			upTo = screen.Sprintf("up to roll %d", s.Good)
		}
		return screen.Sprintf("sealed: %s\n%s, %s; the next roll is #%d\n%s",
			s.Why, screen.Counted(s.Lines, "line holds", "lines hold"), upTo, s.N+1, kept), nil
	})
	cmd.Flags().StringVar(&why, "why", "", "what you know of it, for the log")
	return cmd
}

func newTableDiceSeed(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use: "seed NAME WORDS", Short: "Mix the table's own words into the dice",
		Args: argsNamed("a campaign", "the table's words"),
		Long: `Seed takes words of the people at the table into the dice, once before the first
roll of an epoch: then the engine cannot have looked for a lucky seed, for it was
bound to its own before it knew the words. A session begins an epoch, and so does
conclave table dice rotate.`,
		Example: `  conclave table dice seed ashfall "seven herons on the weir"`,
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		commitment, err := env.app().SeedDice(ctx, f, args[1])
		return screen.Sprintf("the table's words are in the dice; the engine was bound before: commitment %s",
			commitment), err
	})
}

func newTableDiceRotate(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use: "rotate NAME", Short: "Show the seed of the dice so far, and begin with a new one", Args: oneArg("campaign"),
		Long: `Rotate writes the seed of the rolls so far into the log, so that anybody can
recompute them, and binds the engine to a new one. Numbers go on.`,
		Example: "  conclave table dice rotate ashfall",
	}, &f, func(ctx context.Context, _ []string) (screen.Text, error) {
		commitment, err := env.app().RotateDice(ctx, f)
		return screen.Sprintf("the seed so far is in the log; new commitment %s", commitment), err
	})
}

func newTableDiceOverride(env *environment) *cobra.Command {
	var f app.Seating
	var why string
	var forbid, allow bool
	cmd := tableVerb(env, &cobra.Command{
		Use: "override NAME [ROLL TOTAL]", Short: "Let another total stand for a roll, for all to see",
		Args: func(_ *cobra.Command, args []string) error {
			if forbid != allow && len(args) == 1 || !forbid && !allow && len(args) == 3 {
				return nil
			}
			return app.ErrorOf(app.Usage, "give a campaign, a roll and a total; or a campaign with --forbid or --allow")
		},
		Long: `Override is the game master's word against the dice. The roll stays in the log as
it fell, and the override stands behind it as an event of its own, which conclave
table dice verify counts. With --forbid the table plays without: that is in the log,
too, until --allow.`,
		Example: `  conclave table dice override ashfall 7 15 --why "the lamp was in her hand"
  conclave table dice override ashfall --forbid`,
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		switch {
		case forbid:
			return screen.Sprintf("from here on the dice stand"), env.app().ForbidOverrides(ctx, f, true)
		case allow:
			return screen.Sprintf("from here on the game master may override"), env.app().ForbidOverrides(ctx, f, false)
		}
		told, err := env.app().OverrideRoll(ctx, f, args[1], args[2], why)
		return screen.Sprintf("%s\n%s stands instead, by the game master's word; both are in the log", told, args[2]), err
	})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the log")
	cmd.Flags().BoolVar(&forbid, "forbid", false, "play without overrides")
	cmd.Flags().BoolVar(&allow, "allow", false, "play with overrides again")
	return cmd
}
