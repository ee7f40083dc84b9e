package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/seating"
	"conclave/table/told"
)

// gmTries: the same input once more, then a GM that has seen nothing but the
// pack, then the table waits.
const gmTries = 3

// hear takes one turn of the GM and everything that it asks for but the
// players.
func (c *cycle) hear(message string, about []table.Source) (gm.Intent, error) {
	c.turns++
	if len(about) == 0 {
		about = []table.Source{gm.EngineSource("engine:message", message)}
	}
	for try := 1; ; try++ {
		text := message
		if try == gmTries {
			c.gmRun = c.t.runID(c.r.ID(), fmt.Sprintf("gm-fresh-%d", c.turns))
			if c.turns > 1 {
				text = c.Message + "\n\nYou take over in the middle of this cycle. So far in it you have said:\n\n" +
					c.own() + "\n\n" + message
				about = slices.Concat(c.Sources, []table.Source{gm.EngineSource("engine:own", c.own())}, about)
			}
		}
		said, err := engine.Do(c.r, fmt.Sprintf("gm %d try %d", c.turns, try), func(ctx context.Context) (gm.Turn, error) {
			said, err := c.gmTurn(ctx, text, about)
			last := try == gmTries || !seating.Again(err)
			if engine.CodeOf(err) != "" && !last {
				c.t.show(Notice{Kind: "waiting again", Cycle: c.Cycle, Text: told.Waiting(try+1, gmTries)})
			}
			if err != nil && last {
				err = engine.Halt(fmt.Errorf("the GM gives no answer, the table waits: %w", err))
			}
			return said, err
		})
		if err == nil {
			return c.takeApart(said)
		}
		var failure *engine.Failure
		if !errors.As(err, &failure) {
			return gm.Intent{}, err
		}
		c.Warn = append(c.Warn, told.NoAnswer(c.turns, try, failure.Message))
	}
}

// own is what the GM has said in this cycle.
func (c *cycle) own() string {
	var parts []string
	for _, b := range c.telling.Blocks() {
		parts = append(parts, fmt.Sprintf("(for %s) %s", b.Audience, b.Text))
	}
	return strings.Join(parts, "\n\n")
}

func (c *cycle) gmTurn(ctx context.Context, text string, about []table.Source) (gm.Turn, error) {
	s := c.t.seats.GM(c.gmRun, about)
	s.Before, s.Tools = c.tools.begin, gm.Tools(c.tools.handle)
	id := c.turnID()
	if _, err := s.Ask(ctx, id, text); err != nil {
		return gm.Turn{}, err
	}
	said, err := c.t.seats.Turn(c.gmRun, id)
	if err != nil {
		return gm.Turn{}, engine.Halt(err)
	}
	if said.Silent() {
		return gm.Turn{}, &seating.TurnError{Reason: table.ReasonEmpty, Text: "the GM said nothing"}
	}
	return said, c.t.people.Drop(string(policy.GM), said.Text)
}

// turnID is the id of the GM's turn that is to be taken now: one in which it said
// nothing is over, and another begins.
func (c *cycle) turnID() string {
	id := fmt.Sprintf("t%d", c.turns)
	for n := 2; ; n++ {
		past, err := c.t.seats.Turn(c.gmRun, id)
		if err != nil || past.ID == "" || !past.Silent() {
			return id
		}
		id = fmt.Sprintf("t%d-%d", c.turns, n)
	}
}

// reader reads what the GM says in this cycle.
func (c *cycle) reader(rolled func(json.RawMessage) (dice.Line, error)) gm.Reader {
	return gm.Reader{Campaign: c.t.opts.Campaign, Roster: c.Roster, Caps: c.t.caps, OwnLines: c.first, Rolled: rolled}
}

// takeApart reads a turn and does what needs nobody else: files, statuses, the
// scene.
func (c *cycle) takeApart(said gm.Turn) (gm.Intent, error) {
	// What fell during the turn is read by asking again, by the same ids.
	again := gmTools{c: c, over: true}
	again.begin(cmp.Or(said.ID, fmt.Sprintf("t%d", c.turns)))
	o := c.reader(again.roll).Read(said)
	if again.broken != nil { // else a roll that the GM has told of would be nowhere
		return o, engine.Halt(again.broken)
	}
	for _, l := range again.lost {
		c.Remark(l)
	}
	c.rolls = append(c.rolls, o.Fallen...)
	c.Tell = append(c.Tell, o.Notes...)
	c.telling.Guard(&o)
	for _, text := range o.Withheld {
		c.withhold(text)
	}
	c.ended = c.ended || o.End
	for _, s := range o.Statuses {
		c.setStatus(s.Character, s.Status)
	}
	if o.Scene != nil {
		next := c.sceneNow().Next(o.Scene.Title, o.Scene.Place)
		c.scene = &next
	}
	o.Faults = append(o.Faults, c.telling.Tell(o.Told)...)
	return o, c.writeFiles(&o)
}

// setStatus changes a character's status from now on.
func (c *cycle) setStatus(who string, status table.Status) {
	c.status[who] = status
	for i := range c.Roster.Characters {
		if c.Roster.Characters[i].Slug == who {
			c.Roster.Characters[i].Status = status
		}
	}
}

// withhold keeps words that nobody is told for the log.
func (c *cycle) withhold(text string) {
	text = strings.TrimSpace(text)
	if text != "" && c.withheld != "" {
		c.withheld += "\n\n"
	}
	c.withheld += text
}

// roll lets the dice fall that an output asks for, and puts them into the
// narrative. The lines are for the GM.
func (c *cycle) roll(o gm.Intent) ([]string, error) {
	if c.diced && len(o.Rolls) > 0 {
		c.Warn = append(c.Warn, fmt.Sprintf("%d rolls beyond the bound of %d rounds were not made", len(o.Rolls), maxRollRounds))
		return nil, nil
	}
	if len(o.Rolls) == 0 {
		return nil, nil
	}
	lines, err := engine.Do(c.r, fmt.Sprintf("dice %d", c.turns), func(context.Context) ([]dice.Line, error) {
		var out []dice.Line
		for i, req := range o.Rolls {
			line, err := c.t.dice.Roll(*req, fmt.Sprintf("%s t%d %d", c.r.ID(), c.turns, i), c.number(), false)
			if err != nil {
				return nil, engine.Halt(err)
			}
			out = append(out, line)
			c.t.crash(fmt.Sprintf("rolled %d", line.N))
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	var told []string
	for _, l := range lines {
		c.rolls = append(c.rolls, l.N)
		told = append(told, l.Told(dice.Viewer{GM: true}))
	}
	c.telling.Fell(o.Rolls, lines)
	return told, nil
}

// number is the cycle's number, with the sub-cycle's.
func (c *cycle) number() string {
	if c.sub == 0 {
		return fmt.Sprint(c.Cycle)
	}
	return fmt.Sprintf("%d.%d", c.Cycle, c.sub)
}
