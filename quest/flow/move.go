package flow

import (
	"fmt"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
)

// Move is the person's word about where the quest stands: progress made, a
// return to the quest, or its end in the archive.
type Move struct {
	Progress string      `json:"progress,omitempty"` // to log
	Withdraw int         `json:"withdraw,omitempty"` // the number of the entry to take back
	To       quest.Phase `json:"to,omitempty"`       // to go to
	Archive  bool        `json:"archive,omitempty"`  // put the quest away
	// Repair writes what Fault.Repair made of this text of quest.md.
	Repair []byte `json:"repair,omitempty"`
	Before []byte `json:"before,omitempty"`
}

// CheckMove says why the quest cannot be moved so.
func (h *House) CheckMove(in Move) error {
	if in.Repair != nil || in.Archive {
		return nil
	}
	o, err := h.readOpening(policy.Bear, "move", "", true)
	if err != nil {
		return err
	}
	entries, err := in.entries(o.quest(), quest.Day(o.Start))
	if err == nil {
		_, err = in.edit(o.quest(), entries)
	}
	return err
}

// entries are what the log is told, made once: a number is that of the log as
// the person saw it.
func (in Move) entries(q *quest.Quest, day string) ([]quest.Entry, error) {
	var list []quest.Entry
	if in.Progress != "" {
		list = append(list, quest.Progressed(in.Progress, day))
	}
	if in.Withdraw != 0 {
		e, err := q.Withdraw(in.Withdraw, day)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (in Move) edit(q *quest.Quest, entries []quest.Entry) ([]byte, error) {
	if in.To != 0 && in.To != q.Phase {
		return q.WithPhase(in.To, q.Facts(), entries...)
	}
	return q.WithProgress(entries...)
}

// done tells what was done to the quest as it is now.
func (in Move) done(q *quest.Quest, entries []quest.Entry) string {
	var lines []string
	if in.To != 0 {
		lines = append(lines, fmt.Sprintf("Back to the quest: phase %d (%s).", int(q.Phase), q.Phase))
	}
	for i, e := range entries {
		lines = append(lines, fmt.Sprintf("Entry %d of the log: %s", len(q.Progress)-len(entries)+i+1,
			strings.TrimPrefix(e.Bullet(), "- ")))
	}
	return strings.Join(lines, "\n")
}

func (h *House) move(r *engine.Run, in Move) (Result, error) {
	switch {
	case in.Repair != nil:
		err := engine.Commit(r, "repair", []engine.Change{{Op: engine.Write, Path: quest.QuestFile, Data: in.Repair, Before: engine.Digest(in.Before)}})
		return Result{Flow: "repair"}, err
	case in.Archive:
		return h.archive(r)
	}
	o, err := plainStep(r, "begin", func() (Opening, error) { return h.readOpening(policy.Bear, "move", "", true) })
	if err != nil {
		return Result{}, err
	}
	q := o.quest()
	entries, err := in.entries(q, quest.Day(o.Start))
	if err != nil {
		return Result{}, err
	}
	note, err := h.editQuest(r, "move", o.Quest, func(q *quest.Quest) ([]byte, error) { return in.edit(q, entries) })
	if err != nil {
		return Result{}, err
	}
	if in.To != 0 {
		q.Phase = in.To
	}
	q.Progress = append(q.Progress, entries...)
	res := Result{Flow: "move", Phase: q.Phase, Outcome: in.done(q, entries)}
	for _, e := range entries {
		res.Logged = append(res.Logged, e.Text)
	}
	res.note(note)
	res.at(quest.BoundaryOf(q), o, q.FirstAdvisor(in.Progress))
	return res, nil
}

// archive puts the quest away, damaged or not, byte for byte.
func (h *House) archive(r *engine.Run) (Result, error) {
	data, err := h.readQuest(r, "read")
	if err != nil {
		return Result{}, err
	}
	name, err := h.putAway(r, data)
	if err != nil {
		return Result{}, err
	}
	res := Result{Flow: "archive"}
	res.note("the quest is kept in " + name)
	res.at(quest.AfterDebrief, Opening{}, quest.Suggestion{})
	return res, nil
}

// putAway renames quest.md into the archive, under the first free name.
func (h *House) putAway(r *engine.Run, data []byte) (string, error) {
	for i, name := range quest.ArchiveNames(quest.Parse(data)) {
		err := engine.Commit(r, fmt.Sprintf("archive %d", i+1), []engine.Change{{
			Op: engine.Rename, Path: quest.QuestFile, To: name, Before: engine.Digest(data)}})
		edited := editedOf(err)
		switch {
		case err == nil:
			return name, nil
		case edited == nil:
			return "", err
		case edited.Path == quest.QuestFile:
			return "", fmt.Errorf("archive the quest: %w; look at it and try again", err)
		}
	}
	return "", fmt.Errorf("archive %s: a hundred quests of this name are archived already; rename some in %s", quest.QuestFile, quest.ArchiveDir)
}
