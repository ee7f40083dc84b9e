package flow

import (
	"context"
	"fmt"

	"conclave/engine"
	"conclave/table"
	"conclave/table/story"
)

// lastWords takes what people have left since they answered: until all have, each
// may change an answer, and from then on none (I6). One that cannot stand changes
// nothing.
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
	later, err := engine.Do(c.r, step, func(context.Context) (map[string]string, error) {
		said := map[string]string{}
		for _, i := range people {
			who := list[i].Character
			text, ok, err := c.t.people.Draft(who)
			if err != nil {
				return nil, engine.Halt(err)
			}
			if words, err := c.t.people.Said(who, text); ok && err == nil {
				said[who] = words
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
