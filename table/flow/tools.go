package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"conclave/dice"
	"conclave/table"
	"conclave/table/gm"
)

// gmTools is what a GM's tools work on. All but roll are only checked when they
// are called: what they ask for is taken from the record when the turn has
// ended, so that a turn which was cut has done nothing. A program that was
// given up may still be calling when the next attempt begins: hence the mutex.
type gmTools struct {
	c *cycle

	mu     sync.Mutex
	turn   string
	dice   map[string]int // equal rolls of the turn so far
	broken error          // the dice log does not hold
	handed bool           // the players are to be asked: the turn is over
	over   bool           // the turn has ended, and its dice have fallen
	lost   []string       // those that the log has lost since
}

func (d *gmTools) begin(turn string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn, d.dice, d.handed = turn, map[string]int{}, false
}

// handle checks a call and says what will come of it. As nothing behind a
// signal counts, nothing is taken after await_players.
func (d *gmTools) handle(name string, in json.RawMessage) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handed {
		return "", errors.New("not taken: await_players was called, and nothing counts after it. " +
			"Say nothing more and end the turn")
	}
	if name == "roll" {
		line, err := d.roll(in)
		if err != nil {
			return "", err
		}
		d.c.t.crash(fmt.Sprintf("rolled %d", line.N))
		return line.Told(dice.Viewer{GM: true}), nil
	}
	o := d.c.reader(nil).Read(gm.Turn{Calls: []gm.Call{{Tool: name, Input: in}}})
	for _, fault := range d.c.checkFiles(o.Files) {
		o.Faults = append(o.Faults, fault)
	}
	if len(o.Faults) > 0 {
		return "", fmt.Errorf("%s", strings.Join(o.Faults, "; "))
	}
	switch name {
	case "narrate":
		if len(o.Told) == 0 {
			return "", errors.New("there is nothing to narrate: the text is empty")
		}
	case "write_prompt":
		if _, err := table.ParsePrompt([]byte(o.Files[0].Text), d.c.t.caps); err != nil {
			return "", fmt.Errorf("not taken: %w", err)
		}
	case "await_players":
		if _, bad := d.c.checkSignal(o.Signal); bad != nil {
			return "", fmt.Errorf("%s", bad.Repair())
		}
		d.handed = true
		return "They are asked when this turn has ended. Say nothing more and end it.", nil
	}
	return "taken when this turn has ended", nil
}

func (d *gmTools) roll(in json.RawMessage) (dice.Line, error) {
	var req gm.Roll
	if err := json.Unmarshal(in, &req); err != nil {
		return dice.Line{}, err
	}
	if _, err := dice.Parse(req.Expr); err != nil {
		return dice.Line{}, err
	}
	if err := req.Check(d.c.Roster); err != nil {
		return dice.Line{}, err
	}
	line, err := d.c.t.dice.Roll(req, d.rollID(req), d.c.number(), d.over)
	if err == nil && d.over && line.Event == dice.EventVoid {
		d.lost = append(d.lost, lostRoll(line))
	}
	if errors.As(err, new(*dice.DamageError)) {
		d.broken = err
	}
	return line, err
}

// rollID is the same for the same roll of the same turn, however often the turn
// is asked and however the input is spelt: nobody gets another number by being
// killed.
func (d *gmTools) rollID(req gm.Roll) string {
	in, err := json.Marshal(req)
	if err != nil {
		panic(err) // it is plain data
	}
	d.dice[string(in)]++
	return fmt.Sprintf("%s %s tool %s %d", d.c.r.ID(), d.turn, table.Hash(in)[:16], d.dice[string(in)])
}
