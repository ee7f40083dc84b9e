package flow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/table"
	"conclave/table/story"
)

// Ask implements engine.Asker.
func (f askerFunc) Ask(_ context.Context, q engine.Question) (string, error) { return f.ask(whole(q)) }

var rulingsD = map[string]func(*testing.T){
	"D2": func(t *testing.T) {
		r := newRig(t, nil)
		gm := r.listening("gm", gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]\nTilda says: CANARY-AFTER.\n[FILE: story-state.md]\nwiped\n[/FILE]")+gmSays("Event: responses", "Done."))
		res := r.say(start)
		has(t, "the GM", gm.heard[1], "after the signal were withheld from everyone")
		has(t, "the GM", gm.heard[1], "what stood after the signal was not taken: FILE story-state.md")
		hasNot(t, "the party", story.TextOf(res.Blocks, table.SeatTable, table.Roster{}.Called), "CANARY-AFTER")
		has(t, "the audit", r.lastCommit().Withheld, "CANARY-AFTER")
		has(t, "story state", r.read("story-state.md"), "CANARY-STORY")
	},
	"D6": func(t *testing.T) {
		r := newRig(t, nil)
		r.people[tilda] = true
		r.opts.Asker = askerFunc(func(q string) (string, error) { return "I am a person.", nil })
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		r.say(start)
		eq(t, "response", outcome(r.lastCommit(), tilda).Response, "I am a person.\n")
	},
	"D7": func(t *testing.T) {
		r := newRig(t, nil)
		signal := gmContext + prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]"
		gm := r.listening("gm", gmSays("session-start", "[STATUS: tilda-brannock dead]\n"+signal)+gmSays("Event: repair", "[STATUS: tilda-brannock present]\n"+signal)+gmSays("Event: responses", "She lives."))
		r.say(start)
		has(t, "refused", gm.heard[1], `"tilda-brannock": dead`)
		eq(t, "outcome", outcome(r.lastCommit(), tilda).Outcome, story.OutcomeAnswer)
	},
	"D8": func(t *testing.T) {
		r := newRig(t, nil)
		gm := r.listening("gm", gmSays("session-start", "Hm.\n"+prompt(tilda, "QUICK_REACTION"))+gmSays("Event: nudge", "Never mind."))
		r.say(start)
		eq(t, "messages", len(gm.heard), 2)
		eq(t, "asked", len(r.lastCommit().Asked), 0)
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
	},
	"D9": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = gmSays("session-start", prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Event: responses", "Done.")
		res := r.say(start)
		has(t, "warnings", strings.Join(res.Warnings, "\n"), "without tmp/gm-context.md")
		eq(t, "outcome", outcome(r.lastCommit(), tilda).Outcome, story.OutcomeAnswer)
	},
	"D10": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]") + gmSays("Event: responses", "Done.")
		r.say(start)
		e := r.lastCommit()
		eq(t, "gideon", outcome(e, gideon).Response, "[ERROR: Prompt file not found]\n\nExpected: campaigns/ash/tmp/gideon-harrowmoor-prompt.md\n")
		eq(t, "tilda", outcome(e, tilda).Response, "I wait.\n")
	},
	"D11": func(t *testing.T) {
		r := newRig(t, nil)
		again := prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]"
		gm := r.listening("gm", "always on Event\n  say <<EOT\n"+again+"\nEOT\n")
		r.say(start)
		eq(t, "asked", len(r.lastCommit().Asked), 8)
		has(t, "last message", gm.heard[len(gm.heard)-1], "Event: narrate")
		r = newRig(t, nil)
		r.opts.Caps.Calls = 3
		r.listening("gm", "always on Event\n  say <<EOT\n"+again+"\nEOT\n")
		r.say(start)
		eq(t, "calls", len(r.lastCommit().Asked), 3)
	},
	"D12": func(t *testing.T) {
		r := newRig(t, nil)
		body := `---\nrequest_type: quick_reaction\n---\n\n## Scene\nA mill.\n\n## Just Happened\nA splash.\n\n## Request\nReact.\n`
		r.scripts["gm"] = "turn on session-start\n" +
			`  tool write_prompt {"character":"tilda-brannock","text":"` + body + `"}` + "\n" +
			`  tool write_context {"text":"## Expecting\nx\n"}` + "\n" +
			`  tool narrate {"text":"They quote: [AWAIT_AI_PLAYERS: gideon-harrowmoor]"}` + "\n" +
			`  tool narrate {"to":["gideon-harrowmoor"],"text":"A key glints."}` + "\n" +
			`  tool roll {"expr":"1d20","who":"gm","purpose":"luck"}` + "\n" +
			`  tool update_state {"path":"story-state.md","text":"More.\n","append":true}` + "\n" +
			`  tool await_players {"names":["tilda-brannock"]}` + "\n" + "  say Listening.\n" +
			gmSays("Event: responses", "Done.")
		res := r.say(start)
		e := r.lastCommit()
		eq(t, "asked", len(e.Asked), 1)
		eq(t, "outcome", outcome(e, tilda).Outcome, story.OutcomeAnswer)
		eq(t, "tilda reads", story.TextOf(res.Blocks, tilda, table.Roster{}.Called), "They quote: [AWAIT_AI_PLAYERS: gideon-harrowmoor]\n\nRoll #1 · gm · luck: 1d20 = [16] = 16\n\nDone.")
		eq(t, "withheld", e.Withheld, "Listening.")
		has(t, "gideon reads", story.TextOf(res.Blocks, gideon, table.Roster{}.Called), "A key glints.")
		has(t, "story state", r.read("story-state.md"), "CANARY-STORY\nMore.\n")
		eq(t, "rolls", len(e.Rolls), 1)
	},
}

