package flow

import (
	"context"
	"encoding/json"
	"fmt"

	"conclave/dice"
	"conclave/engine"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/gm"
	"conclave/table/journal"
	"conclave/table/story"
)

// StepAway lets a character be played by its agent while its person is away;
// with back the person takes it up again.
func (t *Table) StepAway(ctx context.Context, character string, back bool) error {
	roster, err := t.roster()
	if err != nil {
		return err
	}
	ch, ok := roster.Get(character)
	if !ok {
		return fmt.Errorf("%q is no character of %s", gm.Clip(character, 80), t.opts.Campaign)
	}
	if _, away := t.snapshot().Away[ch.Slug]; away != back {
		return nil
	}
	return t.note(ctx, story.Event{Kind: story.EventSeat, Away: map[string]bool{ch.Slug: !back}})
}

// SetStatus says whether a character can be called.
func (t *Table) SetStatus(ctx context.Context, character string, status table.Status) error {
	roster, err := t.roster()
	if err != nil {
		return err
	}
	var o gm.Intent
	o.AddStatus(character, string(status), roster)
	if len(o.Faults) > 0 {
		return fmt.Errorf("%s", o.Faults[0])
	}
	who := o.Statuses[0].Character
	return t.note(ctx, story.Event{Kind: story.EventSeat, Statuses: map[string]table.Status{who: status}})
}

// Roll lets dice fall for a person.
func (t *Table) Roll(req dice.Request) (dice.Line, error) {
	log, err := t.dice.Log()
	if err != nil {
		return dice.Line{}, err
	}
	req.Cycle = fmt.Sprint(t.snapshot().Cycle)
	return log.Roll(req)
}

// renameInput is a rename as it is recorded.
type renameInput struct {
	From  string       `json:"from"`
	To    string       `json:"to"`
	Moves []table.Move `json:"moves"`
	Event story.Event  `json:"event"`
}

// Rename gives a character another file name: sheet, journal, brief, seat and
// pending jobs move in one interaction.
func (t *Table) Rename(ctx context.Context, from, to string) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	roster, err := t.roster()
	if err != nil {
		return err
	}
	moves, err := table.PlanRename(roster, t.campaign.Party, from, to)
	if err != nil {
		return err
	}
	seq, err := t.number(ctx, "")
	if err != nil {
		return err
	}
	s := t.snapshot()
	e := story.Event{V: story.Version, Seq: seq, Kind: story.EventRename, Cycle: s.Cycle, Session: s.Session,
		Name: from + " " + to}
	_, err = t.engine.Start(ctx, flowRename, fmt.Sprintf("r%08d-%s", e.Seq, calls.ShortID()), renameInput{from, to, moves, e})
	return err
}

func (t *Table) runRename(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in renameInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	now, err := r.Now()
	if err != nil {
		return nil, err
	}
	in.Event.Time = now
	parked, err := engine.Do(r, "parked", func(context.Context) ([]journal.Job, error) {
		jobs, err := journal.Parked(t.opts.Workspace, t.opts.Campaign)
		return jobs, engine.Halt(err)
	})
	if err != nil {
		return nil, err
	}
	var changes []engine.Change
	for _, m := range in.Moves {
		changes = append(changes, engine.Change{Op: engine.Rename, Path: t.file(m.From), To: t.file(m.To)})
	}
	for _, job := range parked {
		if job.Character != in.From {
			continue
		}
		old := t.private(job.PendingFile())
		job.Character = in.To
		data, err := json.MarshalIndent(job, "", " ")
		if err != nil {
			return nil, err
		}
		changes = append(changes,
			engine.Change{Op: engine.Write, Path: t.private(job.PendingFile()), Data: data, Mode: 0o600},
			engine.Change{Op: engine.Delete, Path: old})
	}
	changes = append(changes, engine.Change{Op: engine.Write, Path: t.private(journal.DoneFile(in.To)),
		Data: t.journals.RenamedText(in.From), Mode: 0o600},
		t.logChange(in.Event))
	if err := t.commit(r, "rename", changes); err != nil {
		return nil, err
	}
	t.applied(in.Event)
	t.journals.Rename(in.From, in.To)
	return nil, nil
}
