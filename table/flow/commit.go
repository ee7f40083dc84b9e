package flow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"conclave/engine"
	"conclave/table"
	"conclave/table/journal"
	"conclave/table/story"
)

// commit is the point after which the cycle has happened: what the GM narrated
// is durable in the log. Before it nothing is cleaned away, after it the GM is
// not asked again.
func (c *cycle) commit() (Result, error) {
	if err := c.closeGM(); err != nil {
		return Result{}, err
	}
	blocks := c.telling.End()
	for _, who := range slices.Sorted(maps.Keys(c.prompt)) {
		c.Warn = append(c.Warn, "unsent prompt for "+who+" was removed")
	}
	c.Warn = once(c.Warn)
	jobs, narrative, err := c.journalJobs()
	if err != nil {
		return Result{}, err
	}
	e := c.event(jobs)
	changes := []engine.Change{c.t.logChange(e)}
	if narrative != nil {
		file := c.t.file("tmp/" + table.NarrativeFile)
		changes = append(changes, engine.Change{Op: engine.Write, Path: file, Data: narrative})
	}
	if err := c.t.commit(c.r, "commit", changes); err != nil {
		return Result{}, err
	}
	c.t.applied(e)
	if err := c.writeScene(e); err != nil {
		return Result{}, err
	}
	cleaned, err := engine.Do(c.r, "clean", func(context.Context) ([]string, error) {
		edited, err := c.t.clean(c.known, c.stamp())
		if err = errors.Join(err, c.t.lateDrafts(c.Roster.Slugs(), c.stamp()), c.t.people.Answered("")); err != nil {
			return nil, engine.Halt(err)
		}
		c.tell(blocks)
		for _, w := range append(slices.Clone(c.Warn), edited...) {
			c.t.remark(c.Cycle, w)
		}
		return edited, nil
	})
	if err != nil {
		return Result{}, err
	}
	if err := c.t.spawnJournals(c.r, jobs); err != nil {
		return Result{}, err
	}
	return Result{Cycle: c.Cycle, Blocks: blocks, End: c.ended, Asked: c.asked, Warnings: append(c.Warn, cleaned...)}, nil
}

// once leaves out what only repeats an earlier remark, whole or behind a word or
// two.
func once(remarks []string) []string {
	var out []string
	for _, r := range remarks {
		if !slices.ContainsFunc(out, func(earlier string) bool { return earlier != "" && strings.HasSuffix(r, earlier) }) {
			out = append(out, r)
		}
	}
	return out
}

// closed is what the end of the GM's turns gives a cycle.
type closed struct {
	Seq int `json:"seq"` // 0 in what an older version has left open
}

// closeGM ends the GM's turns, and gives the cycle its number in the log: while it
// went on others were given theirs.
func (c *cycle) closeGM() error {
	if c.turns == 0 {
		return nil
	}
	end, err := engine.Do(c.r, "close gm", func(ctx context.Context) (closed, error) {
		if err := c.t.seats.Close(c.gmRun); err != nil {
			return closed{}, engine.Halt(err)
		}
		n, err := c.t.number(ctx, c.r.ID())
		return closed{n}, engine.Halt(err)
	})
	if end.Seq > 0 {
		c.Seq = end.Seq
	}
	return err
}

// event is the cycle as the log keeps it.
func (c *cycle) event(jobs []journal.Job) story.Event {
	in := c.in // the event is remembered, the cycle is not
	e := story.Event{V: story.Version, Seq: c.Seq, Kind: story.EventCommit, Time: c.Time, Session: c.Session,
		Cycle: c.Cycle, Run: c.r.ID(), Input: &in, Blocks: c.telling.Blocks(), Context: c.context, Asked: c.asked,
		Rolls: c.rolls, Warnings: c.Warn, Withheld: c.withheld, Ended: c.ended,
		ContextRead: !c.first && c.context != "" && c.context == c.recalled}
	if len(c.status) > 0 {
		e.Statuses = c.status
	}
	e.Scene = c.sceneNow().Grown(table.PartyText(c.telling.Blocks()))
	if c.fought {
		fight := c.combat
		e.Combat = &fight
	}
	for _, j := range jobs {
		e.Journals = append(e.Journals, j.Character)
	}
	e.Flushed = len(jobs) > 0
	return e
}

// sceneNow is the scene that the cycle is in.
func (c *cycle) sceneNow() story.Scene {
	if c.scene != nil {
		return *c.scene
	}
	return c.State.Scene
}

// writeScene adds the public narrative, and nothing else, to the scene.
func (c *cycle) writeScene(e story.Event) error {
	text := table.PartyText(e.Blocks)
	if e.Scene == nil || text == "" {
		return nil
	}
	before := *e.Scene
	if c.scene != nil || c.State.Scene.Number != before.Number || c.State.Scene.Part != before.Part {
		before.Size = 0
	} else {
		before.Size = c.State.Scene.Size
	}
	change := engine.Change{Op: engine.Append, Path: c.t.file(before.File()), Data: []byte(before.Chunk(text))}
	return c.t.commit(c.r, "scene", []engine.Change{change})
}

