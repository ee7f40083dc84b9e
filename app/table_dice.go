package app

import (
	"context"
	"strconv"

	"conclave/dice"
	"conclave/policy"
	tableflow "conclave/table/flow"
)

// withDice does something with the dice log of a table, where that is open; what it
// refuses is the answer no.
func (a *App) withDice(ctx context.Context, name string, in Seating, v verb, do func(*dice.Log) error) error {
	return a.atTableAnywhere(ctx, name, in, v, func(t *tableflow.Table) error {
		return tableAnswer(in.Table, t.Dice().With(do), noError)
	})
}

// SeedDice takes the table's own words into the epoch, before its first roll,
// and says to which seed the engine was bound before it knew them.
func (a *App) SeedDice(ctx context.Context, in Seating, words string) (commitment string, err error) {
	if words == "" {
		return "", usageError("the table's own words are missing")
	}
	v := verb{method: "SeedDice", args: []any{in, words}, results: []any{&commitment}}
	err = a.withDice(ctx, "seed", in, v, func(l *dice.Log) error {
		commitment, _ = l.Commitment()
		return l.TableSeed(words)
	})
	return commitment, err
}

// RotateDice shows the seed so far and binds the engine to a new one.
func (a *App) RotateDice(ctx context.Context, in Seating) (commitment string, err error) {
	v := verb{method: "RotateDice", args: []any{in}, results: []any{&commitment}}
	err = a.withDice(ctx, "rotate", in, v, func(l *dice.Log) error {
		if err := l.Rotate("", "rotate"); err != nil {
			return err
		}
		commitment, _ = l.Commitment()
		return nil
	})
	return commitment, err
}

// OverrideRoll lets another total stand for a roll, in the game master's name.
// The roll stays in the log as it fell. It returns the roll.
func (a *App) OverrideRoll(ctx context.Context, in Seating, number, total, reason string) (told string, err error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return "", usageError("%q is no number of a roll", number)
	}
	stands, err := strconv.ParseInt(total, 10, 32)
	if err != nil {
		return "", usageError("%q is no total", total)
	}
	v := verb{method: "OverrideRoll", args: []any{in, number, total, reason}, results: []any{&told}}
	err = a.withDice(ctx, "override", in, v, func(l *dice.Log) error {
		if _, err := l.Override(n, stands, string(policy.GM), reason); err != nil {
			return err
		}
		roll, err := l.Find(n)
		told = roll.Told(dice.Viewer{GM: true})
		return err
	})
	return told, err
}

// ForbidOverrides says whether the dice of a table always stand.
func (a *App) ForbidOverrides(ctx context.Context, in Seating, forbid bool) error {
	v := verb{method: "ForbidOverrides", args: []any{in, forbid}}
	return a.withDice(ctx, "override", in, v, func(l *dice.Log) error { return l.Forbid(forbid) })
}
