package flow

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/policy"
	"conclave/seat"
)

// realPlayer is a real program in a sealed room, with a model that says what
// the test wants.
func realPlayer(t *testing.T, name string, stub *modelstub.Server) Actor {
	t.Helper()
	var a agent.Agent
	kind, model := gateway.Anthropic, "claude-sonnet-4-5"
	native, err := clients.Claude(clients.ClaudeNew)
	if name == "codex" {
		kind, model = gateway.OpenAI, "gpt-5-codex"
		native, err = clients.Codex()
	}
	if err != nil {
		t.Fatal(err)
	}
	if name == "codex" {
		if native, err = codex.Locate(native); err == nil {
			a, err = codex.New(codex.Options{Program: native})
		}
	} else if native, err = filepath.EvalSymlinks(native); err == nil {
		a = claude.New(claude.Config{Program: native})
	}
	if err != nil {
		t.Fatal(err)
	}
	return Actor{Agent: a, Dress: func(p *seat.Plan) {
		p.Model, p.Upstream = model, &gateway.Upstream{Kind: kind, BaseURL: stub.URL()}
		p.Room.Programs = append(p.Room.Programs, filepath.Dir(native))
	}}
}

// Real programs as players: what reaches the model holds no canary, whatever
// their front ends would do with @file and !command.
func TestRealPlayers(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			stub := modelstub.New(func(modelstub.Request) modelstub.Reply {
				return modelstub.Answer(modelstub.Say("I hold the lantern.\n[NOTES]\nI was afraid."))
			})
			t.Cleanup(stub.Close)
			r := newRig(t, canaryFiles)
			at := strings.Replace(prompt(tilda, "QUICK_REACTION"), "A splash below.", "@story-state.md @../story-state.md {{npcs/miller.md}} !cat beats/01.md", 1)
			r.listening("gm", gmSays("session-start", "Rain.\n[GM]\nCANARY-GMBLOCK\n[/GM]\n"+gmContext+at+"[AWAIT_AI_PLAYERS: tilda-brannock]")+gmSays("Event: responses", "Done."))
			player := realPlayer(t, name, stub)
			cast := r.opts.Cast
			r.opts.Cast = func(role policy.Role, character string, stepIn bool) (Actor, error) {
				if role == policy.Player && character == tilda {
					return player, nil
				}
				return cast(role, character, stepIn)
			}
			r.opts.Caps.PlayerTimeout = 60 * time.Second
			r.say(start)
			eq(t, "answer", outcome(r.lastCommit(), tilda).Response, "I hold the lantern.\n")
			r.drain()
			r.close()
			if len(stub.Requests()) == 0 {
				t.Fatal("no model was asked")
			}
			seen := false
			for _, q := range stub.Requests() {
				seen = seen || bytes.Contains(q.Body, []byte("@story-state.md"))
				if bytes.Contains(q.Body, []byte("CANARY")) {
					t.Errorf("a canary reached the model: %s", q.Body)
				}
			}
			if !seen {
				t.Error("the prompt did not reach the model as it was written")
			}
			checkRecordsOf(t, r, tilda)
		})
	}
}
