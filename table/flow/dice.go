package flow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"conclave/dice"
	"conclave/engine"
	"conclave/table"
)

func (t *Table) diceFile() string {
	return filepath.Join(t.opts.Workspace, filepath.FromSlash(t.file(table.DiceLogFile)))
}

// diceOptions: the log lies in the campaign, what proves it does not. Where it
// stood is known twice, from after every line and from every event of the story.
func (t *Table) diceOptions() dice.Options {
	private := table.PrivatePath(t.opts.Workspace, t.opts.Campaign)
	o := dice.Options{Path: t.diceFile(), SeedPath: filepath.Join(private, "dice-seed"),
		Head: filepath.Join(private, "dice-head"), TestSeed: t.opts.TestSeed}
	if t.state.Dice != nil {
		o.Marks = []dice.Mark{*t.state.Dice}
	}
	return o
}

// diceLog opens the dice when they are first needed: opening begins an epoch.
func (t *Table) diceLog() (*dice.Log, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dice != nil {
		return t.dice, nil
	}
	if err := os.MkdirAll(table.PrivatePath(t.opts.Workspace, t.opts.Campaign), 0o700); err != nil {
		return nil, err
	}
	log, err := dice.OpenLog(t.diceOptions())
	if err != nil {
		return nil, t.diceError(err)
	}
	t.dice = log
	return log, nil
}

// diceError names the way on from a log that does not hold.
func (t *Table) diceError(err error) error {
	err = fmt.Errorf("the dice of %s: %w", t.opts.Campaign, err)
	if !errors.As(err, new(*dice.DamageError)) {
		return err
	}
	return fmt.Errorf("%w\nnothing was changed; `conclave table dice seal %s` keeps what is there and lets the table go on: "+
		"the break stays in the log for ever", err, t.opts.Campaign)
}

// diceMark is where the dice stand, as far as this process knows.
func (t *Table) diceMark() *dice.Mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dice == nil {
		return nil
	}
	m := t.dice.Mark()
	return &m
}

// SealDice gives a dice log that does not hold a way on: see dice.Seal.
func (t *Table) SealDice(reason string) (dice.Sealed, error) {
	if err := t.closeDice(); err != nil {
		return dice.Sealed{}, err
	}
	private := table.PrivatePath(t.opts.Workspace, t.opts.Campaign)
	if err := os.MkdirAll(private, 0o700); err != nil {
		return dice.Sealed{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	sealed, err := dice.Seal(t.diceOptions(), private, reason)
	if errors.Is(err, dice.ErrWhole) {
		return sealed, dice.ErrWhole
	}
	return sealed, err
}

func (t *Table) closeDice() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dice == nil {
		return nil
	}
	log := t.dice
	t.dice = nil
	return log.Close()
}

// endDice shows the seed of the epoch that is open, if one is.
func (t *Table) endDice(_ context.Context, reason string) error {
	report, err := dice.VerifyFile(t.diceFile())
	if errors.Is(err, os.ErrNotExist) && t.snapshot().Dice == nil {
		return nil // no dice have been opened
	}
	if n := len(report.Epochs); err == nil && report.OK() && (n == 0 || report.Epochs[n-1].State != "open") {
		return nil
	}
	log, err := t.diceLog()
	if err != nil {
		return engine.Halt(err)
	}
	if err := log.End(reason); err != nil {
		return engine.Halt(t.diceError(err))
	}
	return t.closeDice()
}
