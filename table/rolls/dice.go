package rolls

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"conclave/dice"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/story"
)

// File is the dice log of a campaign.
func File(workspace, campaign string) string {
	return filepath.Join(workspace, "campaigns", campaign, table.DiceLogFile)
}

// diceOptions: the log lies in the campaign, what proves it does not. Where it
// stood is known twice, from after every line and from every event of the story.
func diceOptions(workspace, campaign string, known *dice.Mark, test *dice.Seed) dice.Options {
	private := table.PrivatePath(workspace, campaign)
	o := dice.Options{Path: File(workspace, campaign), TestSeed: test,
		SeedPath: filepath.Join(private, "dice-seed"), Head: filepath.Join(private, "dice-head")}
	if known != nil {
		o.Marks = []dice.Mark{*known}
	}
	return o
}

// Verify recomputes every roll of a campaign, and says what of its log is
// missing. The error is a *dice.DamageError, or that no dice have fallen.
func Verify(workspace, campaign string) (dice.Report, error) {
	s, err := story.Load(workspace, campaign)
	if err != nil {
		return dice.Report{}, err
	}
	o := diceOptions(workspace, campaign, s.Dice, nil)
	report, verr := dice.VerifyFile(o.Path)
	if err := dice.Check(o); err != nil {
		return report, err
	}
	if report.Bad != nil {
		return report, report.Bad
	}
	return report, verr
}

// Way names the way on from a log that does not hold.
func Way(campaign string, err error) error {
	if !errors.As(err, new(*dice.DamageError)) {
		return err
	}
	return fmt.Errorf("%w; nothing was changed: `conclave table dice seal %s` keeps what is there and lets the table "+
		"go on, and the break stays in the log for ever", err, campaign)
}

// Dice are those of an open table, whose only writer it is.
type Dice struct {
	Workspace, Campaign string
	// Stood is where the story says that they stood; nil if it says nothing.
	Stood    func() *dice.Mark
	TestSeed *dice.Seed // for tests

	mu  sync.Mutex
	log *dice.Log
}

func (d *Dice) options() dice.Options {
	return diceOptions(d.Workspace, d.Campaign, d.Stood(), d.TestSeed)
}

// Log opens the dice when they are first needed: opening begins an epoch.
func (d *Dice) Log() (*dice.Log, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.log != nil {
		return d.log, nil
	}
	if err := os.MkdirAll(table.PrivatePath(d.Workspace, d.Campaign), 0o700); err != nil {
		return nil, err
	}
	log, err := dice.OpenLog(d.options())
	if err != nil {
		return nil, d.fault(err)
	}
	d.log = log
	return log, nil
}

// fault names the way on from a log that does not hold.
func (d *Dice) fault(err error) error {
	return fmt.Errorf("the dice of %s: %w", d.Campaign, Way(d.Campaign, err))
}

// With does something with the dice log.
func (d *Dice) With(do func(*dice.Log) error) error {
	log, err := d.Log()
	if err != nil {
		return err
	}
	if err := do(log); err != nil {
		return d.fault(err)
	}
	return nil
}

// Roll lets dice fall, once for an id. What cannot fall is a line that says so; so
// is what has fallen before, and is in the log no more.
func (d *Dice) Roll(req gm.Roll, id, cycle string, fallen bool) (dice.Line, error) {
	log, err := d.Log()
	if err != nil {
		return dice.Line{}, err
	}
	line, err := log.Roll(dice.Request{ID: id, Fallen: fallen, Cycle: cycle, Who: req.Who, Purpose: req.Purpose,
		Visibility: req.Visibility, Expr: req.Expr, DC: req.DC, HideDC: req.HideDC,
		Advantage: req.Adv, Disadvantage: req.Dis})
	var void *dice.VoidError
	if errors.As(err, &void) {
		return dice.Line{Event: dice.EventVoid, N: void.N, ID: id, Who: req.Who, Purpose: req.Purpose, Input: req.Expr,
			Note: void.Err.Error()}, nil
	}
	if err != nil {
		err = d.fault(err)
	}
	return line, err
}

// Reveal opens a sealed or private roll to everyone.
func (d *Dice) Reveal(n uint64) (dice.Line, error) {
	log, err := d.Log()
	if err != nil {
		return dice.Line{}, err
	}
	if _, err := log.Reveal(n); err != nil {
		return dice.Line{}, err
	}
	return log.Find(n)
}

// Mark is where the dice stand, as far as this process knows.
func (d *Dice) Mark() *dice.Mark {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.log == nil {
		return nil
	}
	m := d.log.Mark()
	return &m
}

// Seal gives a dice log that does not hold a way on: see dice.Seal.
func (d *Dice) Seal(reason string) (dice.Sealed, error) {
	if err := d.Close(); err != nil {
		return dice.Sealed{}, err
	}
	private := table.PrivatePath(d.Workspace, d.Campaign)
	if err := os.MkdirAll(private, 0o700); err != nil {
		return dice.Sealed{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	sealed, err := dice.Seal(d.options(), private, reason)
	if errors.Is(err, dice.ErrWhole) {
		return sealed, dice.ErrWhole
	}
	return sealed, err
}

// Close closes the log, if it is open; what needs dice opens it again.
func (d *Dice) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.log == nil {
		return nil
	}
	log := d.log
	d.log = nil
	return log.Close()
}

// End shows the seed of the epoch that is open, if one is, and closes the log.
func (d *Dice) End(reason string) error {
	report, err := dice.VerifyFile(File(d.Workspace, d.Campaign))
	if errors.Is(err, os.ErrNotExist) && d.Stood() == nil {
		return nil // no dice have been opened
	}
	if n := len(report.Epochs); err == nil && report.OK() && (n == 0 || report.Epochs[n-1].State != "open") {
		return nil
	}
	log, err := d.Log()
	if err != nil {
		return err
	}
	if err := log.End(reason); err != nil {
		return d.fault(err)
	}
	return d.Close()
}
