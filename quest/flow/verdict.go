package flow

import (
	"context"
	"fmt"
	"slices"

	"conclave/agent"
	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/record"
)

// judge lets the evaluator look and takes its verdict.
func (v *evaluation) judge() error { return v.c.Judge(v) }

// Assess implements judging.Seat.
func (v *evaluation) Assess(framing string) (agent.Reply, bool, error) {
	return v.t.say(framing, v.in.Words)
}

// Request implements judging.Seat.
func (v *evaluation) Request(id, words string, schema []byte) (agent.Reply, bool, error) {
	return v.t.request(id, words, schema)
}

// Submitted implements judging.Seat.
func (v *evaluation) Submitted() ([]byte, error) {
	return engine.Do(v.r, "submitted", func(context.Context) ([]byte, error) {
		past, err := v.h.seats.History(v.e.Opening.Run)
		if err != nil {
			return nil, engine.Halt(err)
		}
		return past.Turn(v.t.turns[0]).Handed(judging.ToolName), nil
	})
}

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
	why := "no checkpoint was held here yet"
	if role == policy.Dragon {
		why = "the Dragon has not been faced here yet"
	}
	return nil, fmt.Errorf("there is no verdict of the %s to discuss: %s", role, why)
}
