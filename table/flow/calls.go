package flow

import (
	"encoding/json"

	"conclave/seat"
	"conclave/table/gm"
)

// toolCalls are the calls of the last attempt at a turn that were not refused,
// each at its place in what was said.
func toolCalls(seats *seat.Set, run, turn string) ([]gm.Call, error) {
	past, err := seats.History(run)
	if err != nil {
		return nil, err
	}
	var out []gm.Call
	for _, c := range past.Turn(turn).Calls {
		if !c.Failed {
			out = append(out, gm.Call{Tool: c.Tool, Input: json.RawMessage(c.Input), Said: c.Said})
		}
	}
	return out, nil
}
