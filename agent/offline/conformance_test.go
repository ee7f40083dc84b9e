package offline

import (
	"context"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/transcript"
)

// TestConformance gives a session a mind that does as it is told, so that the
// suite tries everything around the minds.
func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Subject{
		Survives: true,
		New: func(t *testing.T, answers ...agenttest.Answer) (agent.Agent, agent.Spec) {
			given := 0
			told := func(tn *turn) error {
				a := answers[given]
				given++
				if a.Thinks != "" {
					tn.Then(func() error { return tn.Emit(transcript.Thinking, map[string]any{"text": a.Thinks}, nil) })
				}
				tn.say(a.Says...)
				if a.Hangs {
					tn.Then(func() error { return hang(tn) })
				}
				return nil
			}
			return &party{opts: usual, minds: map[string]mind{"cat": told}}, agent.Spec{Role: "cat"}
		},
	})
}

// hang waits for the end of the turn; real minds never do.
func hang(t *turn) error {
	return t.Wait(-1)
}

func TestStartRefuses(t *testing.T) {
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterOffline})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		spec agent.Spec
		want string
	}{
		{"no record", agent.Spec{Role: "cat"}, "no emitter"},
		{"a role it does not play", agent.Spec{Role: "player", Emitter: emitter}, `no "player"`},
		{"an id of another role", agent.Spec{Role: "cat", Emitter: emitter, Resume: "offline-owl-1"}, "no id of an offline session of cat"},
		{"an id of another agent", agent.Spec{Role: "cat", Emitter: emitter, Resume: "scripted-0"}, "no id"},
		{"a count that is none", agent.Spec{Role: "cat", Emitter: emitter, Resume: "offline-cat--1"}, "no id"},
	} {
		if _, err := New().Start(t.Context(), c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

func TestEveryRoleSaysOnceThatItHasNoModel(t *testing.T) {
	roles := []string{"bear", "cat", "owl", "puppy", "rabbit", "wolf", "gandalf", "guardian", "dragon", "simon"}
	if len(roles) != len(minds()) {
		t.Fatalf("%d roles, %d minds", len(roles), len(minds()))
	}
	for _, role := range roles {
		r := start(t, role, harbour())
		first, second := r.say(t, "What about the harbour?"), r.say(t, "And the ledger?")
		if !strings.Contains(first, "no model") && !strings.Contains(first, "No model") && !strings.Contains(first, "without a model") {
			t.Errorf("%s does not say that it has no model: %s", role, first)
		}
		if !strings.Contains(first, "I look") && role != "gandalf" {
			t.Errorf("%s does not say that it only looks: %s", role, first)
		}
		if strings.Contains(strings.ToLower(second), "model behind me") || strings.Contains(second, "without a model:") {
			t.Errorf("%s says it twice: %s", role, second)
		}
		if info := r.session.Info(); info.Model != "none" || info.SessionID != "offline-"+role+"-2" {
			t.Errorf("%s: info = %+v", role, info)
		}
		r.store.Check(t)
	}
}

func TestNoFilesAtAll(t *testing.T) {
	for role := range minds() {
		r := start(t, role, nil)
		if text := r.say(t, "Look."); strings.TrimSpace(text) == "" {
			t.Errorf("%s says nothing", role)
		}
	}
}

func TestCancelledInTheMiddleOfAWalk(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tree := closing{harbour(), cancel}
	r := start(t, "cat", tree)
	turn, err := r.session.Send(ctx, agent.Message{Text: "A council is held."})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := agenttest.Drain(turn); err == nil || ctx.Err() == nil {
		t.Errorf("a turn that was cancelled while it looked ends with %v", err)
	}
	if id := r.session.Info().SessionID; id != "offline-cat-0" {
		t.Errorf("a turn that did not end is remembered: %s", id)
	}
}

func TestLooksAreOnTheRecord(t *testing.T) {
	r := start(t, "cat", harbour())
	text := r.say(t, "A council is held.")
	uses, results, reads := 0, 0, 0
	for _, e := range r.store.Entries() {
		switch e.Type {
		case transcript.ToolUse:
			uses++
			var d struct {
				Name  string
				Input struct{ Path string }
			}
			decode(t, e.Detail, &d)
			if d.Input.Path == "" {
				t.Errorf("a look without a path: %s", e.Detail)
			}
			if d.Name == "read" && strings.Contains(text, "`"+d.Input.Path+":") {
				reads++
			}
		case transcript.ToolResult:
			results++
		case transcript.TokenUsage:
			t.Error("tokens were counted where there are none")
		}
	}
	if uses == 0 || uses != results || reads == 0 {
		t.Errorf("%d looks, %d results, %d reads of cited files", uses, results, reads)
	}
}
