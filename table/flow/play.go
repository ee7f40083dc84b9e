package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/engine"
	"conclave/internal/atomicfile"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/desk"
	"conclave/table/journal"
	"conclave/table/people"
	"conclave/table/story"
	"conclave/workspace"
)

// ErrOpen says that a cycle is open: it is resumed before another begins.
var ErrOpen = errors.New("a cycle is open")

// Recover continues what a process left open: journals in the background,
// cycles in the foreground, in order. It returns the results of the cycles.
func (t *Table) Recover(ctx context.Context) ([]Result, error) {
	if err := t.renew(ctx); err != nil {
		return nil, err
	}
	pending, err := t.engine.Pending(ctx)
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for _, p := range pending {
		open[p.ID] = true
	}
	for _, p := range pending {
		// A journal whose cycle is open is continued with it.
		if strings.HasPrefix(p.Flow, flowJournal+"/") && !open[p.Parent] {
			t.background.Go(func() { _, _ = t.engine.Resume(t.life, p.ID) })
		}
	}
	var results []Result
	for _, p := range pending {
		if strings.HasPrefix(p.Flow, flowJournal+"/") {
			continue
		}
		t.show(Notice{Kind: "slow", Text: "The table goes on where it was interrupted."})
		raw, err := t.engine.Resume(ctx, p.ID)
		if err != nil {
			return results, t.noteCut(err)
		}
		if strings.HasPrefix(p.Flow, flowCycle+"/") {
			var r Result
			if err := json.Unmarshal(raw, &r); err != nil {
				return results, err
			}
			results = append(results, r)
		}
	}
	return results, t.recoverParked()
}

// recoverParked tries the parked entries again, in the background.
func (t *Table) recoverParked() error {
	parked, err := journal.Parked(t.opts.Workspace, t.opts.Campaign)
	byWho := map[string][]journal.Job{}
	for _, job := range parked {
		byWho[job.Character] = append(byWho[job.Character], job)
	}
	for _, jobs := range byWho {
		t.background.Go(func() { t.retryParked(jobs) })
	}
	return err
}

// retryParked writes the parked entries of one character, in order, until one
// fails again.
func (t *Table) retryParked(jobs []journal.Job) {
	for _, job := range jobs {
		job.Retry++
		// The id tells attempts apart; the time makes it one of its own.
		id := fmt.Sprintf("%s-%s", job.ID(), time.Now().UTC().Format("20060102T150405.000"))
		if _, err := t.engine.Start(t.life, flowJournal, id, job); err != nil {
			return
		}
		left, err := journal.Parked(t.opts.Workspace, t.opts.Campaign)
		if err != nil || slices.ContainsFunc(left, func(p journal.Job) bool {
			return p.Cycle == job.Cycle && p.Character == job.Character
		}) {
			return
		}
	}
	t.journals.Unpark(jobs[0].Character)
}

// keepInteractions is how many ended interactions the engine remembers.
const keepInteractions = 20

// Say runs one cycle: from something said to the commit. When it is cut, the
// error is an *engine.CutError and Recover continues it.
func (t *Table) Say(ctx context.Context, in story.Input) (Result, error) {
	if err := t.ready(ctx); err != nil {
		return Result{}, err
	}
	if err := t.beginSession(ctx); err != nil {
		return Result{}, err
	}
	id := fmt.Sprintf("c%06d-%s", t.snapshot().Cycle+1, calls.ShortID())
	raw, err := t.engine.Start(ctx, flowCycle, id, in)
	if err != nil {
		return Result{}, t.noteCut(err)
	}
	var r Result
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, err
	}
	if r.Cycle%keepInteractions == 0 {
		_, err = t.engine.Prune(ctx, keepInteractions)
	}
	return r, err
}

// ready refuses a new cycle while an old one is open.
func (t *Table) ready(ctx context.Context) error {
	pending, err := t.engine.Pending(ctx)
	if err != nil {
		return err
	}
	for _, p := range pending {
		if !strings.HasPrefix(p.Flow, flowJournal+"/") {
			return fmt.Errorf("%w (%s): resume it first", ErrOpen, p.ID)
		}
	}
	return nil
}

// noteInput is an event to be written, with files that change with it.
type noteInput struct {
	Event story.Event `json:"event"`
}

// Note writes an event into the log.
func (t *Table) note(ctx context.Context, e story.Event) error {
	s := t.snapshot()
	seq, err := t.number(ctx, "")
	if err != nil {
		return err
	}
	e.V, e.Seq, e.Time = story.Version, seq, time.Now().UTC().Round(0)
	if e.Cycle == 0 {
		e.Cycle = s.Cycle
	}
	if e.Session == 0 {
		e.Session = s.Session
	}
	_, err = t.engine.Start(ctx, flowNote, fmt.Sprintf("n%08d-%s", e.Seq, calls.ShortID()), noteInput{e})
	return t.noteCut(err)
}

func (t *Table) runNote(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in noteInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	if err := t.commit(r, "note", []engine.Change{t.logChange(in.Event)}); err != nil {
		return nil, err
	}
	t.applied(in.Event)
	return nil, nil
}