var rulingsE = map[string]func(*testing.T){
	"E1": func(t *testing.T) {
		r := newRig(t, nil)
		gm := &talker{}
		gm.reply = func(_ context.Context, m string) (string, error) {
			if strings.Contains(m, "Event: responses") {
				// A GM that deletes does no harm.
				return "Done.", os.Remove(r.path("tmp/tilda-brannock-prompt.md"))
			}
			return gmContext + prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]", nil
		}
		r.agents["gm"] = gm
		r.say(start)
		r.drain()
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
	},
	"E2": func(t *testing.T) {
		r := newRig(t, nil)
		gm := &talker{}
		gm.reply = func(_ context.Context, m string) (string, error) {
			if strings.Contains(m, "Event: responses") {
				if got := strings.Join(r.tmp(), " "); got != "gm-context.md tilda-brannock-prompt.md tilda-brannock-response.md" {
					return "", fmt.Errorf("before the commit tmp/ holds %s", got)
				}
				return "Done.", nil
			}
			return gmContext + prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]", nil
		}
		r.agents["gm"] = gm
		r.say(start)
		eq(t, "messages", len(gm.heard), 2)
	},
	"E3": resumes("asking", "gm", 2),
	"E4": resumes("cleaned", "", 1),
	"E5": resumes("asking", gideon, 1),
	"E6": func(t *testing.T) {
		r := newRig(t, map[string]string{"tmp/tilda-brannock-response.md": "old", "tmp/shopping.txt": "eggs"})
		r.scripts["gm"] = gmSays("", "Hello.")
		res := r.say(start)
		report := strings.Join(res.Warnings, "\n")
		has(t, "report", report, "tmp/tilda-brannock-response.md belongs to no open cycle")
		has(t, "report", report, "tmp/shopping.txt is no file of the table")
		eqs(t, "tmp", r.tmp(), table.NarrativeFile, "shopping.txt")
		r.end()
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
		found, err := filepath.Glob(filepath.Join(r.dir, ".conclave/tables/ash/stale/*/*"))
		if err != nil || len(found) != 2 {
			t.Errorf("set aside: %v, %v", found, err)
		}
	},
	"E7": func(t *testing.T) {
		// Notes that no GM was resumed with go to the next process; notes that one
		// was resumed with are deleted (D-49).
		r := newRig(t, nil)
		r.people[tilda] = true
		gm := r.listening("gm", gmSays("session-start", "A well.\n"+gmContext)+gmSays("Event: said", "You see a rope.")+
			gmSays("Event: continue", prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: gideon-harrowmoor]")+
			gmSays("Event: responses", "The well is deep.")+gmSays("Event: said", "It is dry.")+gmSays("Event: continue", "Night."))
		r.say(start)
		r.drain()
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
		r.say(said("We look down."))
		has(t, "after human input", gm.heard[1], "# Your notes\n\n## Expecting\nA careful look.")
		has(t, "recap", gm.heard[1], "A well.")
		has(t, "words", gm.heard[1], "> We look down.")
		r.close() // another process
		r.say(story.Input{Kind: story.InputContinue})
		has(t, "after a restart", gm.heard[2], "You see a rope.")
		has(t, "after a restart", gm.heard[2], "A careful look.")
		has(t, "at resume", gm.heard[3], "A careful look.")
		has(t, "in the log", r.lastCommit().Context, "A careful look.")
		r.say(said("And now?"))
		hasNot(t, "deleted", gm.heard[4], "A careful look.")
		r.close()
		r.say(story.Input{Kind: story.InputContinue})
		hasNot(t, "deleted", gm.heard[5], "A careful look.")
	},
	"E9": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts[tilda] = "turn\n  veto My brother.\nturn\n  say Finn!\n"
		gm := r.listening("gm", gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]")+
			gmSays("Sub-cycle: 1", prompt(tilda, "FULL_CONTEXT")+"[AWAIT_AI_PLAYERS: tilda-brannock]")+gmSays("Sub-cycle: 2", "Done."))
		r.say(start)
		has(t, "shown again", gm.heard[2], "> I wait.")
		has(t, "with the new", gm.heard[2], "> Finn!")
		hasNot(t, "veto replaced", gm.heard[2], "My brother.")
		eq(t, "asked", len(r.lastCommit().Asked), 3)
	},
	"E10": func(t *testing.T) {
		r := newRig(t, nil)
		r.opts.Purpose = "the first"
		r.open()
		_, err := Open(t.Context(), r.opts)
		var held *lockfile.HeldError
		if !errors.As(err, &held) {
			t.Fatalf("a second writer got %v", err)
		}
		has(t, "holder", err.Error(), "the first")
		r.close()
		r.open()
	},
	"E11": func(t *testing.T) {
		r := newRig(t, nil)
		r.people[tilda] = true
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		r.open()
		if _, err := r.table.Say(t.Context(), start); err == nil {
			t.Fatal("nobody answered")
		}
		if _, err := r.table.Say(t.Context(), said("More.")); !errors.Is(err, ErrOpen) {
			t.Errorf("a second cycle: %v", err)
		}
	},
	"E12": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.") + gmSays("Event: continue", prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Event: responses", "Done.")
		r.listening("gm", r.scripts["gm"])
		k := r.listening(tilda, "always\n  say I wait.\n")
		r.say(start)
		r.write("party/tilda-brannock.md", "# Tilda Brannock\n\nNow with a limp.\n")
		r.say(story.Input{Kind: story.InputContinue})
		hasNot(t, "before", k.heard[0], "limp")
		has(t, "after", k.heard[1], "Now with a limp.")
	},
	"E13": func(t *testing.T) {
		r := newRig(t, nil)
		gm := r.listening("gm", gmSays("", "Hello."))
		r.open()
		if err := os.RemoveAll(r.path("tmp")); err != nil { // the open directory is no place to write to any more
			t.Fatal(err)
		}
		_, err := r.table.Say(t.Context(), start)
		if err == nil {
			t.Fatal("it went on")
		}
		has(t, "message", err.Error(), "tmp is not writable")
		eq(t, "model calls", len(gm.heard), 0)
	},
	"E14": func(t *testing.T) {
		r := newRig(t, nil)
		r.listening("gm", gmSays("", "One.")+gmSays("", "Two."))
		r.say(start)
		r.say(story.Input{Kind: story.InputContinue})
		r.close()
		logs, err := filepath.Glob(filepath.Join(r.dir, ".conclave/tables/ash/log/*"))
		if err != nil || len(logs) != 3 {
			t.Fatalf("%v, %v", logs, err)
		}
		for i, f := range logs { // the clock runs backwards
			if err := os.Chtimes(f, time.Time{}, time.Now().Add(-time.Duration(i)*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		r.open()
		eq(t, "cycle", r.table.snapshot().Cycle, 2)
		eq(t, "newest", r.table.snapshot().Recap[1].Blocks[0].Text, "Two.")
	},
	"E15": func(t *testing.T) {
		r := newRig(t, nil)
		gm := &talker{}
		gm.reply = func(_ context.Context, m string) (string, error) {
			if len(gm.heard) < 3 {
				return "", errors.New("it died")
			}
			return "At last.", nil
		}
		r.agents["gm"] = gm
		r.say(start)
		eq(t, "the same", gm.heard[0], gm.heard[1])
		has(t, "fresh", gm.heard[2], "# The table")
		// Beyond that the table waits, and goes on when the GM is back.
		r = newRig(t, nil)
		broken := true
		r.agents["gm"] = &talker{reply: func(context.Context, string) (string, error) {
			if broken {
				return "", errors.New("no model")
			}
			return "Here I am.", nil
		}}
		r.open()
		_, err := r.table.Say(t.Context(), start)
		var cut *engine.CutError
		if !errors.As(err, &cut) {
			t.Fatalf("%v", err)
		}
		has(t, "message", err.Error(), "the table waits")
		broken = false
		results, err := r.table.Recover(t.Context())
		if err != nil || len(results) != 1 || story.TextOf(results[0].Blocks, table.SeatTable, table.Roster{}.Called) != "Here I am." {
			t.Errorf("%+v, %v", results, err)
		}
	},
}

// resumes kills nothing but cuts: the process ends when a label is met for the
// n-th time, another one continues, and each seat was asked as often as in an
// undisturbed run.
func resumes(label, who string, asked int) func(*testing.T) {
	return func(t *testing.T) {
		r := newRig(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		gm := r.listening("gm", gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]")+gmSays("Event: responses", "Done."))
		first, second := r.listening(tilda, "always\n  say One.\n"), r.listening(gideon, "always\n  say Two.\n")
		var met atomic.Int64
		r.opts.Caps.Parallel = 1
		r.opts.Crash = func(l string) {
			if strings.HasPrefix(l, label) && (who == "" || strings.HasSuffix(l, who)) && ctx.Err() == nil {
				if met.Add(1) == int64(asked) {
					cancel()
				}
			}
		}
		r.open()
		// A cut in the very last step may come too late to end anything.
		if _, err := r.table.Say(ctx, start); met.Load() < int64(asked) {
			t.Fatalf("%q was met %d times, not %d: %v", label, met.Load(), asked, err)
		}
		r.close()
		r.open()
		if _, err := r.table.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.drain()
		e := r.lastCommit()
		eq(t, "tilda", outcome(e, tilda).Response, "One.\n")
		eq(t, "gideon", outcome(e, gideon).Response, "Two.\n")
		eq(t, "the GM was asked", len(gm.heard), 2)
		eq(t, "tilda was asked", len(first.heard), 1)
		eq(t, "gideon was asked", len(second.heard), 1)
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
	}
}
