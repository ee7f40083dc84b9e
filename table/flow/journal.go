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
	"sync"
	"time"

	"conclave/engine"
	"conclave/policy"
	"conclave/seat"
	"conclave/table"
	door "conclave/workspace"
)

// journalJob is one entry to be written. It holds its own cycle's inputs: what
// happens later cannot change what it describes.
type journalJob struct {
	Cycle     int    `json:"cycle"`
	Character string `json:"character"`
	Name      string `json:"name"`
	Narrative []byte `json:"narrative,omitempty"`
	Private   string `json:"private,omitempty"`
	Notes     []byte `json:"notes,omitempty"`
	Prev      int    `json:"prev"` // the cycle of the entry before it, 0 for none
	Retry     int    `json:"retry,omitempty"`
}

func (j journalJob) id() string {
	id := fmt.Sprintf("j%06d-%s", j.Cycle, j.Character)
	if j.Retry > 0 {
		id += fmt.Sprintf("-retry-%d", j.Retry)
	}
	return id
}

// makeJobs plans a round of journals: who heard something, and what.
func (t *Table) makeJobs(rounds [][]table.Block, roster table.Roster, cycle int, last map[string]int, notes map[string][]byte) ([]journalJob, []byte, error) {
	narrative, err := table.Narrative(rounds, t.caps)
	var tooBig *table.CapError
	for errors.As(err, &tooBig) && len(rounds) > 1 {
		// Too much was said since the last round: the journals get what fits,
		// newest first; the scenes have it all.
		rounds = rounds[1:]
		narrative, err = table.Narrative(rounds, t.caps)
	}
	if err != nil {
		return nil, nil, err
	}
	var jobs []journalJob
	for _, who := range table.Journaled(rounds, roster) {
		ch, _ := roster.Get(who)
		j := journalJob{Cycle: cycle, Character: who, Name: ch.Name, Narrative: narrative, Notes: notes[who], Prev: last[who]}
		var private []string
		for _, blocks := range rounds {
			if p := table.PrivateText(blocks, who); p != "" {
				private = append(private, p)
			}
		}
		j.Private = strings.Join(private, "\n\n")
		jobs = append(jobs, j)
	}
	return jobs, narrative, nil
}

// journals follows which entries are written, in this process and, by its
// files, over all of them.
type journals struct {
	t      *Table
	mu     sync.Mutex
	change chan struct{} // closed and replaced at every change
	done   map[string]int
	open   map[string]journalJob // by id
	parked map[string]bool       // characters with a parked entry
}

func openJournals(t *Table) (*journals, error) {
	j := &journals{t: t, change: make(chan struct{}), done: map[string]int{}, open: map[string]journalJob{}, parked: map[string]bool{}}
	for who := range t.state.LastJob {
		n, err := j.lastDone(who)
		if err != nil {
			return nil, err
		}
		j.done[who] = n
	}
	pending, err := t.engine.Pending(context.Background())
	if err != nil {
		return nil, err
	}
	for _, p := range pending {
		var job journalJob
		if strings.HasPrefix(p.Flow, flowJournal+"/") && json.Unmarshal(p.Input, &job) == nil {
			j.open[job.id()] = job
		}
	}
	parked, err := parkedJournals(t.opts.Workspace, t.opts.Campaign)
	for _, p := range parked {
		j.parked[p.Character] = true
	}
	return j, err
}

// doneFile holds the newest cycle whose entry is written, or parked.
func (j *journals) doneFile(who string) string { return j.t.private("journal", who+".json") }

func (j *journals) lastDone(who string) (int, error) {
	data, err := door.ReadOwn(filepath.Join(j.t.opts.Workspace, filepath.FromSlash(j.doneFile(who))), door.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var d struct{ Cycle int }
	err = json.Unmarshal(data, &d)
	return d.Cycle, err
}

// doneText is what the file says once a job is done. A retry is older than what
// was parked after it.
func (j *journals) doneText(job journalJob) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Appendf(nil, "{\"cycle\": %d}\n", max(job.Cycle, j.done[job.Character]))
}

