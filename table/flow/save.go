package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/engine"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/story"
)

// Save keeps the campaign as it is under a name. No cycle may be open; journals
// are waited for, so that the save holds them.
func (t *Table) Save(ctx context.Context, name string) (story.Save, error) {
	return t.save(ctx, name, false)
}

func (t *Table) save(ctx context.Context, name string, own bool) (story.Save, error) {
	if err := table.CheckSlug(name); err != nil {
		return story.Save{}, fmt.Errorf("save point %w", err)
	}
	if story.HasSave(t.opts.Workspace, t.opts.Campaign, name) {
		return story.Save{}, fmt.Errorf("there is a save point %s already", name)
	}
	if err := t.ready(ctx); err != nil {
		return story.Save{}, err
	}
	if err := t.settle(ctx); err != nil {
		return story.Save{}, err
	}
	seq, err := t.number(ctx, "")
	if err != nil {
		return story.Save{}, err
	}
	s := t.snapshot()
	now := time.Now().UTC().Round(0)
	in := saveInput{
		Save: story.Save{Name: name, Time: now, Seq: s.Seq, Cycle: s.Cycle, Session: s.Session,
			Scene: s.Scene.Title, Own: own},
		Event: story.Event{V: story.Version, Seq: seq, Kind: story.EventSave, Time: now, Cycle: s.Cycle,
			Session: s.Session, Name: name},
	}
	_, err = t.engine.Start(ctx, flowSave, fmt.Sprintf("s%08d-%s", in.Event.Seq, calls.ShortID()), in)
	return in.Save, t.noteCut(err)
}

// saveInput is a save point as it is recorded, with the event that tells of it.
type saveInput struct {
	Save  story.Save  `json:"save"`
	Event story.Event `json:"event"`
}

func (t *Table) runSave(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in saveInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	_, err := engine.Do(r, "make", func(context.Context) (struct{}, error) {
		if story.HasSave(t.opts.Workspace, t.opts.Campaign, in.Save.Name) {
			return struct{}{}, nil // whoever was killed here had made it
		}
		return struct{}{}, in.Save.Make(t.opts.Workspace, t.opts.Campaign, t.crash)
	})
	if err != nil {
		return nil, err
	}
	if err := t.commit(r, "note", []engine.Change{t.logChange(in.Event)}); err != nil {
		return nil, err
	}
	t.applied(in.Event)
	if !in.Save.Own {
		return nil, nil
	}
	_, err = engine.Do(r, "prune", func(context.Context) (struct{}, error) {
		return struct{}{}, story.Prune(t.opts.Workspace, t.opts.Campaign)
	})
	return nil, err
}

// keepDue makes a save point of the table's own where one is due: a scene has
// begun or a session has ended, whoever saw to it. While a cycle is open it
// waits for the next occasion.
func (t *Table) keepDue(ctx context.Context) error {
	s := t.snapshot()
	if !t.opts.Keep || !s.Due || errors.Is(t.ready(ctx), ErrOpen) {
		return nil
	}
	if _, err := t.save(ctx, story.OwnSave(s.Seq), true); err != nil {
		return fmt.Errorf("keep a save point: %w", err)
	}
	return nil
}

// restoreInput is a restore as it is recorded.
type restoreInput struct {
	Save  story.Save  `json:"save"`
	Event story.Event `json:"event"`
}

// Restore goes back to a save point. What is now is kept first as a save point
// of its own, whose name is returned. The dice do not go back: their seed is
// shown, a new epoch begins, numbers go on.
func (t *Table) Restore(ctx context.Context, name string) (kept string, err error) {
	save, err := story.ReadSave(t.opts.Workspace, t.opts.Campaign, name)
	if err != nil {
		return "", err
	}
	if err := t.restorable(save); err != nil {
		return "", err
	}
	kept = "before-" + strings.ToLower(time.Now().UTC().Format("20060102t150405")) + "-" + calls.ShortID()
	if _, err := t.Save(ctx, kept); err != nil {
		return "", err
	}
	seq, err := t.number(ctx, "")
	if err != nil {
		return "", err
	}
	s := t.snapshot()
	e := story.Event{V: story.Version, Seq: seq, Kind: story.EventRestore, Cycle: s.Cycle, Session: s.Session,
		Name: name, To: save.Seq, Time: time.Now().UTC().Round(0)}
	_, err = t.engine.Start(ctx, flowRestore, fmt.Sprintf("b%08d-%s", e.Seq, calls.ShortID()), restoreInput{save, e})
	return kept, err
}

