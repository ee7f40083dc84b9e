package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/engine"
	"conclave/table"
	door "conclave/workspace"
)

// Save is a save point: the campaign's files, and where in the log it was.
type Save struct {
	Name    string    `json:"name"`
	Time    time.Time `json:"time"`
	Seq     int       `json:"seq"`
	Cycle   int       `json:"cycle"`
	Session int       `json:"session"`
	Scene   string    `json:"scene,omitempty"` // its title
	Own     bool      `json:"own,omitempty"`   // the table's, not a person's
}

func savesDir(workspace, campaign string) string {
	return filepath.Join(table.PrivatePath(workspace, campaign), "saves")
}

// Saves lists the save points, oldest first.
func Saves(workspace, campaign string) ([]Save, error) {
	names, err := saveNames(workspace, campaign)
	if err != nil {
		return nil, err
	}
	var out []Save
	for _, name := range names {
		s, err := readSave(workspace, campaign, name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Save) int { return a.Time.Compare(b.Time) })
	return out, nil
}

// saveNames lists the save points that are whole.
func saveNames(workspace, campaign string) ([]string, error) {
	entries, err := os.ReadDir(savesDir(workspace, campaign))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func readSave(workspace, campaign, name string) (Save, error) {
	var s Save
	if err := table.CheckSlug(name); err != nil {
		return s, fmt.Errorf("save point %w", err)
	}
	data, err := door.ReadOwn(filepath.Join(savesDir(workspace, campaign), name, "save.json"), door.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, noSave(workspace, campaign, name)
	}
	if err != nil {
		return s, fmt.Errorf("read save point %s of %s: %w", name, campaign, err)
	}
	return s, json.Unmarshal(data, &s)
}

// noSave names the save points that there are.
func noSave(workspace, campaign, name string) error {
	known, err := saveNames(workspace, campaign)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return fmt.Errorf("%s has no save point", campaign)
	}
	return fmt.Errorf("%s has no save point %s; there are: %s", campaign, name, strings.Join(known, ", "))
}

// Save keeps the campaign as it is under a name. No cycle may be open; journals
// are waited for, so that the save holds them.
func (t *Table) Save(ctx context.Context, name string) (Save, error) { return t.save(ctx, name, false) }

func (t *Table) save(ctx context.Context, name string, own bool) (Save, error) {
	if err := table.CheckSlug(name); err != nil {
		return Save{}, fmt.Errorf("save point %w", err)
	}
	if err := t.ready(ctx); err != nil {
		return Save{}, err
	}
	if err := t.Drain(ctx); err != nil {
		return Save{}, err
	}
	s := t.snapshot()
	save := Save{Name: name, Time: time.Now().UTC().Round(0), Seq: s.seq, Cycle: s.cycle, Session: s.session, Scene: s.scene.Title, Own: own}
	dir := savesDir(t.opts.Workspace, t.opts.Campaign)
	final := filepath.Join(dir, name)
	if _, err := os.Lstat(final); err == nil {
		return Save{}, fmt.Errorf("there is a save point %s already", name)
	}
	temp := filepath.Join(dir, ".saving")
	if err := errors.Join(os.RemoveAll(temp), os.MkdirAll(temp, 0o700)); err != nil {
		return Save{}, err
	}
	if err := copyCampaign(t.campaignDir(), filepath.Join(temp, "campaign"), 0o700); err != nil {
		return Save{}, err
	}
	data, err := json.Marshal(save)
	if err == nil {
		err = os.WriteFile(filepath.Join(temp, "save.json"), data, 0o600)
	}
	if err == nil {
		err = t.moveIn(temp, final)
	}
	if err != nil {
		return Save{}, err
	}
	return save, t.note(ctx, Event{Kind: EventSave, Name: name})
}

// ownSaves is how many save points of the table's own are kept; a person's are
// never touched, whatever their names.
const ownSaves = 10

