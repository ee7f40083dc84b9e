package claude

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/jsontext"
	"conclave/internal/modelstub"
	"conclave/session/claude"
	"conclave/transcript"
)

func TestModelErrors(t *testing.T) {
	say := modelstub.Answer(modelstub.Say("There."))
	for _, c := range []struct {
		name    string
		retries int
		replies []modelstub.Reply
		status  int    // of the error that ends the turn; 0: it works out
		text    string // of the reply
		final   int    // entries of type error that are final
		retried bool   // some errors were retried, and are on the record
	}{
		// The newer program asks again with fewer features before it gives up.
		{"400", 1, []modelstub.Reply{modelstub.Fail(400, "no such thing")}, 400, "", 1, false},
		{"401", -1, []modelstub.Reply{modelstub.Fail(401, "bad key")}, 401, "", 1, false},
		{"429 then success", 1, []modelstub.Reply{{Status: 429, ErrorMessage: "slow down", RetryAfter: time.Second}, say}, 0, "There.", 0, true},
		{"529 then success", 2, []modelstub.Reply{modelstub.Fail(529, "overloaded"), modelstub.Fail(529, "overloaded"), say}, 0, "There.", 0, true},
		{"529 exhausted", 1, []modelstub.Reply{modelstub.Fail(529, "overloaded"), modelstub.Fail(529, "overloaded"), modelstub.Fail(529, "overloaded")}, 529, "", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachVersion(t, func(t *testing.T, version string) {
				r := start(t, setup{version: version, config: Config{Retries: c.retries}, handler: firstThenLater(c.replies)})
				reply, err := r.say("Are you there?")
				var api *APIError
				switch {
				case c.status == 0 && err != nil:
					t.Fatal(err)
				case c.status != 0 && (!errors.As(err, &api) || api.Status != c.status):
					t.Fatalf("the turn ends with %v, want status %d", err, c.status)
				}
				if reply.Text != c.text {
					t.Errorf("reply %q, want %q", reply.Text, c.text)
				}
				if again := r.must("And now?"); again.Text != "Later." {
					t.Errorf("after it: %q", again.Text)
				}
				r.stop()
				final, transient := countErrors(r)
				if final != c.final || (transient > 0) != c.retried {
					t.Errorf("%d final and %d transient errors on the record", final, transient)
				}
			})
		})
	}
}

// firstThenLater plays the replies, the last of them again and again, until the
// second message comes.
func firstThenLater(replies []modelstub.Reply) modelstub.Handler {
	next := 0
	return func(r modelstub.Request) modelstub.Reply {
		if strings.Contains(r.LastUser(), "And now?") {
			return modelstub.Answer(modelstub.Say("Later."))
		}
		next = min(next+1, len(replies))
		return replies[next-1]
	}
}

func countErrors(r *rig) (final, transient int) {
	for _, e := range r.store.Entries() {
		if e.Type == transcript.Error {
			if string(jsontext.Get(e.Detail, "transient")) == "true" {
				transient++
			} else {
				final++
			}
		}
	}
	return final, transient
}

// A stream that breaks off is told from one that ends: by a lost connection,
// and by an error event.
func TestBrokenStream(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  modelstub.Reply
	}{
		{"cut", modelstub.Reply{Blocks: []modelstub.Block{modelstub.Say("The answer to your question is fairly long.")}, CutAfter: 4}},
		{"error event", modelstub.Reply{Blocks: []modelstub.Block{modelstub.Say("The answer to your question is fairly long.")}, MidStreamError: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachVersion(t, func(t *testing.T, version string) {
				r := start(t, setup{version: version, config: Config{Retries: 1},
					handler: modelstub.Script(c.cut, modelstub.Answer(modelstub.Say("It is seven.")), modelstub.Answer(modelstub.Say("Still here.")))})
				reply, err := r.say("What is it?")
				var api *APIError
				if err != nil && !errors.As(err, &api) {
					t.Fatalf("the turn ends with %v", err)
				}
				t.Logf("reply %q, %v", reply.Text, err)
				final, _ := countErrors(r)
				if err == nil && !strings.Contains(reply.Text, "It is seven.") || (err != nil) != (final > 0) {
					t.Errorf("reply %q, %v, with %d errors on the record", reply.Text, err, final)
				}
				if _, err := r.say("Are you still there?"); err != nil {
					t.Errorf("the session is gone: %v", err)
				}
				r.stop()
			})
		})
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, handler: firstThenLater([]modelstub.Reply{
			{Blocks: []modelstub.Block{modelstub.Say("I would rather not.")}, StopReason: "refusal"}})})
		reply, err := r.say("Do something bad.")
		var api *APIError
		if !errors.As(err, &api) || !strings.Contains(reply.Text, "I would rather not.") {
			t.Errorf("a refusal gives %q, %v", reply.Text, err)
		}
		if again := r.must("And now?"); again.Text != "Later." {
			t.Errorf("after a refusal: %q", again.Text)
		}
		r.stop()
		if final, _ := countErrors(r); final != 1 {
			t.Errorf("%d errors on the record", final)
		}
	})
}

