package flow

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/table"
	"conclave/table/story"
)

// promptText is a prompt file of a type.
func promptText(kind string) string {
	return "---\nrequest_type: " + kind + "\n---\n\n## Scene\nThe mill at night.\n\n## Just Happened\nA splash below.\n\n## Request\nWhat do you do?\n"
}

// wrote are lines of a script by which an agent writes a file itself.
func wrote(name, text string) string { return "  write " + name + " <<EOF\n" + text + "EOF\n" }

// TestAGMWritesFiles: prompts and notes that a game master writes itself are
// taken as those that it dictates, and nothing else that it leaves.
func TestAGMWritesFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.scripts["gm"] = "turn on session-start\n" +
		wrote("tmp/tilda-brannock-prompt.md", promptText("QUICK_REACTION")) +
		wrote("campaigns/ash/tmp/gideon-harrowmoor-prompt.md", promptText("COMBAT_ACTION")) +
		wrote("gm-context.md", "## Expecting\nA careful look.\n") +
		wrote("party/tilda-brannock-journal.md", "Forged.\n") + wrote("tmp/tilda-brannock-response.md", "I obey.\n") +
		"  say Water drips. [AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]\n" +
		"turn on Event: repair\n  say [AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]\n" +
		"turn on Event: responses\n  expect A careful look.\n  say Done.\n"
	k := r.listening(tilda, "always\n  say I wait.\n")
	res := r.say(start)
	e := r.lastCommit()
	eq(t, "tilda", outcome(e, tilda).Response, "I wait.\n")
	eq(t, "gideon", string(outcome(e, gideon).Type), "COMBAT_ACTION")
	has(t, "tilda is asked", k.heard[0], "# The game master asks\n\n"+promptText("QUICK_REACTION"))
	eq(t, "the party hears", story.TextOf(res.Blocks, table.SeatTable, table.Roster{}.Called), "Water drips.\n\nDone.")
	r.drain()
	hasNot(t, "journal", r.read("party/tilda-brannock-journal.md"), "Forged")
	eqs(t, "tmp", r.tmp(), table.NarrativeFile)
}

// TestAPlayerWritesFiles: a player's own response and its own notes are taken from
// the files that it writes; no other file is.
func TestAPlayerWritesFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.scripts[tilda] = "turn\n" + wrote("tmp/tilda-brannock-response.md", "I hold the lantern.\n") +
		wrote("tmp/tilda-brannock-notes-for-journal.md", "I am afraid.\n") +
		wrote("tmp/gideon-harrowmoor-response.md", "I jump.\n") + wrote("story-state.md", "wiped\n") + wrote("party/tilda-brannock-journal.md", "Forged\n")
	r.scripts[gideon] = "turn\n" + wrote("gideon-harrowmoor-response.md", "[VETO - need more input]\n\nThe lock.\n\nIt is my flaw.\n") + "  say My answer is in the file.\n"
	keeper := r.listening("keeper", keeperScript)
	gm := r.listening("gm", gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+
		"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]")+gmSays("Event: responses", "Done."))
	r.say(start)
	r.drain()
	e := r.lastCommit()
	eq(t, "tilda", outcome(e, tilda).Response, "I hold the lantern.\n")
	eq(t, "gideon", outcome(e, gideon).Response, "[VETO - need more input]\n\nThe lock.\n\nIt is my flaw.\n")
	has(t, "the GM", gm.heard[1], "> I hold the lantern.")
	for _, name := range []string{"tmp/gideon-harrowmoor-response.md", "story-state.md", "party/tilda-brannock-journal.md"} {
		has(t, "told", strings.Join(e.Warnings, "\n"), "tilda-brannock wrote "+name+", which is not its to write")
	}
	has(t, "told", strings.Join(e.Warnings, "\n"), "25 characters that gideon-harrowmoor said beside its response file")
	has(t, "story state", r.read("story-state.md"), "CANARY-STORY")
	hasNot(t, "journal", r.read("party/tilda-brannock-journal.md"), "Forged")
	has(t, "keeper of tilda", strings.Join(keeper.heard, "\n"), "# Your notes\n\nI am afraid.\n")
}

// TestAFileBeforeTheEnd: a response that a player wrote before it died, or ran out
// of time, is its answer.
func TestAFileBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"died": "  die Uh\n", "slow": "  stall\n"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.opts.Caps.PlayerTimeout = 100 * time.Millisecond
			r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
			r.scripts[tilda] = "turn\n" + wrote("tmp/tilda-brannock-response.md", "I hold the lantern.\n") + end
			r.say(start)
			eq(t, "tilda", outcome(r.lastCommit(), tilda).Response, "I hold the lantern.\n")
		})
	}
}

