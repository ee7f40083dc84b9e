package flow

import (
	"context"
	"fmt"
	"strings"

	"conclave/engine"
	"conclave/table"
	"conclave/table/gm"
)

// maxHuddles bounds how often players may talk among themselves in one cycle.
const maxHuddles = 2

// huddle lets characters talk among themselves, and returns what they said for
// the GM. What keeps them from it is a fault.
func (c *cycle) huddle(o *gm.Intent) (string, error) {
	h := o.Huddle
	switch {
	case h == nil:
		return "", nil
	case o.Signal.Found:
		o.Faults = append(o.Faults, "HUDDLE: not together with a signal: let them talk first, and ask when they have")
		return "", nil
	case c.huddles >= maxHuddles || c.calls+h.Rounds*len(h.Names) > c.t.caps.Calls:
		o.Faults = append(o.Faults, "HUDDLE: the talks of this cycle are spent; go on without")
		return "", nil
	}
	c.huddles++
	leaks, err := engine.Do(c.r, fmt.Sprintf("huddle %d", c.turns), func(context.Context) ([]string, error) {
		var out []string
		for _, who := range h.Names {
			f := c.huddlePrompt(*h, who, "")
			if err := c.guard(&f); err != nil {
				return nil, engine.Halt(err)
			}
			for _, l := range f.Leaks {
				out = append(out, fmt.Sprintf("HUDDLE: it says what %s may not know: %s", who, l))
			}
		}
		if len(out) == 0 {
			c.t.show(Notice{Kind: "pause", Cycle: c.Cycle, Text: "The table pauses."})
		}
		return out, nil
	})
	if err != nil || len(leaks) > 0 {
		o.Faults = append(o.Faults, leaks...)
		return "", err
	}
	return c.talkAmong(*h)
}

// talkAmong asks one after the other, each hearing those before, until the rounds
// are over or nobody had anything to add.
func (c *cycle) talkAmong(h gm.Huddle) (string, error) {
	var forGM, said []string
	for round := 1; round <= h.Rounds; round++ {
		spoke := false
		for _, who := range h.Names {
			f := c.huddlePrompt(h, who, strings.Join(said, "\n\n"))
			place := fmt.Sprintf("huddle-%d-%d", c.turns, round)
			words, err := engine.Do(c.r, place+" "+who, func(ctx context.Context) (string, error) {
				return c.huddleTurn(ctx, f, place)
			})
			if err != nil {
				return "", err
			}
			c.calls++
			if words == "" {
				continue
			}
			spoke = true
			said = append(said, c.Roster.NameOf(who)+": "+words)
			forGM = append(forGM, table.QuoteForGM(c.Delimiter, who, "words", words))
			c.telling.Add(table.Block{Audience: h.Audience(), Text: said[len(said)-1]})
		}
		if !spoke {
			break
		}
	}
	if len(said) == 0 {
		return "They had nothing to say to each other.\n", nil
	}
	return "They talked among themselves, and nobody but you heard it. Go on; what they said has been said.\n\n" +
		strings.Join(forGM, "\n"), nil
}

func (c *cycle) huddlePrompt(h gm.Huddle, who, said string) frozen {
	data := h.Prompt(who, c.sceneNow().Describe(), said, c.Roster)
	return frozen{Character: who, Data: data, Hash: table.Hash(data), Type: table.QuickReaction}
}

// huddleTurn asks one of them. Whoever gives no answer has nothing to add.
func (c *cycle) huddleTurn(ctx context.Context, f frozen, place string) (string, error) {
	select {
	case c.t.slots <- struct{}{}:
		defer func() { <-c.t.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	view, err := c.t.playerView(ctx, c, f)
	if err != nil {
		return "", engine.Halt(err)
	}
	s := c.t.seats.Player(c.t.runID(c.r.ID(), place, f.Character), f.Character, view)
	s.Private = true
	took, err := s.Ask(ctx, "t1", c.playerMessage(f, view))
	if err != nil && engine.CodeOf(err) == "" {
		return "", err
	}
	words := ""
	if err == nil {
		if err := c.t.people.Drop(f.Character, took.Reply.Text); err != nil {
			return "", engine.Halt(err)
		}
		r := table.ParseResponse(table.SplitTurn(took.Reply.Text).Response, f.Type, c.t.caps)
		if r.Kind != table.Veto && r.Kind != table.TooLong {
			words = gm.Spoken(r.Text)
		}
	}
	return words, engine.Halt(c.t.seats.Close(s.Run))
}
