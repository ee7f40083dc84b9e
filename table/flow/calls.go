package flow

import (
	"encoding/json"

	"conclave/seat"
)

// toolCall is a call that a turn made, as the engine keeps it.
type toolCall struct {
	Tool  string
	Input json.RawMessage
	// Said is how much of the turn's text had been said before it.
	Said int `json:",omitempty"`
}

// toolCalls are the calls of the last attempt at a turn that were not refused,
// each at its place in what was said.
func toolCalls(seats *seat.Set, run, turn string) ([]toolCall, error) {
	past, err := seats.History(run)
	if err != nil {
		return nil, err
	}
	var out []toolCall
	for _, c := range past.Turn(turn).Calls {
		if !c.Failed {
			out = append(out, toolCall{c.Tool, json.RawMessage(c.Input), c.Said})
		}
	}
	return out, nil
}
