package flow

import (
	"encoding/json"

	"conclave/table"
	"conclave/table/gm"
)

// turn is a turn of a seat as its record has it: the words, the calls of the last
// attempt that were not refused, each at its place in the words, and the files
// that came with them. One that has not ended has no id, and nothing but files.
func (t *Table) turn(run, id string) (gm.Turn, error) {
	history, err := t.seats.History(run)
	if err != nil {
		return gm.Turn{}, err
	}
	past := history.Turn(id)
	var out gm.Turn
	for _, f := range past.Files {
		out.Files = append(out.Files, table.HandIn(f))
	}
	if !past.Finished {
		return out, nil
	}
	out.ID, out.Text = id, past.Reply.Text
	for _, c := range past.Calls {
		if !c.Failed {
			out.Calls = append(out.Calls, gm.Call{Tool: c.Tool, Input: json.RawMessage(c.Input), Said: c.Said})
		}
	}
	return out, nil
}
