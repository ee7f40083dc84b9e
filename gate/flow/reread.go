package flow

import (
	"fmt"
	"io"

	"conclave/agent"
	"conclave/audit"
	"conclave/quest"
	"conclave/receipt"
	"conclave/seat"
)

// Reread is what the record of a judge says of it, read as the gate has read it:
// what it was given, what held it, what its model was sent, and its verdict, taken
// from its words by the rules by which it was asked. It needs neither the
// workspace nor the work: places that are cited are not looked up. stated is that
// judge in the receipt whose body b is.
func Reread(src io.ReaderAt, b *receipt.Body, stated receipt.Judge) (*receipt.Judge, error) {
	j := &receipt.Judge{Number: stated.Number, Run: stated.Run, Head: stated.Head, Frames: stated.Frames,
		Provider: stated.Provider, Instructions: stated.Instructions, Denied: stated.Denied, Given: []audit.Item{}}
	history, err := read(src, j)
	if err != nil {
		return nil, err
	}
	a := &answers{history: func() *seat.History { return history }}
	a.take = func(t seat.Turn) (agent.Reply, bool, error) {
		past := history.Turn(t.ID)
		if !past.Finished {
			a.none = fmt.Sprintf("its record has no answer to %q", t.ID)
		}
		return past.Reply, past.Finished, nil
	}
	c := caseOf(b.Case, criteriaOf(b.Case.Criteria), results(b.Checks))
	err = a.hear(c)
	result(j, c, err, func(string) int { return -1 })
	return j, nil
}

// results are those of checks that a receipt has.
func results(list []receipt.Check) []quest.CheckResult {
	var out []quest.CheckResult
	for _, k := range list {
		out = append(out, quest.CheckResult{Number: k.Number, State: quest.CheckState(k.State), Note: k.Note})
	}
	return out
}

// criteriaOf are the criteria that were judged: those of the text, which has more
// of them than the list, where both agree.
func criteriaOf(k receipt.Criteria) []quest.Criterion {
	list, err := quest.ReadCriteria("the text", []byte(k.Text))
	if err == nil && len(list) == len(k.List) {
		return list
	}
	list = nil
	for _, c := range k.List {
		list = append(list, quest.Criterion{Number: c.Number, Text: c.Text, Check: c.Check})
	}
	return list
}
