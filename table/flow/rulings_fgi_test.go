package flow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/agent/scripted"
	"conclave/engine"
	"conclave/policy"
	"conclave/room"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/journal"
	"conclave/table/look"
	"conclave/table/people"
	"conclave/table/seating"
	"conclave/table/story"
)

func entry(title string) string {
	return "### " + title + "\n- What happened: a\n- What I did: b\n- What I learned: c\n- How I feel: d\n- Notes: e\n"
}

// titled is a keeper that titles its entry by the line of the narrative that
// begins with "Beat".
func titled(_ context.Context, m string) (string, error) {
	title := "nothing"
	for line := range strings.Lines(m) {
		if strings.HasPrefix(line, "Beat") {
			title = strings.TrimSpace(line)
		}
	}
	return entry(title), nil
}

// beats is a GM that narrates "Beat n." after asking tilda, n times.
func beats(r *rig) *talker {
	n := 0
	gm := &talker{}
	gm.reply = func(_ context.Context, m string) (string, error) {
		if strings.Contains(m, "Event: responses") {
			n++
			return fmt.Sprintf("Beat %d.", n), nil
		}
		return gmContext + prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]", nil
	}
	r.agents["gm"] = gm
	return gm
}

var rulingsF = map[string]func(*testing.T){
	"F1": func(t *testing.T) {
		r := newRig(t, nil)
		keeper := r.listening("keeper", keeperScript)
		r.scripts[tilda] = "turn\n  veto No.\nturn\n  say Yes.\n"
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Between.\n"+prompt(tilda, "FULL_CONTEXT")+"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Sub-cycle: 2", "What do you do now?")
		r.say(start)
		r.drain()
		eq(t, "one round, question or not", len(keeper.heard), 3)
		has(t, "all of it", keeper.heard[0], "Now.\n\nBetween.\n\nWhat do you do now?")
	},
	"F2": func(t *testing.T) {
		r := newRig(t, nil)
		keeper := r.listening("keeper", keeperScript)
		r.listening("gm", gmSays("session-start", "You wake.")+gmSays("Event: said", "The door is locked.")+
			gmSays("Event: continue", gmContext+prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]")+gmSays("Event: responses", "She knocks.")+gmSays("Event: said", "Night falls."))
		for i, x := range []struct {
			in   story.Input
			want string
		}{
			{start, "You wake.\n"},
			{said("Is it locked?"), "At the table: Is it locked?\n\nThe door is locked.\n"},
			{story.Input{Kind: story.InputContinue}, "She knocks.\n"},
			{story.Input{Kind: story.InputSaid, Who: tilda, Text: "I rest."}, "Tilda Brannock: I rest.\n\nNight falls.\n"},
		} {
			r.say(x.in)
			r.drain()
			eq(t, "narrative", r.read("tmp/"+table.NarrativeFile), x.want)
			eq(t, "keepers", len(keeper.heard), 3*(i+1))
			has(t, "told", keeper.heard[3*i], strings.TrimSpace(x.want))
		}
		r.end()
		eq(t, "entries", strings.Count(r.read("party/"+gideon+"-journal.md"), "### "), 4)
		hasNot(t, "the scene", r.read("scenes/001-opening.md"), "I rest.")
	},
	"F4": heldBack,
	"F6": func(t *testing.T) {
		r := newRig(t, nil)
		beats(r)
		var mu sync.Mutex
		running, most, same := map[string]int{}, 0, 0
		r.agents["keeper"] = &talker{reply: func(ctx context.Context, m string) (string, error) {
			_, who, _ := strings.Cut(m, "Character: ")
			who, _, _ = strings.Cut(who, "\n")
			mu.Lock()
			running[who]++
			same = max(same, running[who])
			total := 0
			for _, n := range running {
				total += n
			}
			most = max(most, total)
			mu.Unlock()
			defer func() { mu.Lock(); running[who]--; mu.Unlock() }()
			return titled(ctx, m)
		}}
		r.opts.Caps.Parallel, r.opts.JournalWait = 2, time.Nanosecond
		r.say(start)
		for range 4 {
			r.say(story.Input{Kind: story.InputContinue})
		}
		r.drain()
		eq(t, "one at a time for each", same, 1)
		if most > 2 {
			t.Errorf("%d at once, the pool has 2", most)
		}
		for _, who := range []string{tilda, gideon, sera} {
			checkOrder(t, r.read("party/"+who+"-journal.md"), 5)
		}
	},
	"F7": func(t *testing.T) {
		r := newRig(t, nil)
		beats(r)
		release := make(chan struct{})
		r.agents["keeper"] = &talker{reply: func(ctx context.Context, m string) (string, error) {
			select {
			case <-release:
			case <-ctx.Done():
				return "", ctx.Err()
			}
			return titled(ctx, m)
		}}
		k := r.listening(tilda, "always\n  say I wait.\n")
		r.opts.JournalWait = time.Millisecond
		r.say(start)
		r.say(story.Input{Kind: story.InputContinue})
		has(t, "pending", k.heard[1], "# Not yet in your journal\n\nBeat 1.")
		close(release)
		r.drain()
		r.say(story.Input{Kind: story.InputContinue})
		hasNot(t, "written", k.heard[2], "# Not yet in your journal")
		r.drain()
	},
	"F9": func(t *testing.T) {
		r := newRig(t, nil)
		beats(r)
		keeper := &talker{reply: titled}
		r.agents["keeper"] = keeper
		ctx, cancel := context.WithCancel(t.Context())
		r.opts.Crash = func(l string) {
			if strings.HasPrefix(l, "after entry") {
				cancel()
			}
		}
		r.open()
		_, _ = r.table.Say(ctx, start)
		r.close()
		r.opts.Crash = nil
		r.open()
		if _, err := r.table.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.drain()
		for _, who := range []string{tilda, gideon, sera} {
			checkOrder(t, r.read("party/"+who+"-journal.md"), 1)
		}
	},
	"F12": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		k := &talker{}
		k.reply = func(_ context.Context, m string) (string, error) {
			return "### Half\n- What happened: a\n- What I did: b\n", nil
		}
		r.agents["keeper"] = k
		r.say(start)
		r.drain()
		has(t, "repair", strings.Join(k.heard, "\n"), "Missing: What I learned, How I feel, Notes")
		has(t, "filled", r.read("party/"+tilda+"-journal.md"), "### Half\n\n- What happened: a\n- What I did: b\n- What I learned: (nothing)\n- How I feel: (nothing)\n- Notes: (nothing)\n")
	},
	"F14": func(t *testing.T) {
		r := newRig(t, nil)
		beats(r)
		r.scripts[tilda] = "always\n  say I wait.\n  say [NOTES]\n  say Dear diary.\n"
		broken := true
		r.agents["keeper"] = &talker{reply: func(ctx context.Context, m string) (string, error) {
			if broken && strings.Contains(m, "Character: "+tilda) {
				return "", errors.New("no model")
			}
			return titled(ctx, m)
		}}
		r.say(start)
		r.drain()
		r.say(story.Input{Kind: story.InputContinue})
		r.drain()
		has(t, "notes are kept", r.read("tmp/tilda-brannock-notes-for-journal.md"), "Dear diary.")
		st, err := look.At(t.Context(), r.dir, "ash", "")
		if err != nil || !strings.HasSuffix(strings.Join(st.Journals, "; "), "tilda-brannock, cycle 1: parked; tilda-brannock, cycle 2: parked") {
			t.Errorf("status: %v, %v", st.Journals, err)
		}
		checkOrder(t, r.read("party/"+gideon+"-journal.md"), 2)
		r.close()
		broken = false
		r.open()
		if _, err := r.table.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.table.background.Wait()
		checkOrder(t, r.read("party/"+tilda+"-journal.md"), 2)
		if left, err := journal.Parked(r.dir, "ash"); err != nil || len(left) > 0 {
			t.Errorf("still parked: %v, %v", left, err)
		}
	},
	"F17": func(t *testing.T) {
		r := newRig(t, nil)
		beats(r)
		r.scripts[tilda] = "always\n  say I wait.\n  say [NOTES]\n  say Dear diary.\n"
		r.opts.DrainWait = 10 * time.Millisecond
		r.agents["keeper"] = &talker{reply: func(ctx context.Context, m string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
		r.say(start)
		r.end()
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
		r.close()
		st, err := look.At(t.Context(), r.dir, "ash", "")
		if err != nil || len(st.Journals) != 3 {
			t.Errorf("pending: %v, %v", st.Journals, err)
		}
		r.agents["keeper"], r.opts.DrainWait = &talker{reply: titled}, 0
		r.open()
		if _, err := r.table.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.drain()
		checkOrder(t, r.read("party/"+tilda+"-journal.md"), 1)
	},
}

// heldBack: the keepers of the first cycle wait while the second is played.
// Entries describe their own cycle, in order, and nobody sees half a file.
func heldBack(t *testing.T) {
	r := newRig(t, nil)
	beats(r)
	notes := 0
	r.agents[tilda] = &talker{reply: func(context.Context, string) (string, error) {
		notes++
		return fmt.Sprintf("I wait.\n[NOTES]\nNote of %d.", notes), nil
	}}
	release := make(chan struct{})
	var mu sync.Mutex
	var heard []string
	r.agents["keeper"] = &talker{reply: func(ctx context.Context, m string) (string, error) {
		mu.Lock()
		heard = append(heard, m)
		mu.Unlock()
		select {
		case <-release:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		return titled(ctx, m)
	}}
	r.opts.JournalWait = time.Millisecond
	r.open()
	stop := make(chan struct{})
	torn := make(chan string, 1)
	var watch sync.WaitGroup
	watch.Go(func() { watchNarrative(r.path("tmp/"+table.NarrativeFile), stop, torn) })
	r.say(start)
	r.say(story.Input{Kind: story.InputContinue})
	has(t, "notes of the second", r.read("tmp/tilda-brannock-notes-for-journal.md"), "Note of 2.")
	close(release)
	r.drain()
	close(stop)
	watch.Wait()
	select {
	case text := <-torn:
		t.Errorf("a reader saw %q", text)
	default:
	}
	for _, who := range []string{tilda, gideon, sera} {
		checkOrder(t, r.read("party/"+who+"-journal.md"), 2)
	}
	for _, m := range heard {
		_, now, _ := strings.Cut(m, "# What happened")
		first := strings.Contains(m, "Cycle: 1\n")
		if first != strings.Contains(now, "Beat 1.") || first && strings.Contains(now, "Note of 2.") || !first && strings.Contains(now, "Note of 1.") {
			t.Errorf("an entry was asked for with another cycle's words:\n%s", m)
		}
	}
	eqs(t, "tmp", r.tmp(), table.NarrativeFile)
}

// watchNarrative reads a file over and over: it is always whole.
func watchNarrative(file string, stop <-chan struct{}, torn chan<- string) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		data, err := os.ReadFile(file)
		if err == nil && !strings.HasSuffix(string(data), ".\n") {
			select {
			case torn <- string(data):
			default:
			}
			return
		}
	}
}

// checkOrder wants exactly the beats from 1 to n, in order.
func checkOrder(t *testing.T, journal string, n int) {
	t.Helper()
	var got []string
	for line := range strings.Lines(journal) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			got = append(got, strings.TrimSpace(title))
		}
	}
	var want []string
	for i := 1; i <= n; i++ {
		want = append(want, fmt.Sprintf("Beat %d.", i))
	}
	eqs(t, "entries", got, want...)
}