// beginSession begins a session if none is under way: the dice's commitment is
// shown before anything else happens.
func (t *Table) beginSession(ctx context.Context) error {
	s := t.snapshot()
	if s.InSession {
		return nil
	}
	log, err := t.dice.Log()
	if err != nil {
		return err
	}
	commitment, test := log.Commitment()
	text := fmt.Sprintf("The dice of this session are fixed: commitment %s… (`conclave table dice verify %s` shows it whole)",
		commitment[:8], t.opts.Campaign)
	if test {
		text += " (test)"
	}
	t.show(Notice{Kind: "commitment", Text: text})
	return t.note(ctx, story.Event{Kind: story.EventSession, Session: s.Session + 1})
}

// InSession says whether a session is under way.
func (t *Table) InSession() bool { return t.snapshot().InSession }

// endInput is what the end of a session takes.
type endInput struct {
	Stamp string `json:"stamp"`
}

// End ends the session: the journals get what was narrated since their last
// entries, pending ones are waited for, the dice's seed is shown, and tmp/ is
// left with nothing but the narrative.
func (t *Table) End(ctx context.Context) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	if !t.InSession() {
		return nil
	}
	now := time.Now().UTC()
	id := fmt.Sprintf("e%08d-%s", t.snapshot().Seq+1, calls.ShortID())
	_, err := t.engine.Start(ctx, flowEnd, id, endInput{now.Format(stampForm)})
	return t.noteCut(err)
}

func (t *Table) runEnd(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in endInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	b, err := engine.Do(r, "begin end", func(ctx context.Context) (begun, error) {
		var b begun
		roster, err := t.roster()
		if err == nil {
			b.Seq, err = t.number(ctx, r.ID())
		}
		s := t.snapshot()
		b.Cycle, b.Session, b.Time, b.Roster = s.Cycle, s.Session, time.Now().UTC().Round(0), roster
		b.State.Rounds, b.State.LastJob = s.Rounds, s.LastJob
		return b, engine.Halt(err)
	})
	if err != nil {
		return nil, err
	}
	jobs, narrative, err := journal.Jobs(journal.Round{Cycle: b.Cycle, Blocks: b.State.Rounds, Roster: b.Roster,
		Last: b.State.LastJob}, t.caps)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if jobs[i].Prev == jobs[i].Cycle {
			jobs[i].Cycle++ // after a restore: never two entries of one number
		}
	}
	e := story.Event{V: story.Version, Seq: b.Seq, Kind: story.EventEnd, Time: b.Time, Session: b.Session,
		Cycle: b.Cycle, Run: r.ID(), Flushed: len(jobs) > 0}
	for _, j := range jobs {
		e.Journals = append(e.Journals, j.Character)
	}
	changes := []engine.Change{t.logChange(e)}
	if narrative != nil {
		file := t.file("tmp/" + table.NarrativeFile)
		changes = append(changes, engine.Change{Op: engine.Write, Path: file, Data: narrative})
	}
	if err := t.commit(r, "end", changes); err != nil {
		return nil, err
	}
	t.applied(e)
	if err := t.spawnJournals(r, jobs); err != nil {
		return nil, err
	}
	_, err = engine.Do(r, "drain", func(ctx context.Context) (struct{}, error) { return struct{}{}, t.drain(ctx) })
	if err != nil {
		return nil, err
	}
	_, err = engine.Do(r, "tidy", func(ctx context.Context) (struct{}, error) {
		if _, err := t.campaign.CleanTmp(in.Stamp); err != nil {
			return struct{}{}, engine.Halt(err)
		}
		t.crash("tidied tmp")
		return struct{}{}, engine.Halt(t.dice.End("session end"))
	})
	return nil, err
}

// drain waits for the journals, up to a bound: what is not written then stays
// pending and is written at the next start. It says so when that takes a while.
func (t *Table) drain(ctx context.Context) error {
	defer t.slowly(Notice{Kind: "slow", Text: "The journals are being written."})()
	limited, cancel := context.WithTimeout(ctx, t.opts.DrainWait)
	defer cancel()
	t.journals.Drain(limited)
	return ctx.Err()
}

// Drain is for a table that is to be left: it waits for the journals, up to
// Options.DrainWait, and for what ends them, and makes the save point that is due.
func (t *Table) Drain(ctx context.Context) error {
	if err := t.settle(ctx); err != nil {
		return err
	}
	return t.keepDue(ctx)
}

func (t *Table) settle(ctx context.Context) error {
	if err := t.drain(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, t.opts.DrainWait)
	defer cancel()
	_ = t.engine.Drain(limited) // what was cut is open, and said so when it was cut
	return ctx.Err()
}

// Init prepares a workspace for tables: what must not be committed is ignored.
func Init(root string) error {
	file := filepath.Join(root, ".gitignore")
	old, err := workspace.ReadOwn(file, workspace.MaxConfig)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if updated := table.GitIgnore(old); string(updated) != string(old) {
		return atomicfile.Replace(file, updated, 0o644)
	}
	return nil
}

