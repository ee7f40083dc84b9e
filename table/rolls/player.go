package rolls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"conclave/dice"
	"conclave/table"
	"conclave/table/gm"
	"conclave/toolbox"
)

// Player is what a player's tool works on: dice for its own character, and
// for nobody else. What the prompt asks for is open to everybody once all the
// answers are in; whatever else a player wants to know of its own heart stays
// between it and the GM. Until then nobody else sees either.
type Player struct {
	who  string
	need []gm.Roll // that the prompt asks for
	fall Fall

	// A program that was given up may still be calling when the next attempt begins.
	mu   sync.Mutex
	done []bool // of what is needed, in this attempt
	own  map[string]int
}

// Fall lets a roll fall; what tells the rolls of one request apart. One that has
// fallen before is read.
type Fall func(req gm.Roll, what string, fallen bool) (dice.Line, error)

// NewPlayer is the dice of a character who is asked.
func NewPlayer(who string, need []gm.Roll, fall Fall) *Player {
	d := &Player{who: who, need: need, fall: fall}
	d.Begin("")
	return d
}

// Begin: every attempt rolls the same dice anew, by the same ids. Nobody gets
// another number by being killed, or by an answer that could not stand.
func (d *Player) Begin(string) {
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

// Tools is the one that a player has.
func (d *Player) Tools() []toolbox.Tool {
	return []toolbox.Tool{{
		Name: "roll",
		Description: "Let dice fall for your own character; the result is told at once. " +
			"What the request asks for under \"" + gm.RollSection + "\" everybody will see; " +
			"any other roll, about your own character's heart, only you and the game master.",
		Schema: json.RawMessage(`{"type":"object","required":["expr"],"additionalProperties":false,"properties":{` +
			`"expr":{"type":"string","description":"as 1d20+3"},"purpose":{"type":"string","description":"what for"},` +
			`"advantage":{"type":"boolean"},"disadvantage":{"type":"boolean"}}}`),
		Handle: func(_ context.Context, in json.RawMessage) (string, error) {
			f, err := d.roll(in, false)
			if err != nil {
				return "", err
			}
			return f.Line.Told(dice.Viewer{Name: d.who}), nil
		},
	}}
}

// Fell is a roll of a player.
type Fell struct {
	dice.Line
	Asked bool `json:"asked"` // by the GM: it will be open
}

func (d *Player) roll(in json.RawMessage, fallen bool) (Fell, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var input playerRollInput
	if err := json.Unmarshal(in, &input); err != nil {
		return Fell{}, err
	}
	roll, err := dice.Parse(input.Expr)
	if err != nil {
		return Fell{}, err
	}
	for i, r := range d.need {
		if want, err := dice.Parse(r.Expr); err == nil && !d.done[i] && want.String() == roll.String() {
			return d.rollNeeded(i, fallen)
		}
	}
	key := fmt.Sprint(roll.String(), input.Adv, input.Dis)
	n := d.own[key] + 1
	if total := len(d.need) + sum(d.own); total >= gm.MaxPlayerRolls {
		return Fell{}, fmt.Errorf("%d rolls are enough for one request: answer with what there is", gm.MaxPlayerRolls)
	}
	line, err := d.private(gm.Roll{Expr: input.Expr, Purpose: gm.Clip(input.Purpose, 200), Adv: input.Adv, Dis: input.Dis},
		fmt.Sprintf("own %s %d", table.Hash([]byte(key))[:16], n), fallen)
	if err == nil {
		d.own[key] = n
	}
	return Fell{Line: line}, err
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// rollNeeded lets the i-th roll fall that the prompt asks for.
func (d *Player) rollNeeded(i int, fallen bool) (Fell, error) {
	line, err := d.private(d.need[i], fmt.Sprintf("needed %d", i), fallen)
	d.done[i] = err == nil
	return Fell{Line: line, Asked: true}, err
}

// private rolls for this character. It is private for now: before the barrier
// nobody learns what a player is about.
func (d *Player) private(req gm.Roll, what string, fallen bool) (dice.Line, error) {
	req.Who, req.Visibility = d.who, dice.Private
	line, err := d.fall(req, what, fallen)
	if err == nil && line.Event == dice.EventVoid {
		err = errors.New(line.Note)
	}
	return line, err
}

// Fallen are the rolls of a turn that has ended, from the calls on its record, and
// those that the log has lost since.
func (d *Player) Fallen(calls []gm.Call) (fell, lost []Fell) {
	if len(calls) == 0 {
		return nil, nil
	}
	d.Begin("")
	for _, call := range calls {
		f, err := d.roll(call.Input, true) // by the same id
		switch {
		case err == nil:
			fell = append(fell, f)
		case f.Event == dice.EventVoid:
			lost = append(lost, f)
		}
	}
	return fell, lost
}

// Rest lets the dice fall that the GM asked for and the player did not roll:
// it has no tools, or is a person, or forgot.
func (d *Player) Rest() ([]Fell, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Fell
	for i := range d.need {
		if d.done[i] {
			continue
		}
		f, err := d.rollNeeded(i, false)
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