// keep makes a save point of the table's own. Numbers of events never go back,
// so that no name comes twice.
func (t *Table) keep(ctx context.Context) error {
	name := fmt.Sprintf("auto-%06d", t.snapshot().seq)
	if _, err := os.Lstat(filepath.Join(savesDir(t.opts.Workspace, t.opts.Campaign), name)); err == nil {
		return nil // whoever was killed here had made it
	}
	if _, err := t.save(ctx, name, true); err != nil {
		return fmt.Errorf("keep a save point: %w", err)
	}
	saves, err := Saves(t.opts.Workspace, t.opts.Campaign)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(saves, func(s Save) bool { return !s.Own })
	for _, s := range own[:max(0, len(own)-ownSaves)] {
		dir := savesDir(t.opts.Workspace, t.opts.Campaign)
		gone := filepath.Join(dir, ".removing")
		// It is whole as long as it has its name.
		if err := errors.Join(os.RemoveAll(gone), os.Rename(filepath.Join(dir, s.Name), gone), os.RemoveAll(gone)); err != nil {
			return err
		}
	}
	return nil
}

// moveIn gives a directory that was made aside its name: what has the name is
// whole, also after a pulled plug.
func (t *Table) moveIn(temp, final string) error {
	if err := settle(temp); err != nil {
		return err
	}
	t.crash("made " + filepath.Base(final))
	if err := os.Rename(temp, final); err != nil {
		return err
	}
	t.crash("named " + filepath.Base(final))
	return settleNames(filepath.Dir(final))
}

// settle makes a directory tree durable.
func settle(dir string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return settleNames(p)
		}
		f, err := os.OpenFile(p, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// settleNames makes the names in a directory durable.
func settleNames(dir string) error {
	d, err := table.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (t *Table) campaignDir() string {
	return filepath.Join(t.opts.Workspace, "campaigns", t.opts.Campaign)
}

// copyCampaign copies regular files with one name, without tmp/, the dice log
// (which is never turned back) and hidden files. The mode is that of the
// directories: a save point is private, a campaign is as others are.
func copyCampaign(from, to string, mode fs.FileMode) error {
	files, err := campaignFiles(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, mode); err != nil {
		return err
	}
	for _, name := range files {
		data, err := door.ReadOwn(filepath.Join(from, filepath.FromSlash(name)), door.MaxFile)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, filepath.FromSlash(name))), mode)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.FromSlash(name)), data, mode&0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// campaignFiles lists the files of a campaign that saves hold.