// errSilent ends a play in which nobody is asked and the GM says nothing any
// more, cycle after cycle.
var errSilent = fmt.Errorf("the game master said nothing in %d cycles", maxSilent)

const maxSilent = 3

// Play says how a session goes.
type Play struct {
	MaxTurns int // cycles of this call; 0 means no limit
	// Listen returns what is said next, and by whom: a character, or "table". No
	// words let the story go on. io.EOF ends the call and leaves the session open;
	// ErrAgain says that the table may stand otherwise now. Nil, and with
	// Options.Auto, nobody is asked.
	Listen func(ctx context.Context) (who, words string, err error)
	EndAt  bool // end the session when the last turn is over
}

// Play continues what is open, then goes from turn to turn until the GM or the
// person ends the session, or the turns are used up. A session that it leaves
// open has its journals written.
func (t *Table) Play(ctx context.Context, p Play) error {
	if err := t.Remind(); err != nil {
		return err
	}
	ending, err := t.unfinished(ctx, flowEnd)
	if err != nil {
		return err
	}
	results, err := t.Recover(ctx)
	if err != nil {
		return t.left(ctx, err)
	}
	if ending && !t.InSession() {
		t.show(Notice{Kind: "over",
			Text: "The session had been cut at its end. It is over now; play again to begin the next."})
		return t.Drain(ctx)
	}
	turns, silent := len(results), 0
	var last *Result
	if turns > 0 {
		last = &results[turns-1]
	}
	for {
		switch {
		case t.ended() || last != nil && last.End:
			return t.Finish(ctx)
		case last != nil && len(last.Blocks) == 0 && len(last.Asked) == 0:
			silent++
		default:
			silent = 0
		}
		if silent >= maxSilent && (t.opts.Auto || p.Listen == nil) {
			return errors.Join(errSilent, t.Drain(ctx))
		}
		if p.MaxTurns > 0 && turns >= p.MaxTurns {
			if p.EndAt {
				return t.Finish(ctx)
			}
			return t.Drain(ctx)
		}
		session := t.InSession()
		in, err := t.listen(ctx, p)
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return t.Drain(ctx)
		case !errors.Is(err, ErrAgain):
			return err
		case t.cut.Load(): // what was done there was cut
			if results, err = t.Recover(ctx); err != nil {
				return t.left(ctx, err)
			}
			if n := len(results); n > 0 {
				last, turns = &results[n-1], turns+n
			}
			continue
		case session && !t.InSession(): // somebody has ended it
			t.show(Notice{Kind: "over", Text: "The session is over."})
			return t.Drain(ctx)
		default:
			continue
		}
		if !t.journals.Busy() { // a save point holds them, and nobody at the table waits for them
			if err := t.keepDue(ctx); err != nil {
				return err
			}
		}
		r, err := t.Say(ctx, in)
		if err != nil {
			return t.left(ctx, err)
		}
		if !r.End && (t.opts.Auto || p.Listen == nil) { // nobody waits
			if err := t.keepDue(ctx); err != nil {
				return err
			}
		}
		last = &r
		turns++
	}
}

// ended says whether the GM has ended the session that is under way. Whoever was
// to see to it may have been killed.
func (t *Table) ended() bool {
	s := t.snapshot()
	return s.InSession && s.Ended
}

// unfinished says whether an interaction of a flow was cut.
func (t *Table) unfinished(ctx context.Context, flow string) (bool, error) {
	pending, err := t.engine.Pending(ctx)
	return slices.ContainsFunc(pending, func(i engine.Interaction) bool { return strings.HasPrefix(i.Flow, flow+"/") }), err
}

// Finish ends the session, and makes the save point that is due.
func (t *Table) Finish(ctx context.Context) error {
	if err := t.End(ctx); err != nil {
		return err
	}
	return t.keepDue(ctx)
}

// left makes a good end of it when a person leaves in the middle of a cycle,
// or has nothing more to say: it stays open, and the next play goes on with it.
func (t *Table) left(ctx context.Context, err error) error {
	if !errors.Is(err, people.ErrLeft) && !errors.Is(err, engine.ErrNobody) {
		return err
	}
	t.show(Notice{Kind: "left", Text: "The table waits where you left it."})
	return t.Drain(ctx)
}

// ErrAgain says that something was done at the table instead of speaking.
var ErrAgain = errors.New("look again how the table stands")

// listen finds out what the next cycle begins with.
func (t *Table) listen(ctx context.Context, p Play) (story.Input, error) {
	if s := t.snapshot(); !s.InSession || s.Unopened {
		return story.Input{Kind: story.InputStart}, nil
	}
	if t.opts.Auto || p.Listen == nil {
		return story.Input{Kind: story.InputContinue}, nil
	}
	who, text, err := p.Listen(ctx)
	if err == nil && text == "" {
		return story.Input{Kind: story.InputContinue}, nil
	}
	return story.Said(who, desk.Plain(text)), err
}
