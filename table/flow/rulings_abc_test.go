package flow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/table"
	"conclave/table/journal"
	"conclave/table/people"
	"conclave/table/story"
)

const badPrompt = "[FILE: tmp/tilda-brannock-prompt.md]\n---\nrequest_type: QUICK_REACTION\n---\n\n## Scene\nA mill.\n\n## Request\nReact.\n[/FILE]\n[AWAIT_AI_PLAYERS: tilda-brannock]"

var rulingsAB = map[string]func(*testing.T){
	"A12": func(t *testing.T) {
		r := newRig(t, map[string]string{"party/tilda-brannock-journal.md": "# Tilda Brannock's Journal\n"})
		r.people[tilda] = true
		r.scripts["tilda-marsh"] = "always\n  say x\n"
		r.open()
		if err := r.table.StepAway(t.Context(), tilda, false); err != nil {
			t.Fatal(err)
		}
		if err := r.table.SetStatus(t.Context(), tilda, table.Benched); err != nil {
			t.Fatal(err)
		}
		if err := writeFile(filepath.Join(r.dir, ".conclave/tables/ash/journal-pending/000001-tilda-brannock.json"), `{"cycle":1,"character":"tilda-brannock","name":"Tilda"}`); err != nil {
			t.Fatal(err)
		}
		if err := r.table.Rename(t.Context(), tilda, "tilda-marsh"); err != nil {
			t.Fatal(err)
		}
		r.read("party/tilda-marsh.md")
		r.read("party/tilda-marsh-journal.md")
		s := r.table.snapshot()
		_, away := s.Away["tilda-marsh"]
		if !away || s.Statuses["tilda-marsh"] != table.Benched || len(s.Away) != 1 {
			t.Errorf("seats did not move: %+v", s)
		}
		parked, err := journal.Parked(r.dir, "ash")
		if err != nil || len(parked) != 1 || parked[0].Character != "tilda-marsh" {
			t.Errorf("jobs: %+v, %v", parked, err)
		}
		if err := r.table.Rename(t.Context(), "../story-state", "x"); err == nil {
			t.Error("a path was renamed")
		}
	},
	"B14": func(t *testing.T) {
		r := newRig(t, nil)
		k := r.listening(tilda, "always\n  say never\n")
		r.scripts["gm"] = gmSays("session-start", badPrompt) + gmSays("Sub-cycle: 1", badPrompt) + gmSays("Sub-cycle: 2", badPrompt) +
			gmSays("Sub-cycle: 3", "[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Event: repair", "Well then.")
		r.say(start)
		e := r.lastCommit()
		eq(t, "asked", len(e.Asked), 3)
		eq(t, "file", outcome(e, tilda).Response, "[ERROR: Malformed prompt]\n\nMissing required section: Just Happened\n")
		eq(t, "model calls", len(k.heard), 0)
		has(t, "warnings", strings.Join(e.Warnings, "\n"), "tilda-brannock sits out cycle 1")
		if _, err := os.Stat(r.path("tmp/tilda-brannock-notes-for-journal.md")); err == nil {
			t.Error("notes were written")
		}
		// With a person, the person decides.
		r = newRig(t, nil)
		r.opts.Auto = false
		asked := 0
		r.opts.Asker = askerFunc(func(q string) (string, error) { asked++; return "sit out", nil })
		r.scripts["gm"] = gmSays("session-start", badPrompt) + gmSays("Sub-cycle: 1", badPrompt) + gmSays("Sub-cycle: 2", badPrompt) + gmSays("Sub-cycle: 3", "On.")
		r.say(start)
		eq(t, "the person was asked", asked, 1)
	},
	"B16": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]") +
			gmSays("Event: responses", "She waits.") + gmSays("Event: nudge", "Withdrawn.")
		r.say(start)
		e := r.lastCommit()
		eq(t, "asked", len(e.Asked), 1)
		has(t, "warnings", strings.Join(e.Warnings, "\n"), "unsent prompt for gideon-harrowmoor was removed")
		r.drain()
		eqs(t, "tmp", r.tmp(), "narrative-for-journal.md")
	},
	"B17": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		k := &talker{}
		k.reply = func(_ context.Context, m string) (string, error) {
			r.write("tmp/tilda-brannock-prompt.md", "edited")
			return "I look.", nil
		}
		r.agents[tilda] = k
		res := r.say(start)
		has(t, "message", k.all(), "What do you do?")
		hasNot(t, "message", k.all(), "edited")
		has(t, "warnings", strings.Join(res.Warnings, "\n"), "tmp/tilda-brannock-prompt.md was edited during the cycle")
	},
	"B18": func(t *testing.T) {
		r := newRig(t, map[string]string{"story-state.md": "<!-- secret:miller -->the miller is the murderer<!-- /secret -->\n"})
		leak := strings.Replace(prompt(tilda, "QUICK_REACTION"), "A splash below.", "You see that the miller is the murderer.", 1) + "[AWAIT_AI_PLAYERS: tilda-brannock]"
		k := r.listening(tilda, "always\n  say I look.\n")
		r.scripts["gm"] = gmSays("session-start", leak) + gmSays("Event: repair", prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Event: responses", "Done.")
		r.say(start)
		eq(t, "calls", len(k.heard), 1)
		hasNot(t, "message", k.all(), "murderer")
		// A second leak is withheld.
		r = newRig(t, map[string]string{"story-state.md": "<!-- secret:miller -->the miller is the murderer<!-- /secret -->\n"})
		k = r.listening(tilda, "always\n  say I look.\n")
		r.scripts["gm"] = gmSays("session-start", leak) + gmSays("Event: repair", leak) + gmSays("Event: responses", "Done.")
		r.say(start)
		eq(t, "calls", len(k.heard), 0)
		has(t, "file", outcome(r.lastCommit(), tilda).Response, "Reason: the prompt was withheld")
	},
	"B19": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "FULL_CONTEXT", "Done.")
		res := r.say(start)
		eq(t, "outcome", outcome(r.lastCommit(), tilda).Outcome, story.OutcomeAnswer)
		eq(t, "warnings", strings.Join(res.Warnings, ""), "")
	},
	"B20": func(t *testing.T) {
		r := newRig(t, nil)
		p := strings.Replace(prompt(tilda, "QUICK_REACTION"), "A splash below.", "@story-state.md {{story-state.md}} !cat story-state.md", 1)
		k := r.listening(tilda, "always\n  say I look.\n")
		r.scripts["gm"] = gmSays("session-start", gmContext+p+"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Event: responses", "Done.")
		r.say(start)
		has(t, "message", k.all(), "@story-state.md {{story-state.md}} !cat story-state.md")
		hasNot(t, "message", k.all(), "CANARY")
	},
}

