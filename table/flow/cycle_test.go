package flow

import (
	"testing"
)

func TestOneCycle(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.scripts["gm"] = gmSays("Event: session-start", "Water drips.\n"+gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]") +
		gmSays("Event: responses", "They look down together.")
	r.scripts[tilda] = "turn\n  expect The game master asks\n  say I hold the lantern.\n  say [NOTES]\n  say I am afraid.\n"
	r.scripts[gideon] = "turn\n  say I try the hatch.\n"
	res := r.say(start)
	eq(t, "cycle", res.Cycle, 1)
	e := r.lastCommit()
	eq(t, "tilda", outcome(e, tilda).Response, "I hold the lantern.\n")
	eq(t, "gideon", outcome(e, gideon).Response, "I try the hatch.\n")
	r.drain()
	eqs(t, "tmp", r.tmp(), "narrative-for-journal.md")
	eq(t, "narrative", r.read("tmp/narrative-for-journal.md"), "Water drips.\n\nThey look down together.\n")
	for _, who := range []string{tilda, gideon, sera} {
		has(t, "journal", r.read("party/"+who+"-journal.md"), "---\n\n### A moment\n\n- What happened: something\n")
	}
	r.end()
	eqs(t, "tmp", r.tmp(), "narrative-for-journal.md")
	has(t, "scene", r.read("scenes/001-opening.md"), "# Scene 1: Opening\n\nWater drips.\n\nThey look down together.\n")
}