// restorable says why a restore would stop halfway: it is better not begun.
func (t *Table) restorable(save story.Save) error {
	if _, err := t.dice.Log(); err != nil {
		return err
	}
	write, _, err := save.Difference(t.opts.Workspace, t.opts.Campaign)
	if err != nil {
		return err
	}
	for _, f := range write {
		if o := t.campaign.Way(f.Name); o != nil && !o.ReadOnly {
			return fmt.Errorf("nothing was restored: %w", o)
		}
	}
	return nil
}

func (t *Table) runRestore(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in restoreInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	changes, err := engine.Do(r, "plan", func(context.Context) ([]engine.Change, error) {
		changes, err := t.planRestore(in.Save)
		return changes, engine.Halt(err)
	})
	if err != nil {
		return nil, err
	}
	if err := t.commit(r, "restore", append(changes, t.logChange(in.Event))); err != nil {
		return nil, err
	}
	_, err = engine.Do(r, "dice", func(context.Context) (struct{}, error) {
		log, err := t.dice.Log()
		if err == nil {
			err = log.Rotate(r.ID(), "restore "+in.Save.Name)
		}
		return struct{}{}, engine.Halt(err)
	})
	if err != nil {
		return nil, err
	}
	state, err := story.Load(t.opts.Workspace, t.opts.Campaign)
	if err != nil {
		return nil, engine.Halt(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = state
	return nil, nil
}

// planRestore compares the campaign with the save.
func (t *Table) planRestore(s story.Save) ([]engine.Change, error) {
	write, remove, err := s.Difference(t.opts.Workspace, t.opts.Campaign)
	var changes []engine.Change
	for _, f := range write {
		changes = append(changes, engine.Change{Op: engine.Write, Path: t.file(f.Name), Data: f.Data})
	}
	for _, f := range remove {
		changes = append(changes, engine.Change{Op: engine.Delete, Path: t.file(f)})
	}
	return changes, err
}

// Fork makes a campaign of another name from this one as it is, or from a save
// point. The two share their past and no future number: the seed of the dice
// so far is shown in both.
func (t *Table) Fork(ctx context.Context, name, save string) error {
	if err := t.fork("", name, save).Check(); err != nil {
		return err
	}
	if _, err := t.dice.Log(); err != nil {
		return err
	}
	if err := t.ready(ctx); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	seq, err := t.number(ctx, "")
	if err != nil {
		return err
	}
	s := t.snapshot()
	in := forkInput{Save: save, Event: story.Event{V: story.Version, Seq: seq, Kind: story.EventFork,
		Time: time.Now().UTC().Round(0), Cycle: s.Cycle, Session: s.Session, Name: name}}
	_, err = t.engine.Start(ctx, flowFork, fmt.Sprintf("f%08d-%s", in.Event.Seq, calls.ShortID()), in)
	return t.noteCut(err)
}

// forkInput is a fork as it is recorded, with the event that tells of it.
type forkInput struct {
	Save  string      `json:"save,omitempty"`
	Event story.Event `json:"event"`
}

// fork is how a campaign is made of this one; id is the interaction that does it.
func (t *Table) fork(id, to, save string) story.Fork {
	return story.Fork{Root: t.opts.Workspace, Campaign: t.opts.Campaign, To: to, Save: save, Crash: t.crash,
		Dice: func(file string) error {
			log, err := t.dice.Log()
			if err != nil {
				return err
			}
			return log.Fork(id, file)
		}}
}

func (t *Table) runFork(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in forkInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	_, err := engine.Do(r, "make", func(context.Context) (struct{}, error) {
		f := t.fork(r.ID(), in.Event.Name, in.Save)
		done, err := f.Made() // by whoever was killed here
		if err != nil || done {
			return struct{}{}, err
		}
		return struct{}{}, errors.Join(f.Check(), f.Make())
	})
	if err != nil {
		return nil, err
	}
	if err := t.commit(r, "note", []engine.Change{t.logChange(in.Event)}); err != nil {
		return nil, err
	}
	t.applied(in.Event)
	return nil, nil
}