type askerFunc func(string) (string, error)

var rulingsC = map[string]func(*testing.T){
	"C4": func(t *testing.T) {
		r := newRig(t, nil)
		k := r.listening(tilda, "always\n  say <<E\n[VETO - need more input]\n\nNo.\nE\n")
		r.scripts["gm"] = ask(tilda, "FULL_CONTEXT", "Done.")
		r.say(start)
		eq(t, "calls", len(k.heard), 2)
		has(t, "retry", k.heard[1], table.RetryVeto)
		eq(t, "file", outcome(r.lastCommit(), tilda).Response, "[ERROR: No response]\n\nCharacter: tilda-brannock\nReason: veto not allowed for FULL_CONTEXT\n\n> No.\n")
		// One veto a cycle, whatever the type.
		r = newRig(t, nil)
		r.listening(tilda, "always\n  say <<E\n[VETO]\n\nNo.\nE\n")
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", prompt(tilda, "COMBAT_ACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Sub-cycle: 2", "Done.")
		r.say(start)
		has(t, "file", outcome(r.lastCommit(), tilda).Response, "Reason: veto already used in this cycle\n")
	},
	"C5": func(t *testing.T) {
		r := newRig(t, nil)
		r.listening(gideon, "turn\n  say <<E\n[VETO - need more input]\n\nThe lock is my flaw.\nE\nturn\n  say I pick it.\n")
		r.scripts["gm"] = ask(gideon, "SECRET_ACTION", prompt(gideon, "FULL_CONTEXT")+"[AWAIT_AI_PLAYERS: gideon-harrowmoor]") + gmSays("Sub-cycle: 2", "The lock is open.")
		res := r.say(start)
		e := r.lastCommit()
		for _, a := range e.Asked {
			if !a.Private {
				t.Errorf("%+v is not private", a)
			}
		}
		eq(t, "tilda reads", story.TextOf(res.Blocks, tilda, table.Roster{}.Called), "Now.")
		has(t, "gideon reads", story.TextOf(res.Blocks, gideon, table.Roster{}.Called), "The lock is open.")
	},
	"C6": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts[tilda] = "turn\n  veto My brother.\nturn\n  say I strike.\n"
		r.scripts["gm"] = ask(tilda, "COMBAT_ACTION", prompt(tilda, "FULL_CONTEXT")+"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Sub-cycle: 2", "Done.")
		r.say(start)
		e := r.lastCommit()
		eq(t, "first", e.Asked[0].Response, "[VETO - need more input]\n\nMy brother.\n")
		eq(t, "second", e.Asked[1].Response, "I strike.\n")
	},
	"C7": func(t *testing.T) {
		r := newRig(t, nil)
		k := r.listening(tilda, "turn\n  say <<E\n\nE\nturn\n  say Here.\n")
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		r.say(start)
		eq(t, "calls", len(k.heard), 2)
		eq(t, "file", outcome(r.lastCommit(), tilda).Response, "Here.\n")
	},
	"C9": func(t *testing.T) {
		r := newRig(t, nil)
		r.opts.Caps.PlayerTimeout = 1500 * time.Millisecond
		r.scripts[tilda] = "always\n  stall\n"
		r.scripts[gideon] = "always\n  error no model\n"
		gm := r.listening("gm", gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]")+gmSays("Event: responses", "Done."))
		r.say(start)
		e := r.lastCommit()
		eq(t, "timeout", outcome(e, tilda).Response, "[ERROR: No response]\n\nCharacter: tilda-brannock\nReason: timeout\n")
		eq(t, "crash", outcome(e, gideon).Response, "[ERROR: No response]\n\nCharacter: gideon-harrowmoor\nReason: crashed\n")
		has(t, "the GM", gm.heard[1], "Note: Reason: timeout")
	},
	"C10": func(t *testing.T) {
		r := newRig(t, nil)
		long := strings.Repeat("x", 70<<10)
		k := &talker{}
		k.reply = func(context.Context, string) (string, error) {
			if len(k.heard) == 1 {
				return long, nil
			}
			return strings.Repeat("y", 700), nil
		}
		r.agents[tilda] = k
		gm := r.listening("gm", ask(tilda, "QUICK_REACTION", "Done."))
		r.say(start)
		has(t, "retry", k.heard[1], table.RetryTooLong)
		has(t, "the GM is told", gm.heard[1], "(QUICK_REACTION): long answer")
	},
	"C13": func(t *testing.T) {
		r := newRig(t, nil)
		gm := &talker{}
		gm.reply = func(_ context.Context, m string) (string, error) {
			if strings.Contains(m, "Event: responses") {
				r.write("tmp/tilda-brannock-response.md", "Too late!")
				return "Done.", people.Leave(r.dir, "ash", tilda, "Later still.")
			}
			return gmContext + prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]", nil
		}
		r.agents["gm"] = gm
		r.say(start)
		eq(t, "response", outcome(r.lastCommit(), tilda).Response, "I wait.\n")
		late, err := filepath.Glob(filepath.Join(r.dir, ".conclave/tables/ash/late/*/tilda-brannock-response.md*"))
		if err != nil || len(late) != 2 {
			t.Errorf("late: %v, %v", late, err)
		}
		if _, ok, _ := r.table.people.Draft(tilda); ok {
			t.Error("the draft would answer the next question")
		}
	},
	"C14": func(t *testing.T) {
		r := newRig(t, nil)
		first := make(chan struct{})
		r.agents[tilda] = &talker{reply: func(context.Context, string) (string, error) { close(first); return "I say CANARY-ANSWER.", nil }}
		second := &talker{}
		second.reply = func(context.Context, string) (string, error) {
			<-first
			if names := r.tmp(); strings.Contains(strings.Join(names, " "), "response") {
				return "", errors.New("an answer was written before the barrier")
			}
			return "I wait.", nil
		}
		r.agents[gideon] = second
		r.scripts["gm"] = gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]") + gmSays("Event: responses", "Done.")
		r.say(start)
		eq(t, "gideon", outcome(r.lastCommit(), gideon).Response, "I wait.\n")
		hasNot(t, "gideon's input", second.all(), "CANARY-ANSWER")
	},
	"C15": func(t *testing.T) {
		r := newRig(t, map[string]string{"tmp/tilda-brannock-notes-for-journal.md": "old notes of no cycle"})
		r.scripts["gm"] = gmSays("session-start", badPrompt) + gmSays("Event: responses", "On.")
		keeper := r.listening("keeper", keeperScript)
		r.say(start)
		r.drain()
		hasNot(t, "keeper", keeper.all(), "old notes")
	},
}

func (f askerFunc) ask(q string) (string, error) { return f(q) }
