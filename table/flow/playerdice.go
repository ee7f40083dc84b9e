package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"conclave/dice"
	"conclave/engine"
	"conclave/table"
	"conclave/table/gm"
	"conclave/toolbox"
)

// playerTools is what a player's tool works on: dice for its own character, and
// for nobody else. What the prompt asks for is open to everybody once all the
// answers are in; whatever else a player wants to know of its own heart stays
// between it and the GM. Until then nobody else sees either.
type playerTools struct {
	c    *cycle
	who  string
	need []gm.Roll // that the prompt asks for

	mu   sync.Mutex // as in gmTools
	done []bool     // of what is needed, in this attempt
	own  map[string]int
}

func newPlayerTools(c *cycle, f frozen) *playerTools {
	d := &playerTools{c: c, who: f.Character}
	if p, err := table.ParsePrompt(f.Data, c.t.caps); err == nil {
		d.need = gm.RequiredRolls(p, f.Character)
	}
	d.begin("")
	return d
}

// begin: every attempt rolls the same dice anew, by the same ids. Nobody gets
// another number by being killed, or by an answer that could not stand.
func (d *playerTools) begin(string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done, d.own = make([]bool, len(d.need)), map[string]int{}
}

// playerRollInput is what a player says of a roll.
type playerRollInput struct {
	Expr    string `json:"expr"`
	Purpose string `json:"purpose"`
	Adv     bool   `json:"advantage"`
	Dis     bool   `json:"disadvantage"`
}

func (d *playerTools) list() []toolbox.Tool {
	return []toolbox.Tool{{
		Name: "roll",
		Description: "Let dice fall for your own character; the result is told at once. " +
			"What the request asks for under \"" + gm.RollSection + "\" everybody will see; " +
			"any other roll, about your own character's heart, only you and the game master.",
		Schema: json.RawMessage(`{"type":"object","required":["expr"],"additionalProperties":false,"properties":{` +
			`"expr":{"type":"string","description":"as 1d20+3"},"purpose":{"type":"string","description":"what for"},` +
			`"advantage":{"type":"boolean"},"disadvantage":{"type":"boolean"}}}`),
		Handle: func(_ context.Context, in json.RawMessage) (string, error) {
			f, err := d.roll(in)
			if err != nil {
				return "", err
			}
			return f.Line.Told(dice.Viewer{Name: d.who}), nil
		},
	}}
}

// playerRoll is a roll of a player.
type playerRoll struct {
	dice.Line
	Asked bool `json:"asked"` // by the GM: it will be open
}

func (d *playerTools) roll(in json.RawMessage) (playerRoll, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var input playerRollInput
	if err := json.Unmarshal(in, &input); err != nil {
		return playerRoll{}, err
	}
	roll, err := dice.Parse(input.Expr)
	if err != nil {
		return playerRoll{}, err
	}
	for i, r := range d.need {
		if want, err := dice.Parse(r.Expr); err == nil && !d.done[i] && want.String() == roll.String() {
			return d.rollNeeded(i)
		}
	}
	key := fmt.Sprint(roll.String(), input.Adv, input.Dis)
	n := d.own[key] + 1
	if total := len(d.need) + sum(d.own); total >= gm.MaxPlayerRolls {
		return playerRoll{}, fmt.Errorf("%d rolls are enough for one request: answer with what there is", gm.MaxPlayerRolls)
	}
	line, err := d.fall(gm.Roll{Expr: input.Expr, Purpose: gm.Clip(input.Purpose, 200), Adv: input.Adv, Dis: input.Dis},
		fmt.Sprintf("own %s %d", table.Hash([]byte(key))[:16], n))
	if err == nil {
		d.own[key] = n
	}
	return playerRoll{Line: line}, err
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// rollNeeded lets the i-th roll fall that the prompt asks for.
func (d *playerTools) rollNeeded(i int) (playerRoll, error) {
	line, err := d.fall(d.need[i], fmt.Sprintf("needed %d", i))
	d.done[i] = err == nil
	return playerRoll{Line: line, Asked: true}, err
}

// fall rolls for this character. It is private for now: before the barrier
// nobody learns what a player is about.
func (d *playerTools) fall(req gm.Roll, what string) (dice.Line, error) {
	req.Who, req.Visibility = d.who, dice.Private
	line, err := d.c.t.rollDice(req, fmt.Sprintf("%s %d %s %s", d.c.r.ID(), d.c.sub, d.who, what), d.c.number())
	if err != nil {
		return line, err
	}
	d.c.t.crash(fmt.Sprintf("rolled %d", line.N))
	if line.Event == dice.EventVoid {
		return line, errors.New(line.Note)
	}
	return line, nil
}

// fallen are the rolls of a turn that has ended, from its record.
func (d *playerTools) fallen(run, turn string) ([]playerRoll, error) {
	said, err := d.c.t.turn(run, turn)
	if err != nil || len(said.Calls) == 0 {
		return nil, err
	}
	d.begin(turn)
	var out []playerRoll
	for _, call := range said.Calls {
		if f, err := d.roll(call.Input); err == nil { // by the same id: it is read
			out = append(out, f)
		}
	}
	return out, nil
}

// rest lets the dice fall that the GM asked for and the player did not roll:
// it has no tools, or is a person, or forgot.
func (d *playerTools) rest() ([]playerRoll, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []playerRoll
	for i := range d.need {
		if d.done[i] {
			continue
		}
		f, err := d.rollNeeded(i)
		if f.Event == dice.EventVoid {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
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
				if _, err := c.t.Reveal(n); err != nil {
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
func (a *answer) addRolls(list []playerRoll) {
	for _, f := range list {
		if !slices.ContainsFunc(a.Rolled, func(g playerRoll) bool { return g.N == f.N }) {
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