// commit changes files; when somebody edits one at that very moment it plans
// again, a few times. What stands in the way is cleared first: see freeWay.
func (t *Table) commit(r *engine.Run, name string, changes []engine.Change) error {
	if len(changes) == 0 {
		return nil
	}
	var edited *engine.EditedError
	var unfit *engine.UnfitError
	for try, edits := 1, 1; ; try++ {
		err := engine.Commit(r, fmt.Sprintf("%s %d", name, try), changes)
		switch {
		case errors.As(err, &edited) && edits < 3:
			edits++
		case errors.As(err, &unfit):
			if err := t.freeWay(r, fmt.Sprintf("way %s %d", name, try), unfit); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// freeWay sets aside what stands where a file of tmp/ is to be written, which
// is nobody's place but the table's. Elsewhere it waits: the interaction stays
// open with all that is in it until somebody has cleared the way.
func (t *Table) freeWay(r *engine.Run, step string, unfit *engine.UnfitError) error {
	_, err := engine.Do(r, step, func(context.Context) (struct{}, error) {
		name, ours := strings.CutPrefix(unfit.Path, t.file("")+"/")
		if !ours {
			return struct{}{}, engine.Halt(unfit)
		}
		o := t.campaign.Way(name)
		if o == nil {
			return struct{}{}, nil
		}
		dir, base := path.Split(name)
		if dir != "tmp/" || o.Path != unfit.Path {
			return struct{}{}, engine.Halt(o)
		}
		_, err := t.campaign.SetAside(base, time.Now().UTC().Format(stampForm))
		if err == nil {
			t.show(Notice{Kind: "note", Text: name + " was no file of the table, and in its way: it was set aside"})
		}
		return struct{}{}, engine.Halt(err)
	})
	return err
}

// logChange makes the file of an event, which also says where the dice stand.
func (t *Table) logChange(e story.Event) engine.Change {
	e.Dice = t.dice.Mark()
	name, data := e.File()
	return engine.Change{Op: engine.Create, Path: t.private(name), Data: data, Mode: 0o600}
}

// clean removes the files of a cycle from tmp/. One that somebody has edited is
// set aside instead; notes are their journal's.
func (t *Table) clean(known map[string]string, stamp string) (edited []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(known)) {
		hash := known[name]
		if hash == "" {
			if hash, err = t.campaign.Tmp.HashOf(name); err != nil {
				continue
			}
		}
		gone, err := t.campaign.Tmp.RemoveIf(name, hash)
		if errors.As(err, new(*table.UnsafeError)) { // somebody has put something else there
			if _, err := t.campaign.SetAside(name, stamp); err != nil {
				return edited, err
			}
			edited = append(edited, "tmp/"+name+" was exchanged during the cycle for what is no file: that was set aside")
			continue
		}
		if err != nil {
			return edited, err
		}
		if !gone {
			if data, err := t.campaign.Tmp.Read(name, 0); err == nil {
				if err := t.tooLate(name, stamp, data); err != nil {
					return edited, err
				}
				edited = append(edited, "tmp/"+name+" was edited during the cycle: the edit had no effect and was set aside")
			}
		}
		t.crash("cleaned " + name)
	}
	return edited, t.campaign.Tmp.Sync()
}

// tooLate keeps what was written when it could have no effect any more: a
// response after the barrier is late, everything else is stale.
func (t *Table) tooLate(name, stamp string, data []byte) error {
	if table.Classify("tmp/"+name).Kind != table.KindResponse {
		_, err := t.campaign.SetAside(name, stamp)
		return err
	}
	if _, err := t.campaign.SetLate(name, stamp, data); err != nil {
		return err
	}
	return t.campaign.Tmp.Remove(name) // clean makes it durable
}

// lateDrafts files answers that people left when nobody asked any more: they
// must not become the answer to the next question.
func (t *Table) lateDrafts(characters []string, stamp string) error {
	for _, who := range characters {
		text, ok, err := t.people.Draft(who)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if _, err := t.campaign.SetLate(table.ResponseFile(who), stamp, []byte(text)); err != nil {
			return err
		}
		if err := t.people.Drop(who, text); err != nil {
			return err
		}
	}
	return nil
}

// journalJobs decides whose journals this commit sets off, with everything
// they need as it is now. In the first version a cycle in which no player was
// asked waited for the next that asks one.
func (c *cycle) journalJobs() ([]journal.Job, []byte, error) {
	blocks := c.telling.Blocks()
	switch {
	case !c.first:
		blocks = append(c.telling.Opening(c.in, c.Roster), blocks...)
	case len(c.asked) == 0:
		return nil, nil, nil
	}
	rounds := append(slices.Clone(c.State.Rounds), blocks)
	return journal.Jobs(journal.Round{Cycle: c.Cycle, Blocks: rounds, Roster: c.Roster, Last: c.State.LastJob,
		Notes: c.notes}, c.t.caps)
}
