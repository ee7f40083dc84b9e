package flow

import (
	"context"
	"fmt"
	"slices"

	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
	"conclave/record"
)

// lastVerdict is the outcome of the last evaluation by a role, from its
// record: the file may hold any heading.
func (h *House) lastVerdict(role policy.Role) ([]byte, error) {
	list, err := record.List(record.Dir(h.opts.Root))
	if err != nil {
		return nil, err
	}
	want := quest.PurposeCheckpoint
	if role == policy.Dragon {
		want = quest.PurposeConfrontation
	}
	for _, info := range slices.Backward(list) {
		rec, err := readRecord(info.Path)
		if err != nil {
			continue // `conclave audit` speaks of damaged records
		}
		if rec.filed != nil && rec.Header.Attributes["role"] == string(role) && rec.filed.Purpose == want {
			return []byte(rec.filed.Outcome + "\n"), nil
		}
	}
	return nil, fmt.Errorf("there is no verdict of the %s to discuss: nothing was evaluated here yet", role)
}

func (h *House) verdictStep(r *engine.Run, role policy.Role) ([]byte, error) {
	return engine.Do(r, "verdict that stands", func(context.Context) ([]byte, error) { return h.lastVerdict(role) })
}