var rulingsGI = map[string]func(*testing.T){
	"G2": func(t *testing.T) {
		r := newRig(t, map[string]string{"tmp/narrative-for-journal.md": "Before.\n"})
		keeper := r.listening("keeper", keeperScript)
		r.scripts["gm"] = gmSays("session-start", gmContext+prompt(gideon, "SECRET_ACTION")+"[AWAIT_AI_PLAYERS: gideon-harrowmoor]") + gmSays("Event: responses", "You have the key.")
		r.say(start)
		r.drain()
		eq(t, "narrative", r.read("tmp/narrative-for-journal.md"), "Before.\n")
		eq(t, "keepers", len(keeper.heard), 1)
		has(t, "keeper", keeper.heard[0], "Character: gideon-harrowmoor")
		has(t, "keeper", keeper.heard[0], "# What only you saw\n\nYou have the key.")
	},
	"G3": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = gmSays("session-start", gmContext+prompt(gideon, "SECRET_ACTION")+prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: gideon-harrowmoor, tilda-brannock]") + gmSays("Event: responses", "Done.")
		r.say(start)
		paused := false
		for _, n := range r.notices {
			text := n.For(tilda)
			paused = paused || text == "The table pauses."
			hasNot(t, "screen", text, gideon)
		}
		if !paused {
			t.Error("no neutral word was shown")
		}
	},
	"G4": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = gmSays("", "For all.\n[TO: tilda-brannock]\nFor Tilda.\n[/TO]\n[GM]\nFor nobody.\n[/GM]")
		res := r.say(start)
		eq(t, "tilda", story.TextOf(res.Blocks, tilda, table.Roster{}.Called), "For all.\n\nFor Tilda.")
		eq(t, "gideon", story.TextOf(res.Blocks, gideon, table.Roster{}.Called), "For all.")
		eq(t, "spectator", story.TextOf(res.Blocks, table.SeatTable, table.Roster{}.Called), "For all.")
		has(t, "gm", story.TextOf(res.Blocks, "gm", table.Roster{}.Called), "For nobody.")
	},
	"G8": func(t *testing.T) {
		r := newRig(t, nil)
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		r.say(start)
		r.drain()
		r.close()
		list, err := calls.List(r.dir, "ash")
		if err != nil || len(list) != 6 { // two of the GM, one player, three keepers
			t.Fatalf("%d calls, %v", len(list), err)
		}
		for _, c := range list {
			if bad := c.Trespasses(); len(bad) > 0 || len(c.Sources.Sources) == 0 {
				t.Errorf("%s: %v of %v", c.Run, bad, c.Sources)
			}
		}
		bad := calls.Call{Sources: calls.Sources{Role: "player", Character: tilda, Sources: []table.Source{{Path: "story-state.md"}}}}
		eq(t, "found out", len(bad.Trespasses()), 1)
	},
	"G9": func(t *testing.T) {
		// A program that is not of this process gets a sealed room or none.
		r := newRig(t, nil)
		script, err := scripted.Parse([]byte("always\n  say I wait.\n"))
		if err != nil {
			t.Fatal(err)
		}
		cast := r.opts.Cast
		r.opts.Cast = func(role policy.Role, character string, stepIn bool) (seating.Actor, error) {
			if role == policy.Player {
				return seating.Actor{Agent: &scripted.Agent{Script: script}}, nil // says that it is a program
			}
			return cast(role, character, stepIn)
		}
		r.open()
		view, err := r.table.campaign.PlayerContext(tilda, []byte("x"), table.ContextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := r.table.seats.Player("table.ash.x", tilda, view)
		plan, err := s.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Builtin) > 0 {
			t.Errorf("tools of its own: %v", plan.Builtin)
		}
		if _, err := s.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		eq(t, "level", plan.Room.Level, room.Sealed)
	},
	"I1": func(t *testing.T) {
		r := newRig(t, nil)
		r.people[tilda] = true
		keeper := r.listening("keeper", keeperScript)
		var asked string
		r.opts.Asker = askerFunc(func(q string) (string, error) {
			asked = q
			r.read("tmp/tilda-brannock-prompt.md")
			return "I light a match.", nil
		})
		seen := ""
		gm := &talker{}
		gm.reply = func(_ context.Context, m string) (string, error) {
			if strings.Contains(m, "Event: responses") {
				seen = r.read("tmp/tilda-brannock-response.md")
				return "Light.", nil
			}
			return gmContext + prompt(tilda, "QUICK_REACTION") + "[AWAIT_AI_PLAYERS: tilda-brannock]", nil
		}
		r.agents["gm"] = gm
		r.say(start)
		r.drain()
		eq(t, "response file", seen, "I light a match.\n")
		hasNot(t, "what a person sees", asked, "CANARY")
		has(t, "the typed words are notes", strings.Join(keeper.heard, "\n"), "# Your notes\n\nI light a match.")
	},
	"I2": func(t *testing.T) {
		r := newRig(t, map[string]string{
			"tmp/tilda-brannock-prompt.md": "---\nrequest_type: QUICK_REACTION\n---\n\n## Scene\nA mill.\n\n## Just Happened\nA splash.\n\n## Request\nReact.\n",
			"tmp/gm-context.md":            "## Expecting\nFun.\n",
		})
		r.people["gm"] = true
		r.open()
		_, err := r.table.Say(t.Context(), story.Input{Kind: story.InputSignal, Who: "gm", Names: []string{tilda}})
		if away := (*people.AwayError)(nil); !errors.As(err, &away) {
			t.Fatalf("nobody narrated, yet %v", err)
		}
		eq(t, "response", r.read("tmp/tilda-brannock-response.md"), "I wait.\n")
		if err := people.Leave(r.dir, "ash", "gm", "She waits by the wheel."); err != nil {
			t.Fatal(err)
		}
		results, err := r.table.Recover(t.Context())
		if err != nil || story.TextOf(results[0].Blocks, table.SeatTable, table.Roster{}.Called) != "She waits by the wheel." {
			t.Errorf("%+v, %v", results, err)
		}
		r.drain()
		eqs(t, "tmp", r.tmp(), table.NarrativeFile)
		r.close()
		r.opts.Asker = askerFunc(func(q string) (string, error) {
			if strings.Contains(q, "Signal refused") {
				return "Then nobody.", nil
			}
			return "[AWAIT_AI_PLAYERS: tilda]", nil
		})
		r.table = nil
		res := r.say(story.Input{Kind: story.InputContinue})
		eq(t, "the same checks", story.TextOf(res.Blocks, table.SeatTable, table.Roster{}.Called), "Then nobody.")
	},
	"I3": func(t *testing.T) {
		r := newRig(t, nil)
		r.people[tilda] = true
		r.opts.Caps.PlayerTimeout = time.Millisecond
		r.opts.Asker = askerFunc(func(string) (string, error) {
			<-time.After(30 * time.Millisecond)
			return "Slowly.", nil
		})
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		r.say(start)
		eq(t, "response", outcome(r.lastCommit(), tilda).Response, "Slowly.\n")
	},
	"I4": func(t *testing.T) {
		r := newRig(t, nil)
		r.people[tilda] = true
		gone := true
		r.opts.Asker = askerFunc(func(string) (string, error) {
			if gone {
				return "", errors.New("the line is dead")
			}
			return "I am back.", nil
		})
		k := r.listening(gideon, "always\n  say I wait.\n")
		r.scripts["gm"] = gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]") + gmSays("Event: responses", "Done.")
		r.open()
		_, err := r.table.Say(t.Context(), start)
		var cut *engine.CutError
		if !errors.As(err, &cut) {
			t.Fatalf("%v", err)
		}
		r.close()
		gone = false
		r.open()
		if _, err := r.table.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		eq(t, "response", outcome(r.lastCommit(), tilda).Response, "I am back.\n")
		eq(t, "gideon was asked once", len(k.heard), 1)
	},
	"I6": func(t *testing.T) {
		r := newRig(t, nil)
		r.people[tilda] = true
		r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
		r.open()
		if _, err := r.table.Say(t.Context(), start); err == nil {
			t.Fatal("nobody answered")
		}
		for _, text := range []string{"First thought.", "Second thought."} {
			if err := people.Leave(r.dir, "ash", tilda, text); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.table.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		eq(t, "response", outcome(r.lastCommit(), tilda).Response, "Second thought.\n")
		if people.HasLeft(r.dir, "ash", tilda) {
			t.Error("the draft is still there")
		}
	},
}
