package flow

import (
	"context"
	"encoding/json"
	"strings"

	"conclave/engine"
)

// number is the number of the next event. None is given twice: an interaction that
// is under way, or that a process which died has left open, may have one already
// that the log does not know of yet. own is the interaction that asks, if one
// does.
func (t *Table) number(ctx context.Context, own string) (int, error) {
	pending, err := t.engine.Pending(ctx)
	if err != nil {
		return 0, engine.Halt(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := max(t.state.Seq, t.given)
	for _, p := range pending {
		if p.ID == own || strings.HasPrefix(p.Flow, flowJournal+"/") {
			continue
		}
		n++ // each writes one
		var in noteInput
		if json.Unmarshal(p.Input, &in) == nil {
			n = max(n, in.Event.Seq)
		}
	}
	t.given = n + 1
	return t.given, nil
}
