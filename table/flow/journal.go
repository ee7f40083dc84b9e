package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"conclave/engine"
	"conclave/table"
	"conclave/table/journal"
	"conclave/table/seating"
)

// openJournals opens the book of the journals, with what is under way.
func openJournals(t *Table) (*journal.Book, error) {
	pending, err := t.engine.Pending(context.Background())
	if err != nil {
		return nil, err
	}
	var open []journal.Job
	for _, p := range pending {
		if job, ok := journal.JobOf(p.Flow, p.Input); ok {
			open = append(open, job)
		}
	}
	return journal.OpenBook(t.opts.Workspace, t.opts.Campaign, maps.Keys(t.state.LastJob), open)
}

func (t *Table) spawnJournals(r *engine.Run, jobs []journal.Job) error {
	children := make([]engine.Child, len(jobs))
	for i, job := range jobs {
		t.journals.Began(job) // a replay may meet one that has ended
		children[i] = engine.Child{ID: job.ID(), Input: job}
	}
	return engine.Spawn(r, flowJournal, children...)
}

// keeperTries bounds the attempts at an entry before it is parked.
const keeperTries = 3

// kept is what a keeper's turns came to.
type kept struct {
	Entry journal.Entry `json:"entry"`
	OK    bool          `json:"ok"`
}

func (t *Table) runJournal(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var job journal.Job
	if err := json.Unmarshal(raw, &job); err != nil {
		return nil, err
	}
	t.journals.Began(job)
	got, err := engine.Do(r, "keeper", func(ctx context.Context) (kept, error) {
		// One journal is written by one entry at a time, oldest first.
		if err := t.journals.Turn(ctx, job); err != nil {
			return kept{}, err
		}
		if t.journals.Behind(job) {
			return kept{}, nil // an older entry is parked: this one waits with it
		}
		return t.askKeeper(ctx, t.runID(r.ID(), "keeper"), job)
	})
	if err != nil {
		return nil, err
	}
	parked := !got.OK
	if got.OK {
		if parked, err = t.writeEntry(r, job, got.Entry); err != nil {
			return nil, err
		}
	}
	return nil, t.journalDone(r, job, parked)
}

// writeEntry adds the entry. It says when the file does not let it, and the job
// is to be parked.
func (t *Table) writeEntry(r *engine.Run, job journal.Job, entry journal.Entry) (parked bool, err error) {
	for try := 1; try <= keeperTries; try++ {
		intent, err := engine.Do(r, fmt.Sprintf("plan entry %d", try), func(context.Context) (journal.Append, error) {
			return journal.PlanAppend(t.campaign.Party, job.Character, job.Name, entry)
		})
		if err != nil {
			return parkable(err)
		}
		out, err := engine.Do(r, fmt.Sprintf("append entry %d", try), func(context.Context) (journal.Outcome, error) {
			t.crash("before entry " + job.ID())
			out, err := intent.Do(t.campaign.Party)
			t.crash("after entry " + job.ID())
			if err == nil && out != journal.Edited {
				err = t.entryWritten(job)
			}
			return out, err
		})
		if err != nil {
			return parkable(err)
		}
		if out != journal.Edited {
			return false, nil
		}
	}
	return true, nil
}

// entryWritten removes the notes of an entry, unless they are of a later cycle
// by now, and says in a file that it is written.
func (t *Table) entryWritten(job journal.Job) error {
	if len(job.Notes) > 0 {
		gone, err := t.campaign.Tmp.RemoveIf(table.NotesFile(job.Character), table.Hash(job.Notes))
		if err == nil && gone {
			err = t.campaign.Tmp.Sync()
		}
		t.crash("removed notes of " + job.ID())
		if err != nil {
			return err
		}
	}
	if job.Retry > 0 {
		return nil // the file that parked it has to go, too
	}
	return t.journals.WriteDone(job)
}

// parkable tells what a file refuses today, which parks the entry, from the end
// of the engine.
func parkable(err error) (bool, error) {
	var failure *engine.Failure
	if errors.As(err, &failure) {
		return true, nil
	}
	return false, err
}

// askKeeper takes the keeper's turns: a few attempts, and one repair for what
// is missing from an entry.
func (t *Table) askKeeper(ctx context.Context, run string, job journal.Job) (kept, error) {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return kept{}, ctx.Err()
	}
	var got kept
	repair := ""
	for try := 1; try <= keeperTries; try++ {
		text, err := t.keeperTurn(ctx, run, job, try, repair)
		if ctx.Err() != nil {
			return kept{}, ctx.Err()
		}
		if !seating.Again(err) {
			break
		}
		if err != nil {
			if err := t.pause(ctx, try); err != nil {
				return kept{}, err
			}
			continue
		}
		e, missing := journal.ParseEntry(text)
		if len(missing) == 6 { // nothing of an entry
			repair = "That was no entry. Answer with a heading and the five points."
			continue
		}
		done := len(missing) == 0 || got.OK
		got = kept{e, true}
		if done {
			break
		}
		repair = "Missing: " + strings.Join(missing, ", ") + ". Give the whole entry again."
	}
	// A seat that does not close must not keep the entry from being written.
	_ = t.seats.Close(run)
	return got, nil
}

// pause waits before another attempt, longer each time.
func (t *Table) pause(ctx context.Context, try int) error {
	if try == keeperTries {
		return nil
	}
	timer := time.NewTimer(t.opts.Backoff << (try - 1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keeperTurn takes one turn. Whatever keeps a keeper from its seat must not
// keep the table waiting: every error is one attempt.
func (t *Table) keeperTurn(ctx context.Context, run string, job journal.Job, try int, repair string) (string, error) {
	view, err := t.campaign.JournalContext(job.Character, job.Narrative, job.Notes, job.Private,
		table.ContextOptions{Caps: t.caps})
	if err != nil {
		return "", err
	}
	s := t.seats.Keeper(run, job.Character, view)
	text := fmt.Sprintf("Campaign: %s\nCharacter: %s\nCycle: %d\n\n%s",
		t.opts.Campaign, job.Character, job.Cycle, view.Text())
	if repair != "" {
		text = "Event: repair\n\n" + repair + "\n"
	}
	got, err := s.Ask(ctx, fmt.Sprintf("t%d", try), text)
	return got.Reply.Text, err
}

// journalDone parks a job whose entry could not be written, with its notes, or
// clears away what a retry had been parked in.
func (t *Table) journalDone(r *engine.Run, job journal.Job, parked bool) error {
	if parked || job.Retry > 0 {
		change := engine.Change{Op: engine.Delete, Path: t.private(job.PendingFile())}
		if parked {
			data, err := json.MarshalIndent(job, "", " ")
			if err != nil {
				return err
			}
			change = engine.Change{Op: engine.Write, Path: t.private(job.PendingFile()), Data: data, Mode: 0o600}
		}
		done := engine.Change{Op: engine.Write, Path: t.private(journal.DoneFile(job.Character)),
			Data: t.journals.DoneText(job), Mode: 0o600}
		if err := t.commit(r, "done", []engine.Change{change, done}); err != nil {
			return err
		}
	}
	t.journals.Ended(job, parked)
	return nil
}
