package flow

import (
	"slices"
	"strings"

	"conclave/policy"
	"conclave/table"
	"conclave/table/told"
)

// remark shows a remark of the engine: to a game master who is a person as it
// is, to anybody else that there is one, if somebody has to act on it.
func (t *Table) remark(cycle int, text string) {
	n := Notice{Kind: "note", Cycle: cycle, Text: text}
	if thing, ok := told.OfRemark(text, cycle); ok && t.gmIsAgent() {
		n.Others = strings.ToUpper(thing.To(table.SeatTable, true)[:1]) + thing.To(table.SeatTable, true)[1:] +
			": conclave table status " + t.opts.Campaign
	}
	t.show(n)
}

func (t *Table) gmIsAgent() bool {
	actor, err := t.opts.Cast(policy.GM, "", false)
	return err == nil && !actor.Person
}

// tellUnseated tells everybody of a file of party/ that is nobody's seat since
// the table was opened; of the others the report at the beginning tells.
func (t *Table) tellUnseated(r table.Roster) {
	t.mu.Lock()
	before := t.unfit
	t.unfit = append([]string{}, r.Problems...)
	t.mu.Unlock()
	for _, thing := range told.OfRoster(r) {
		if before != nil && !slices.ContainsFunc(before, func(p string) bool { return strings.HasSuffix(thing.Text, p) }) {
			t.show(Notice{Kind: "unseated", Text: thing.Text})
		}
	}
}
