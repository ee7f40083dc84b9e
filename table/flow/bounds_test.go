package flow

import (
	"context"
	"strings"
	"testing"

	"conclave/table"
	"conclave/table/calls"
)

// TestRollsEnd: a game master who waits for dice again and again is told the last
// of them, and to narrate; the log says why.
func TestRollsEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	gm := r.listening("gm", "always on Event\n  say [ROLL: 1d6 | gm | luck]\n")
	r.say(start)
	e := r.lastCommit()
	eq(t, "rolls", len(e.Rolls), maxRollRounds+1)
	eq(t, "messages", len(gm.heard), maxRollRounds+2)
	last := gm.heard[len(gm.heard)-1]
	has(t, "last", last, "Event: narrate")
	has(t, "last", last, "Roll #13 · gm · luck")
	has(t, "log", strings.Join(e.Warnings, "\n"), "the GM waited for dice 13 times in one cycle")
	has(t, "log", strings.Join(e.Warnings, "\n"), "1 rolls beyond the bound of 12 rounds were not made")
}

// TestCallsAreBounded: further attempts are calls, too.
func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	calls := 0
	r.opts.Caps.Calls, r.opts.Caps.Parallel = 5, 1
	r.agents[tilda] = &talker{reply: func(context.Context, string) (string, error) { calls++; return "", nil }}
	gm := r.listening("gm", "always on Event\n  say <<EOT\n"+prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]\nEOT\n")
	r.say(start)
	eq(t, "calls", calls, 5)
	has(t, "last message", gm.heard[len(gm.heard)-1], "5 calls are spent: narrate now.")
	has(t, "log", strings.Join(r.lastCommit().Warnings, "\n"), "tilda-brannock was not asked again: 5 calls are spent")
}

// TestWaitingForThoseAsked: screens name whom the table waits for, and nobody who
// was not asked.
func TestWaitingForThoseAsked(t *testing.T) {
	t.Parallel()
	waiting := func(r *rig) (out []string) {
		for _, n := range r.notices {
			if n.Kind == "waiting" || n.Kind == "pause" {
				out = append(out, n.For(table.SeatTable))
			}
		}
		return out
	}
	leak := strings.Replace(prompt(tilda, "QUICK_REACTION"), "A splash below.", "<!-- gm -->x<!-- /gm -->", 1)
	for name, x := range map[string]struct {
		files, signal string
		want          []string
	}{
		"one of two":  {prompt(gideon, "QUICK_REACTION"), "tilda-brannock, gideon-harrowmoor", []string{"Waiting for Gideon Harrowmoor."}},
		"nobody":      {"", "tilda-brannock, gideon-harrowmoor", nil},
		"a secret":    {prompt(gideon, "SECRET_ACTION") + prompt(tilda, "QUICK_REACTION"), "tilda-brannock, gideon-harrowmoor", []string{"The table pauses."}},
		"one to mend": {leak, "tilda-brannock", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.listening("gm", gmSays("session-start", "Now.\n"+gmContext+x.files+"[AWAIT_AI_PLAYERS: "+x.signal+"]")+"always\n  say Done.\n")
			r.say(start)
			eqs(t, "shown", waiting(r), x.want...)
		})
	}
}

// TestWhatFedACall: the audit lists everything that a game master's message is
// made of.
func TestWhatFedACall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.scripts["gm"] = gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+"[ROLL: 1d6 | gm | luck]\n[AWAIT_AI_PLAYERS: tilda-brannock]") +
		gmSays("Event: responses", "Hm.\n[ROLL: 1d6 | gm | more]") + gmSays("Event: rolls", "Done.")
	r.say(start)
	r.close()
	list, err := calls.List(r.dir, "ash")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		if c.Role == "gm" && c.Turn != "t1" {
			for _, s := range c.Sources.Sources {
				got = append(got, c.Turn+" "+s.Path)
			}
		}
	}
	eqs(t, "sources", got, "t2 tmp/gm-context.md", "t2 engine:rolls", "t2 tmp/tilda-brannock-response.md", "t3 engine:message")
}
