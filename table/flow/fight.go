package flow

import (
	"context"
	"fmt"

	"conclave/dice"
	"conclave/engine"
	"conclave/table"
	"conclave/table/combat"
	"conclave/table/gm"
)

// fight does what a turn of the GM does to a fight, and tells it. What cannot be
// done becomes a fault. The lines, if dice fell, are for the GM.
func (c *cycle) fight(o *gm.Intent) (lines []string, err error) {
	for i, cmd := range o.Combat {
		if owners := c.telling.Owners(cmd.Text, c.Roster.Slugs()); len(owners) > 0 {
			o.Faults = append(o.Faults, "combat "+cmd.Verb+": it repeats what was said in secret; say it in other words")
			continue
		}
		need, err := c.combat.Needs(cmd, c.inParty)
		if err != nil {
			o.Faults = append(o.Faults, err.Error())
			continue
		}
		fell, err := c.combatDice(need, i)
		if err != nil {
			return nil, err
		}
		for _, l := range fell {
			lines = append(lines, l.Told(dice.Viewer{GM: true}))
		}
		done, err := c.combat.Do(cmd, faces(fell), c.inParty)
		if err != nil {
			return nil, engine.Halt(err)
		}
		c.combat, c.fought = done.State, true
		for _, who := range done.Died {
			if c.inParty(who) {
				c.setStatus(who, table.Dead)
			}
		}
		for _, l := range done.Lines {
			c.telling.Add(table.Block{Audience: table.Audience{Party: !l.GM}, Text: l.Text})
			if len(fell) > 0 {
				lines = append(lines, l.Text)
			} else {
				c.Tell = append(c.Tell, l.Text)
			}
		}
	}
	return lines, nil
}

func (c *cycle) inParty(who string) bool {
	_, ok := c.Roster.Get(who)
	return ok
}

// combatDice lets the dice of a command fall, once.
func (c *cycle) combatDice(need []combat.Die, number int) ([]dice.Line, error) {
	if len(need) == 0 {
		return nil, nil
	}
	lines, err := engine.Do(c.r, fmt.Sprintf("combat %d %d", c.turns, number),
		func(context.Context) ([]dice.Line, error) {
			var out []dice.Line
			for i, d := range need {
				req := gm.Roll{Expr: d.Expr, Who: d.Who, Purpose: d.Purpose, Visibility: dice.Open}
				if d.DC > 0 {
					dc := int64(d.DC)
					req.DC = &dc
				}
				if d.Hidden {
					req.Visibility, req.Who, req.Purpose = dice.Visibility("sealed"), "gm", "for a fighter who is not seen"
				}
				id := fmt.Sprintf("%s t%d combat %d %d", c.r.ID(), c.turns, number, i)
				line, err := c.t.dice.Roll(req, id, c.number(), false)
				if err != nil {
					return nil, engine.Halt(err)
				}
				out = append(out, line)
				c.t.crash(fmt.Sprintf("rolled %d", line.N))
			}
			return out, nil
		})
	for _, l := range lines {
		c.rolls = append(c.rolls, l.N)
		c.telling.Add(table.Block{Audience: table.Audience{Party: true}, Text: l.Told(dice.Viewer{})})
	}
	return lines, err
}

func faces(lines []dice.Line) []combat.Fell {
	out := make([]combat.Fell, len(lines))
	for i, l := range lines {
		if len(l.Results) > 0 {
			out[i] = combat.Fell{Total: l.Results[0].Total, Natural: l.Results[0].Natural}
		}
	}
	return out
}