func (j *journals) writeDone(job journalJob) error {
	dir := filepath.Join(table.PrivatePath(j.t.opts.Workspace, j.t.opts.Campaign), "journal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	d, err := table.OpenDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Write(job.Character+".json", j.doneText(job))
}

func (j *journals) changed() {
	close(j.change)
	j.change = make(chan struct{})
}

func (j *journals) began(job journalJob) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job.Retry == 0 && j.done[job.Character] >= job.Cycle {
		return
	}
	j.open[job.id()] = job
	j.changed()
}

func (j *journals) ended(job journalJob, parked bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.open, job.id())
	j.done[job.Character] = max(j.done[job.Character], job.Cycle)
	if parked {
		j.parked[job.Character] = true
	}
	j.changed()
}

// wait returns when ready says so, or ctx ends.
func (j *journals) wait(ctx context.Context, ready func() bool) error {
	for {
		j.mu.Lock()
		ok, change := ready(), j.change
		j.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// await waits for a character's own pending entries, for a while, and returns
// the narrative of those that are still not written.
func (j *journals) await(ctx context.Context, who string, most time.Duration) []string {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	_ = j.wait(limited, func() bool { return len(j.pendingOf(who)) == 0 })
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, job := range j.pendingOf(who) {
		out = append(out, strings.TrimSpace(string(job.Narrative)+"\n"+job.Private))
	}
	return out
}

func (j *journals) pendingOf(who string) []journalJob {
	var out []journalJob
	for _, job := range j.open {
		if job.Character == who {
			out = append(out, job)
		}
	}
	slices.SortFunc(out, func(a, b journalJob) int { return a.Cycle - b.Cycle })
	return out
}

// notes are the files of tmp/ that wait for their journal: name to hash.
func (j *journals) notes() map[string]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	known := map[string]string{}
	newest := map[string]int{}
	for _, job := range j.open {
		if len(job.Notes) > 0 && job.Cycle >= newest[job.Character] {
			newest[job.Character] = job.Cycle
			known[table.NotesFile(job.Character)] = table.Hash(job.Notes)
		}
	}
	return known
}

func (t *Table) spawnJournals(r *engine.Run, jobs []journalJob) error {
	children := make([]engine.Child, len(jobs))
	for i, job := range jobs {
		t.journals.began(job) // a replay may meet one that has ended
		children[i] = engine.Child{ID: job.id(), Input: job}
	}
	return engine.Spawn(r, flowJournal, children...)
}

// keeperTries bounds the attempts at an entry before it is parked.
const keeperTries = 3

// kept is what a keeper's turns came to.
type kept struct {
	Entry table.Entry `json:"entry"`
	OK    bool        `json:"ok"`
}

func (t *Table) runJournal(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	var job journalJob
	if err := json.Unmarshal(raw, &job); err != nil {
		return nil, err
	}
	t.journals.began(job)
	got, err := engine.Do(r, "keeper", func(ctx context.Context) (kept, error) {
		// One journal is written by one entry at a time, oldest first.
		if err := t.journals.turn(ctx, job); err != nil {
			return kept{}, err
		}
		if t.journals.behind(job) {
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

// turn waits until the entries before a job's are written.
func (j *journals) turn(ctx context.Context, job journalJob) error {
	return j.wait(ctx, func() bool { return j.done[job.Character] >= job.Prev || job.Retry > 0 })
}

// behind says whether an older entry of the character is parked.
func (j *journals) behind(job journalJob) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.parked[job.Character] && job.Retry == 0
}

// writeEntry adds the entry. It says when the file does not let it, and the job
// is to be parked.
func (t *Table) writeEntry(r *engine.Run, job journalJob, entry table.Entry) (parked bool, err error) {
	for try := 1; try <= keeperTries; try++ {
		intent, err := engine.Do(r, fmt.Sprintf("plan entry %d", try), func(context.Context) (table.Append, error) {
			return table.PlanAppend(t.campaign.Party, job.Character, job.Name, entry)
		})
		if err != nil {
			return parkable(err)
		}
		out, err := engine.Do(r, fmt.Sprintf("append entry %d", try), func(context.Context) (table.Outcome, error) {
			t.crash("before entry " + job.id())
			out, err := intent.Do(t.campaign.Party)
			t.crash("after entry " + job.id())
			if err == nil && out != table.Edited {
				err = t.entryWritten(job)
			}
			return out, err
		})
		if err != nil {
			return parkable(err)
		}
		if out != table.Edited {
			return false, nil
		}
	}
	return true, nil
}

// entryWritten removes the notes of an entry, unless they are of a later cycle
// by now, and says in a file that it is written.
func (t *Table) entryWritten(job journalJob) error {
	if len(job.Notes) > 0 {
		gone, err := t.campaign.Tmp.RemoveIf(table.NotesFile(job.Character), table.Hash(job.Notes))
		if err == nil && gone {
			err = t.campaign.Tmp.Sync()
		}
		t.crash("removed notes of " + job.id())
		if err != nil {
			return err
		}
	}
	if job.Retry > 0 {
		return nil // the file that parked it has to go, too
	}
	return t.journals.writeDone(job)
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
func (t *Table) askKeeper(ctx context.Context, run string, job journalJob) (kept, error) {
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
		if err != nil {
			if err := t.pause(ctx, try); err != nil {
				return kept{}, err
			}
			continue
		}
		e, missing := table.ParseEntry(text)
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
	_ = t.closeSeat(run)
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
func (t *Table) keeperTurn(ctx context.Context, run string, job journalJob, try int, repair string) (string, error) {
	view, err := t.campaign.JournalContext(job.Character, job.Narrative, job.Notes, job.Private, table.ContextOptions{Caps: t.caps})
	if err != nil {
		return "", err
	}
	s := &sitting{
		t: t, run: run, role: policy.JournalKeeper, who: job.Character, timeout: t.caps.JournalTimeout, about: view.Sources,
		actor: func() (Actor, error) { return t.opts.Cast(policy.JournalKeeper, job.Character, false) },
		furnish: func(p *seat.Plan) error {
			p.System = keeperInstructions
			return t.furnishView(p, policy.JournalKeeper, job.Character, view)
		},
	}
	text := fmt.Sprintf("Campaign: %s\nCharacter: %s\nCycle: %d\n\n%s", t.opts.Campaign, job.Character, job.Cycle, view.Text())
	if repair != "" {
		text = "Event: repair\n\n" + repair + "\n"
	}
	got, err := s.take(ctx, fmt.Sprintf("t%d", try), text)
	return got.Reply.Text, err
}

// journalDone parks a job whose entry could not be written, with its notes, or
// clears away what a retry had been parked in.
func (t *Table) journalDone(r *engine.Run, job journalJob, parked bool) error {
	if parked || job.Retry > 0 {
		change := engine.Change{Op: engine.Delete, Path: t.pendingFile(job)}
		if parked {
			data, err := json.MarshalIndent(job, "", " ")
			if err != nil {
				return err
			}
			change = engine.Change{Op: engine.Write, Path: t.pendingFile(job), Data: data, Mode: 0o600}
		}
		done := engine.Change{Op: engine.Write, Path: t.journals.doneFile(job.Character), Data: t.journals.doneText(job), Mode: 0o600}
		if err := t.commit(r, "done", []engine.Change{change, done}); err != nil {
			return err
		}
	}
	t.journals.ended(job, parked)
	return nil
}

func (t *Table) pendingFile(job journalJob) string {
	return t.private("journal-pending", fmt.Sprintf("%06d-%s.json", job.Cycle, job.Character))
}

// parkedJournals are the entries that could not be written, oldest first.
func parkedJournals(workspace, campaign string) ([]journalJob, error) {
	dir := filepath.Join(table.PrivatePath(workspace, campaign), "journal-pending")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []journalJob
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		data, err := door.ReadOwn(filepath.Join(dir, e.Name()), door.MaxFile)
		if err != nil {
			return nil, err
		}
		var j journalJob
		if err := json.Unmarshal(data, &j); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out = append(out, j)
	}
	return out, nil
}
