package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/table"
)

// Job is one entry to be written. It holds its own cycle's inputs: what
// happens later cannot change what it describes.
type Job struct {
	Cycle     int    `json:"cycle"`
	Character string `json:"character"`
	Name      string `json:"name"`
	Narrative []byte `json:"narrative,omitempty"`
	Private   string `json:"private,omitempty"`
	Notes     []byte `json:"notes,omitempty"`
	Prev      int    `json:"prev"` // the cycle of the entry before it, 0 for none
	Retry     int    `json:"retry,omitempty"`
}

// ID is its interaction.
func (j Job) ID() string {
	id := fmt.Sprintf("j%06d-%s", j.Cycle, j.Character)
	if j.Retry > 0 {
		id += fmt.Sprintf("-retry-%d", j.Retry)
	}
	return id
}

// Flow is the name of the flow that writes an entry, as it is recorded.
const Flow = "journal"

// JobOf is the job of an interaction, if it is one of that flow.
func JobOf(flow string, input []byte) (job Job, ok bool) {
	ok = strings.HasPrefix(flow, Flow+"/") && json.Unmarshal(input, &job) == nil
	return job, ok
}

// Round is what was narrated since the last journals, and to whom.
type Round struct {
	Cycle  int
	Blocks [][]table.Block
	Roster table.Roster
	Last   map[string]int    // character to the cycle of its newest job
	Notes  map[string][]byte // by character
}

// Jobs plans a round of journals: who heard something, and what. file is the
// content of narrative-for-journal.md, nil if it stays as it is.
func Jobs(r Round, caps table.Caps) (jobs []Job, file []byte, err error) {
	rounds := r.Blocks
	file, err = narrative(rounds, caps)
	var tooBig *table.CapError
	for errors.As(err, &tooBig) && len(rounds) > 1 {
		// Too much was said since the last round: the journals get what fits,
		// newest first; the scenes have it all.
		rounds = rounds[1:]
		file, err = narrative(rounds, caps)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, who := range journaled(rounds, r.Roster) {
		ch, _ := r.Roster.Get(who)
		j := Job{Cycle: r.Cycle, Character: who, Name: ch.Name, Narrative: file, Notes: r.Notes[who], Prev: r.Last[who]}
		var private []string
		for _, blocks := range rounds {
			if p := table.PrivateText(blocks, who); p != "" {
				private = append(private, p)
			}
		}
		j.Private = strings.Join(private, "\n\n")
		jobs = append(jobs, j)
	}
	return jobs, file, nil
}

// narrative is the content of narrative-for-journal.md: all public text since
// the last round of journals. It returns nil when there is none; the file then
// stays as it is.
func narrative(rounds [][]table.Block, caps table.Caps) ([]byte, error) {
	var parts []string
	for _, blocks := range rounds {
		if t := table.PartyText(blocks); t != "" {
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	out := strings.Join(parts, "\n\n") + "\n"
	if limit := caps.WithDefaults().Narrative; int64(len(out)) > limit {
		return nil, &table.CapError{What: table.NarrativeFile, Size: int64(len(out)), Limit: limit}
	}
	return []byte(out), nil
}

// journaled lists, in roster order, who is present in the audience of at least
// one block.
func journaled(rounds [][]table.Block, r table.Roster) []string {
	var out []string
	for _, c := range r.Characters {
		heard := slices.ContainsFunc(rounds, func(blocks []table.Block) bool {
			return table.TextFor(blocks, c.Slug) != ""
		})
		if c.Status == table.Present && heard {
			out = append(out, c.Slug)
		}
	}
	return out
}
