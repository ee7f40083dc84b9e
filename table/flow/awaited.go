package flow

import (
	"context"
	"fmt"

	"conclave/engine"
	"conclave/table"
	"conclave/table/story"
)

// lastWords takes what people have left since they answered: until all have, each
// may change an answer, and from then on none (I6). What they say then is on the
// record as what they said first is, which is sealed now. One that cannot stand
// changes nothing.
func (c *cycle) lastWords(list []frozen, answers []answer) error {
	var people []int
	for i, f := range list {
		if c.Persons[f.Character] && answers[i].Outcome != story.OutcomeError {
			people = append(people, i)
		}
	}
	if c.first || len(people) == 0 {
		return nil
	}
	step := fmt.Sprintf("last words %d", c.turns)
	later, err := engine.Do(c.r, step, func(ctx context.Context) (map[string]string, error) {
		said := map[string]string{}
		for _, i := range people {
			words, changed, err := c.lastOf(ctx, list[i])
			if err != nil {
				return nil, err
			}
			if changed {
				said[list[i].Character] = words
			}
		}
		return said, nil
	})
	if err != nil {
		return err
	}
	for _, i := range people {
		f := list[i]
		text, ok := later[f.Character]
		if !ok {
			continue
		}
		a := answers[i]
		a.Discarded = ""
		if reason, _ := c.judge(&a, table.SplitTurn(text), f); reason != "" {
			continue
		}
		answers[i] = a
		c.Warn = append(c.Warn, f.Character+" changed its answer before all had answered")
		if err := c.t.people.Drop(f.Character, text); err != nil {
			return err
		}
	}
	return nil
}

// lastOf is what a person has left since they answered, if they have, and the end
// of their record.
func (c *cycle) lastOf(ctx context.Context, f frozen) (words string, changed bool, err error) {
	text, left, err := c.t.people.Draft(f.Character)
	if err != nil {
		return "", false, engine.Halt(err)
	}
	run := c.playerRun(f.Character)
	words, err = c.t.people.Said(f.Character, text)
	if changed = left && err == nil; changed {
		s, _, err := c.seatPlayer(ctx, f, c.playerDice(f))
		if err != nil {
			return "", false, engine.Halt(err)
		}
		s.Said = words
		if err := c.t.seats.Set.Leave(run); err != nil { // who sits there next has said it already
			return "", false, engine.Halt(err)
		}
		took, err := s.Ask(ctx, "again",
			"Event: again\n\nUntil all have answered you may answer differently, and you do.\n")
		if err != nil {
			return "", false, err
		}
		words = took.Reply.Text
	}
	return words, changed, engine.Halt(c.t.seats.Close(run))
}