// TestFilesOutliveAKill: what a player wrote is on the record with its turn.
func TestFilesOutliveAKill(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
	r.scripts[tilda] = "turn\n" + wrote("tmp/tilda-brannock-response.md", "I hold the lantern.\n")
	ctx, cancel := context.WithCancel(t.Context())
	r.opts.Crash = func(l string) {
		if strings.HasPrefix(l, "answered ") && strings.HasSuffix(l, tilda) {
			cancel()
		}
	}
	r.open()
	if _, err := r.table.Say(ctx, start); err == nil {
		t.Fatal("nothing was cut")
	}
	r.close()
	r.opts.Crash = nil
	r.open()
	if _, err := r.table.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	eq(t, "tilda", outcome(r.lastCommit(), tilda).Response, "I hold the lantern.\n")
}

// TestLaidByHand: a response that a hand lays into tmp/ while the cycle waits is
// the answer where there is no other, and is never lost.
func TestLaidByHand(t *testing.T) {
	t.Parallel()
	aside := func(r *rig) string {
		found, err := filepath.Glob(filepath.Join(r.dir, ".conclave/tables/ash/stale/*/tilda-brannock-response.md"))
		if err != nil || len(found) != 1 {
			t.Fatalf("set aside: %v, %v", found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	t.Run("for a person who is away", func(t *testing.T) {
		r := newRig(t, nil)
		r.people[tilda] = true
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		r.open()
		if _, err := r.table.Say(t.Context(), start); err == nil {
			t.Fatal("nobody answered")
		}
		r.close()
		r.write("tmp/tilda-brannock-response.md", "I take the rope.\n\n[NOTES]\nIt is wet.\n")
		r.open()
		if _, err := r.table.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		eq(t, "tilda", outcome(r.lastCommit(), tilda).Response, "I take the rope.\n")
		r.drain()
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
	})
	laying := func(r *rig, text, answer string) {
		r.agents[tilda] = &talker{reply: func(context.Context, string) (string, error) {
			r.write("tmp/tilda-brannock-response.md", text)
			return answer, nil
		}}
	}
	t.Run("for an agent that says nothing", func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		laying(r, "[VETO - need more input]\n\nMy brother.\n", "")
		r.say(start)
		eq(t, "outcome", outcome(r.lastCommit(), tilda).Outcome, story.OutcomeVeto)
		has(t, "told", strings.Join(r.lastCommit().Warnings, "\n"), "laid there by hand, was taken")
	})
	t.Run("for an agent that answers", func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		laying(r, "I jump.\n", "I wait.")
		r.say(start)
		eq(t, "tilda", outcome(r.lastCommit(), tilda).Response, "I wait.\n")
		eq(t, "set aside", aside(r), "I jump.\n")
		has(t, "told", strings.Join(r.lastCommit().Warnings, "\n"), "laid there by hand when tilda-brannock had answered")
	})
	t.Run("before the question", func(t *testing.T) {
		r := newRig(t, nil)
		r.listening(tilda, "always\n  say <<E\n\nE\n")
		gm := &talker{}
		gm.reply = func(_ context.Context, m string) (string, error) {
			if strings.Contains(m, "Event: responses") {
				return "Done.", nil
			}
			r.write("tmp/tilda-brannock-response.md", "An old answer.\n")
			return gmContext + prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]", nil
		}
		r.agents["gm"] = gm
		r.say(start)
		has(t, "tilda", outcome(r.lastCommit(), tilda).Response, "Reason: empty")
		eq(t, "set aside", aside(r), "An old answer.\n")
	})
	t.Run("too large", func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		big := strings.Repeat("x", 70<<10)
		laying(r, big, "")
		r.say(start)
		has(t, "tilda", outcome(r.lastCommit(), tilda).Response, "Reason: empty")
		eq(t, "set aside", aside(r), big)
	})
}

// TestNotesByHand: notes that a person wrote for `table signal` reach the game
// master before the answers, once.
func TestNotesByHand(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"tmp/tilda-brannock-prompt.md": promptText("QUICK_REACTION"),
		"tmp/gm-context.md": "## Contingencies\n- If veto: the boat.\n"})
	gm := r.listening("gm", gmSays("Event: responses", "Done.")+gmSays("Event: continue", "Night."))
	r.say(story.Input{Kind: story.InputSignal, Names: []string{tilda}})
	notes, answers := strings.Index(gm.heard[0], "- If veto: the boat."), strings.Index(gm.heard[0], "Answer of tilda-brannock")
	if notes < 0 || answers < notes {
		t.Errorf("the notes do not stand before the answers:\n%s", gm.heard[0])
	}
	r.drain()
	eqs(t, "tmp", r.tmp(), table.NarrativeFile)
	r.say(story.Input{Kind: story.InputContinue})
	hasNot(t, "again", gm.heard[1], "the boat")
	// What cannot be taken is said.
	r = newRig(t, map[string]string{"tmp/tilda-brannock-prompt.md": promptText("QUICK_REACTION"),
		"tmp/gm-context.md": strings.Repeat("x", 20<<10)})
	gm = r.listening("gm", gmSays("Event: responses", "Done."))
	r.say(story.Input{Kind: story.InputSignal, Names: []string{tilda}})
	has(t, "told", gm.heard[0], "Note: tmp/gm-context.md was not taken: ")
}