func TestRefusedAndFailingTools(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, spec: agent.Spec{Tools: agent.Tools{Builtin: []string{"Bash(echo *)", "Read"}}},
			handler: modelstub.Script(
				modelstub.Answer(modelstub.Call("Bash", "toolu_ok", `{"command":"echo fine"}`)),
				modelstub.Answer(modelstub.Call("Bash", "toolu_refused", `{"command":"rm -rf /tmp/nothing"}`)),
				modelstub.Answer(modelstub.Call("Read", "toolu_failing", `{"file_path":"/no/such/file"}`)),
				modelstub.Answer(modelstub.Call("Fly", "toolu_unknown", `{}`)),
				modelstub.Answer(modelstub.Call("Read", "toolu_bad", `{"path":7}`)),
				modelstub.Answer(modelstub.Say("I give up.")),
			)})
		r.must("Try everything.")
		r.stop()
		r.wantUsage(6)
		want := map[string]bool{"toolu_ok": false, "toolu_refused": true, "toolu_failing": true, "toolu_unknown": true, "toolu_bad": true}
		for _, e := range r.store.Entries() {
			if e.Type != transcript.ToolResult {
				continue
			}
			id := string(jsontext.Bare(jsontext.Get(e.Detail, "tool_use_id")))
			if failed := jsontext.Get(e.Detail, "is_error") != nil; failed != want[id] {
				t.Errorf("%s: error %v: %s", id, failed, claude.Text(e.Detail))
			}
			delete(want, id)
		}
		if len(want) > 0 {
			t.Errorf("no result for %v", want)
		}
	})
}

func TestInterruptThenGoOn(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, spec: agent.Spec{Tools: agent.Tools{Builtin: []string{"Bash"}}},
			handler: modelstub.Script(
				modelstub.Answer(modelstub.Call("Bash", "toolu_1", `{"command":"echo up; sleep 600"}`)),
				modelstub.Answer(modelstub.Say("Back.")))})
		turn, err := r.session.Send(t.Context(), agent.Message{Text: "Sleep."})
		if err != nil {
			t.Fatal(err)
		}
		for {
			e, err := turn.Next()
			if err != nil {
				t.Fatal(err)
			}
			if e.Entry != nil && e.Entry.Type == transcript.ToolUse {
				break
			}
		}
		if err := turn.(agent.Interrupter).Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		reply, _, err := agenttest.Drain(turn)
		if err != nil || reply.Stopped != "interrupted" {
			t.Errorf("reply %+v, %v", reply, err)
		}
		if again := r.must("Wake up."); again.Text != "Back." {
			t.Errorf("after it: %q", again.Text)
		}
		r.stop()
		interrupts := 0
		for _, e := range r.store.Entries() {
			if string(jsontext.Get(e.Detail, "subtype")) == `"interrupt"` {
				interrupts++
			}
		}
		if interrupts != 1 {
			t.Errorf("%d interrupts on the record", interrupts)
		}
	})
}

// A turn that is cancelled before the program has taken it up does not run on.
func TestCancelAtOnce(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, handler: func(q modelstub.Request) modelstub.Reply {
			if strings.Contains(q.LastUser(), "Again") {
				return modelstub.Answer(modelstub.Say("Back."))
			}
			return modelstub.Reply{Blocks: []modelstub.Block{modelstub.Say("so far")}, Hold: make(chan struct{})}
		}})
		ctx, cancel := context.WithCancel(t.Context())
		turn, err := r.session.Send(ctx, agent.Message{Text: "Begin."})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		began := time.Now()
		if _, _, err := agenttest.Drain(turn); !errors.Is(err, context.Canceled) {
			t.Errorf("the turn ends with %v", err)
		}
		if took := time.Since(began); took > interruptWait {
			t.Errorf("it took %v", took)
		}
		if again := r.must("Again."); again.Text != "Back." {
			t.Errorf("after it: %q", again.Text)
		}
		r.stop()
	})
}

func TestLimits(t *testing.T) {
	loop := func(modelstub.Request) modelstub.Reply {
		return modelstub.Answer(modelstub.Call("Bash", "", `{"command":"true"}`))
	}
	for _, c := range []struct {
		want    string
		limits  agent.Limits
		handler modelstub.Handler
	}{
		{"turn limit", agent.Limits{Turns: 2}, loop},
		{"budget", agent.Limits{BudgetUSD: 0.001}, loop},
		{"wall time", agent.Limits{Wall: time.Second}, func(modelstub.Request) modelstub.Reply {
			return modelstub.Reply{Blocks: []modelstub.Block{modelstub.Say("so far")}, Hold: make(chan struct{})}
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			eachVersion(t, func(t *testing.T, version string) {
				r := start(t, setup{version: version, spec: agent.Spec{Limits: c.limits, Tools: agent.Tools{Builtin: []string{"Bash"}}}, handler: c.handler})
				reply, err := r.say("Go on and on.")
				if err != nil || reply.Stopped != c.want {
					t.Errorf("reply %+v, %v", reply, err)
				}
			})
		})
	}
}

// A program that is killed from outside ends the turn and the session, and
// leaves a record of what it had written.
func TestProgramDies(t *testing.T) {
	t.Parallel()
	r := start(t, setup{version: versions[0], handler: modelstub.Script(modelstub.Reply{
		Blocks: []modelstub.Block{modelstub.Say("so far")}, Hold: make(chan struct{})})})
	turn, err := r.session.Send(t.Context(), agent.Message{Text: "Begin."})
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := turn.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Entry != nil && e.Entry.Type == transcript.UserMessage {
			break
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.session.(*driven).proc.Stop(gone); err != nil {
		t.Fatal(err)
	}
	if _, _, err := agenttest.Drain(turn); !errors.Is(err, agent.ErrStopped) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the turn ends with %v", err)
	}
	if _, err := r.session.Send(t.Context(), agent.Message{Text: "Still there?"}); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("a further message gives %v", err)
	}
}
