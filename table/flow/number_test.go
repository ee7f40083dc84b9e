package flow

import (
	"context"
	"maps"
	"strings"
	"testing"

	"conclave/table"
	"conclave/table/story"
)

// checkNumbers: every event has a number of its own, and who reads the log knows
// what the table knows.
func checkNumbers(t *testing.T, r *rig, kinds string) {
	t.Helper()
	var got []string
	seen := map[int]bool{}
	for _, e := range r.events() {
		got = append(got, e.Kind)
		if seen[e.Seq] {
			t.Errorf("two events have the number %d", e.Seq)
		}
		seen[e.Seq] = true
	}
	eq(t, "events", strings.Join(got, " "), kinds)
	read, err := story.Load(r.dir, "ash")
	if err != nil {
		t.Fatal(err)
	}
	here := r.table.snapshot()
	eq(t, "newest", here.Seq, read.Seq)
	eq(t, "cycle", here.Cycle, read.Cycle)
	if !maps.Equal(here.Away, read.Away) || !maps.Equal(here.Statuses, read.Statuses) {
		t.Errorf("away %v, %v; read: away %v, %v", here.Away, here.Statuses, read.Away, read.Statuses)
	}
}

// cutAfter begins a session that is cut when a step was recorded, and nothing more
// is done in it.
func (r *rig) cutAfter(recorded string) {
	r.t.Helper()
	ctx, cut := context.WithCancel(r.t.Context())
	defer cut()
	said := make(chan struct{})
	r.opts.Crash = func(label string) {
		if label == "recorded "+recorded {
			cut()
			<-said
		}
	}
	r.open()
	_, err := r.table.Say(ctx, start)
	close(said)
	if err == nil {
		r.t.Fatal("nothing was cut")
	}
	r.close()
	r.opts.Crash = nil
}

// A person steps away while the game master thinks: neither that nor the cycle is
// lost, and both have a number of their own.
func TestNumbersWhileACycleIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	gm := r.listening("gm", gmSays("session-start", "Rain.")+gmSays("continue", "More rain."))
	reply := gm.reply
	gm.reply = func(ctx context.Context, m string) (string, error) {
		if strings.Contains(m, "session-start") {
			if err := r.table.StepAway(t.Context(), gideon, false); err != nil {
				t.Error(err)
			}
			if err := r.table.SetStatus(t.Context(), sera, table.Benched); err != nil {
				t.Error(err)
			}
		}
		return reply(ctx, m)
	}
	r.say(start)
	eq(t, "the next cycle", r.say(story.Input{Kind: story.InputContinue}).Cycle, 2)
	checkNumbers(t, r, "session seat seat commit commit")
	r.close()
	r.open()
	checkNumbers(t, r, "session seat seat commit commit")
}

// The process dies in a cycle, and a person steps away before the table goes on:
// before the cycle has its number, and after.
func TestNumbersOfWhatWasCut(t *testing.T) {
	t.Parallel()
	for at, kinds := range map[string]string{
		"begin":    "session seat seat commit commit",
		"close gm": "session commit seat seat commit",
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.listening("gm", "always on Event\n  say It rains.\n")
			r.cutAfter(at)
			for _, back := range []bool{false, true} {
				r.open()
				if err := r.table.StepAway(t.Context(), gideon, back); err != nil {
					t.Fatal(err)
				}
				r.close()
			}
			r.open()
			if _, err := r.table.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			eq(t, "the next cycle", r.say(story.Input{Kind: story.InputContinue}).Cycle, 2)
			checkNumbers(t, r, kinds)
		})
	}
}

// What was asked before a process died was asked: who is killed again and again
// has no more calls than anybody else.
func TestCallsAreBoundedOverKills(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.opts.Caps.Calls = 2
	calls := 0
	var cut context.CancelFunc
	begin := func() context.Context {
		var ctx context.Context
		ctx, cut = context.WithCancel(t.Context())
		t.Cleanup(cut)
		return ctx
	}
	r.agents[tilda] = &talker{reply: func(ctx context.Context, _ string) (string, error) {
		calls++
		cut()
		<-ctx.Done()
		return "", ctx.Err()
	}}
	r.listening("gm", gmSays("session-start", "Now.\n"+gmContext+prompt(tilda, "QUICK_REACTION")+
		"[AWAIT_AI_PLAYERS: tilda-brannock]")+gmSays("responses", "Nobody speaks."))
	r.open()
	_, err := r.table.Say(begin(), start)
	for range 2 {
		if err == nil {
			t.Fatal("nothing was cut")
		}
		r.close()
		r.open()
		_, err = r.table.Recover(begin())
	}
	if err != nil {
		t.Fatal(err)
	}
	eq(t, "calls", calls, 2)
	e := r.lastCommit()
	eq(t, "outcome", outcome(e, tilda).Outcome, story.OutcomeError)
	has(t, "log", strings.Join(e.Warnings, "\n"), "tilda-brannock was not asked again: 2 calls are spent")
}

// One who was asked twice before the process died leaves nothing to the next.
func TestCallsOfOthersAreBoundedOverKills(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.opts.Caps.Calls = 3
	r.people[gideon] = true
	r.opts.Here = only()
	calls := 0
	for _, who := range []string{tilda, gideon} {
		r.agents[who] = &talker{reply: func(context.Context, string) (string, error) { calls++; return "", nil }}
	}
	r.listening("gm", gmSays("session-start", "Now.\n"+gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+
		"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]")+gmSays("responses", "Nobody speaks."))
	r.open()
	if _, err := r.table.Say(t.Context(), start); err == nil {
		t.Fatal("nobody was waited for")
	}
	eq(t, "calls of tilda", calls, 2)
	r.close()
	r.open()
	if err := r.table.StepAway(t.Context(), gideon, false); err != nil {
		t.Fatal(err)
	}
	if _, err := r.table.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	eq(t, "calls", calls, 3)
}
