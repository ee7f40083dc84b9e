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
	"conclave/table/story"
)

func (t *Table) diceFile() string { return t.diceOptions().Path }

func (t *Table) diceOptions() dice.Options {
	o := diceOptions(t.opts.Workspace, t.opts.Campaign, t.state)
	o.TestSeed = t.opts.TestSeed
	return o
}

// diceOptions: the log lies in the campaign, what proves it does not. Where it
// stood is known twice, from after every line and from every event of the story.
func diceOptions(workspace, campaign string, s story.State) dice.Options {
	private := table.PrivatePath(workspace, campaign)
	o := dice.Options{Path: filepath.Join(workspace, "campaigns", campaign, table.DiceLogFile),
		SeedPath: filepath.Join(private, "dice-seed"), Head: filepath.Join(private, "dice-head")}
	if s.Dice != nil {
		o.Marks = []dice.Mark{*s.Dice}
	}
	return o
}

// VerifyDice recomputes every roll of a campaign, and says what of its log is
// missing. The error is a *dice.DamageError, or that no dice have fallen.
func VerifyDice(workspace, campaign string) (dice.Report, error) {
	s, err := story.Load(workspace, campaign)
	if err != nil {
		return dice.Report{}, err
	}
	o := diceOptions(workspace, campaign, s)
	report, verr := dice.VerifyFile(o.Path)
	if err := dice.Check(o); err != nil {
		return report, err
	}
	if report.Bad != nil {
		return report, report.Bad
	}
	return report, verr
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
	return fmt.Errorf("the dice of %s: %w", t.opts.Campaign, DiceWay(t.opts.Campaign, err))
}

// DiceWay names the way on from a log that does not hold.
func DiceWay(campaign string, err error) error {
	if !errors.As(err, new(*dice.DamageError)) {
		return err
	}
	return fmt.Errorf("%w; nothing was changed: `conclave table dice seal %s` keeps what is there and lets the table "+
		"go on, and the break stays in the log for ever", err, campaign)
}

// WithDice does something with the table's dice log.
func (t *Table) WithDice(do func(*dice.Log) error) error {
	log, err := t.diceLog()
	if err != nil {
		return err
	}
	if err := do(log); err != nil {
		return t.diceError(err)
	}
	return nil
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
