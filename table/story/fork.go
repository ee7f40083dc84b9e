package story

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/table"
)

// Fork makes a campaign of another name from this one: as it is, or, with a
// save, as it was then. The log comes along up to there. dice puts a dice log
// into the new campaign. A fork that was killed is made again.
type Fork struct {
	Root, Campaign, To string
	Save               string                  // a name; empty for as it is
	Dice               func(file string) error // makes the dice log
	Crash              func(string)            // for tests
}

func (f Fork) unfinished() string {
	return filepath.Join(table.PrivatePath(f.Root, f.To), "unfinished-fork")
}

// Check says why the name cannot be taken, and clears away what a fork that was
// killed has left there.
func (f Fork) Check() error {
	if err := table.CheckSlug(f.To); err != nil {
		return fmt.Errorf("campaign %w", err)
	}
	to, private := campaignDir(f.Root, f.To), table.PrivatePath(f.Root, f.To)
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists: fork to another name", to)
	}
	if _, err := os.Lstat(f.unfinished()); err == nil {
		if err := os.RemoveAll(private); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(private); err == nil {
		return fmt.Errorf("%s exists: fork to another name", private)
	}
	return nil
}

// temp is where the campaign is made.
func (f Fork) temp() string { return filepath.Join(f.Root, ".conclave", "tables", ".fork-"+f.To) }

// Made says whether the campaign is there, made by one who was killed right after,
// and tidies up behind them. It is for who has checked the name before that.
func (f Fork) Made() (bool, error) {
	if _, err := os.Lstat(campaignDir(f.Root, f.To)); err != nil {
		return false, nil
	}
	if err := os.Remove(f.unfinished()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, os.RemoveAll(f.temp())
}

// Make makes the campaign aside and names it when it is whole.
func (f Fork) Make() error {
	from, last := campaignDir(f.Root, f.Campaign), 1<<62
	if f.Save != "" {
		s, err := ReadSave(f.Root, f.Campaign, f.Save)
		if err != nil {
			return err
		}
		from, last = filepath.Join(savesDir(f.Root, f.Campaign), f.Save, "campaign"), s.Seq
	}
	temp := f.temp()
	campaign, private := filepath.Join(temp, "campaign"), filepath.Join(temp, "private")
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := copyCampaign(from, campaign, 0o755); err != nil {
		return err
	}
	if err := f.copyLog(filepath.Join(private, "log"), last); err != nil {
		return err
	}
	if err := f.Dice(filepath.Join(campaign, table.DiceLogFile)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(private, filepath.Base(f.unfinished())), nil, 0o600); err != nil {
		return err
	}
	if err := moveIn(private, table.PrivatePath(f.Root, f.To), f.Crash); err != nil {
		return err
	}
	if err := moveIn(campaign, campaignDir(f.Root, f.To), f.Crash); err != nil {
		return err
	}
	return errors.Join(os.Remove(f.unfinished()), os.RemoveAll(temp))
}

func (f Fork) copyLog(to string, last int) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	return walk(f.Root, f.Campaign, func(e Event, _ bool) error {
		if e.Seq > last {
			return nil
		}
		_, data := e.File()
		return os.WriteFile(filepath.Join(to, logName(e)), data, 0o600)
	})
}
