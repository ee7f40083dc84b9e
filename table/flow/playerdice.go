package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/engine"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/rolls"
)

// playerDice are the dice of a player who is asked.
func (c *cycle) playerDice(f frozen) *rolls.Player {
	var need []gm.Roll
	if p, err := table.ParsePrompt(f.Data, c.t.caps); err == nil {
		need = gm.RequiredRolls(p, f.Character)
	}
	return rolls.NewPlayer(f.Character, need, func(req gm.Roll, what string, fallen bool) (dice.Line, error) {
		id := fmt.Sprintf("%s %d %s %s", c.r.ID(), c.sub, f.Character, what)
		line, err := c.t.dice.Roll(req, id, c.number(), fallen)
		if err == nil {
			c.t.crash(fmt.Sprintf("rolled %d", line.N))
		}
		return line, err
	})
}

// lostRoll says that a roll was told of, and that no log has it any more.
func lostRoll(l dice.Line) string {
	return fmt.Sprintf("roll #%d of %s is void: %s", l.N, l.Who, l.Note)
}

// playersDice makes the rolls of players known when the last answer is in:
// those that the GM asked for to everybody, but for secret actions; the others
// to the player, and to the GM.
func (c *cycle) playersDice(answers []answer) error {
	var open []uint64
	for _, a := range answers {
		for _, f := range a.Rolled {
			if f.Asked && !a.Private {
				open = append(open, f.N)
			}
		}
	}
	if len(open) > 0 {
		_, err := engine.Do(c.r, fmt.Sprintf("reveal %d", c.turns), func(context.Context) (struct{}, error) {
			for _, n := range open {
				if _, err := c.t.dice.Reveal(n); err != nil && !errors.Is(err, dice.ErrLost) { // it was told as it fell
					return struct{}{}, engine.Halt(err)
				}
			}
			return struct{}{}, nil
		})
		if err != nil {
			return err
		}
	}
	for _, a := range answers {
		for _, f := range a.Rolled {
			c.rolls = append(c.rolls, f.N)
			c.telling.Rolled(a.Character, f.Line, slices.Contains(open, f.N))
		}
	}
	return nil
}

// addRolls adds the dice of an attempt. A further attempt rolls the same ones.
func (a *answer) addRolls(list []rolls.Fell) {
	for _, f := range list {
		if !slices.ContainsFunc(a.Rolled, func(g rolls.Fell) bool { return g.N == f.N }) {
			a.Rolled = append(a.Rolled, f)
		}
	}
}

// diceLines are a player's rolls as the GM reads them.
func (a answer) diceLines() string {
	var b strings.Builder
	for _, f := range a.Rolled {
		b.WriteString(f.Line.Told(dice.Viewer{GM: true}) + "\n")
	}
	return b.String()
}