func campaignFiles(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() && (name == "tmp" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && name != table.DiceLogFile && !strings.HasPrefix(d.Name(), ".") {
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

// restoreInput is a restore as it is recorded.
type restoreInput struct {
	Save  Save  `json:"save"`
	Event Event `json:"event"`
}

// Restore goes back to a save point. What is now is kept first as a save point
// of its own, whose name is returned. The dice do not go back: their seed is
// shown, a new epoch begins, numbers go on.
func (t *Table) Restore(ctx context.Context, name string) (kept string, err error) {
	save, err := readSave(t.opts.Workspace, t.opts.Campaign, name)
	if err != nil {
		return "", err
	}
	kept = "before-" + strings.ToLower(time.Now().UTC().Format("20060102t150405")) + "-" + shortID()
	if _, err := t.Save(ctx, kept); err != nil {
		return "", err
	}
	s := t.snapshot()
	e := Event{V: logVersion, Seq: s.seq + 1, Kind: EventRestore, Cycle: s.cycle, Session: s.session, Name: name, To: save.Seq, Time: time.Now().UTC().Round(0)}
	_, err = t.engine.Start(ctx, flowRestore, fmt.Sprintf("b%08d-%s", e.Seq, shortID()), restoreInput{save, e})
	return kept, err
}

func (t *Table) runRestore(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in restoreInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	changes, err := engine.Do(r, "plan", func(context.Context) ([]engine.Change, error) {
		changes, err := t.planRestore(in.Save.Name)
		return changes, engine.Halt(err)
	})
	if err != nil {
		return nil, err
	}
	if err := t.commit(r, "restore", append(changes, t.logChange(in.Event))); err != nil {
		return nil, err
	}
	_, err = engine.Do(r, "dice", func(context.Context) (struct{}, error) {
		log, err := t.diceLog()
		if err == nil {
			err = log.Rotate("restore " + in.Save.Name)
		}
		return struct{}{}, engine.Halt(err)
	})
	if err != nil {
		return nil, err
	}
	state, err := loadState(t.opts.Workspace, t.opts.Campaign)
	if err != nil {
		return nil, engine.Halt(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = state
	return nil, nil
}

// planRestore compares the campaign with the save.
func (t *Table) planRestore(name string) ([]engine.Change, error) {
	from := filepath.Join(savesDir(t.opts.Workspace, t.opts.Campaign), name, "campaign")
	want, err := campaignFiles(from)
	if err != nil {
		return nil, err
	}
	now, err := campaignFiles(t.campaignDir())
	if err != nil {
		return nil, err
	}
	var changes []engine.Change
	for _, f := range want {
		data, err := door.ReadOwn(filepath.Join(from, filepath.FromSlash(f)), door.MaxFile)
		if err != nil {
			return nil, err
		}
		changes = append(changes, engine.Change{Op: engine.Write, Path: t.file(f), Data: data})
	}
	for _, f := range now {
		if !slices.Contains(want, f) {
			changes = append(changes, engine.Change{Op: engine.Delete, Path: t.file(f)})
		}
	}
	return changes, nil
}

// Fork makes a campaign of another name from this one as it is, or from a save
// point. The two share their past and no future number: the seed of the dice
// so far is shown in both.
func (t *Table) Fork(ctx context.Context, name, save string) error {
	if err := table.CheckSlug(name); err != nil {
		return fmt.Errorf("campaign %w", err)
	}
	to := filepath.Join(t.opts.Workspace, "campaigns", name)
	private := table.PrivatePath(t.opts.Workspace, name)
	unfinished := filepath.Join(private, "unfinished-fork")
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists: fork to another name", to)
	}
	if _, err := os.Lstat(unfinished); err == nil { // a fork that was killed
		if err := os.RemoveAll(private); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(private); err == nil {
		return fmt.Errorf("%s exists: fork to another name", private)
	}
	if err := t.ready(ctx); err != nil {
		return err
	}
	if err := t.Drain(ctx); err != nil {
		return err
	}
	from, last := t.campaignDir(), 1<<62
	if save != "" {
		s, err := readSave(t.opts.Workspace, t.opts.Campaign, save)
		if err != nil {
			return err
		}
		from, last = filepath.Join(savesDir(t.opts.Workspace, t.opts.Campaign), save, "campaign"), s.Seq
	}
	temp := filepath.Join(t.opts.Workspace, ".conclave", "tables", ".fork-"+name)
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := copyCampaign(from, filepath.Join(temp, "campaign"), 0o755); err != nil {
		return err
	}
	if err := t.copyLog(filepath.Join(temp, "private", "log"), last); err != nil {
		return err
	}
	log, err := t.diceLog()
	if err != nil {
		return err
	}
	if err := log.Fork(filepath.Join(temp, "campaign", table.DiceLogFile)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temp, "private", filepath.Base(unfinished)), nil, 0o600); err != nil {
		return err
	}
	if err := t.moveIn(filepath.Join(temp, "private"), private); err != nil {
		return err
	}
	if err := t.moveIn(filepath.Join(temp, "campaign"), to); err != nil {
		return err
	}
	if err := errors.Join(os.Remove(unfinished), os.RemoveAll(temp)); err != nil {
		return err
	}
	return t.note(ctx, Event{Kind: EventFork, Name: name})
}

func (t *Table) copyLog(to string, last int) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	return eachEvent(t.opts.Workspace, t.opts.Campaign, func(e Event) error {
		if e.Seq > last {
			return nil
		}
		data, err := json.MarshalIndent(e, "", " ")
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, filepath.Base(logName(e))), append(data, '\n'), 0o600)
	})
}
