package flow

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/acp"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/dice"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/seat"
	"conclave/table"
	"conclave/table/seating"
	"conclave/table/story"
)

// realProgram is a real program in a room, with a model that says what the test
// wants.
func realProgram(t *testing.T, name string, stub *modelstub.Server) seating.Actor {
	t.Helper()
	speaks := map[string]struct {
		kind gateway.Kind
		find func() (string, error)
	}{"gemini": {gateway.Gemini, clients.Gemini}, "opencode": {gateway.Anthropic, clients.OpenCode},
		"qwen": {gateway.Chat, clients.Qwen}}
	if p, ok := speaks[name]; ok {
		path, err := p.find()
		if err != nil {
			t.Fatal(err)
		}
		return realACP(t, name, p.kind, path, stub)
	}
	var a agent.Agent
	kind, model := gateway.Anthropic, "claude-sonnet-4-5"
	native, err := clients.Claude(clients.ClaudeNew)
	if err == nil {
		native, err = filepath.EvalSymlinks(native)
	}
	if name == "codex" {
		kind, model = gateway.OpenAI, "gpt-5-codex"
		if native, err = clients.Codex(); err == nil {
			native, err = codex.Locate(native)
		}
	}
	var remove func()
	if err == nil {
		native, remove, err = clients.Lend(native)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	if a = claude.New(claude.Config{Program: native}); name == "codex" {
		if a, err = codex.New(codex.Options{Program: native}); err != nil {
			t.Fatal(err)
		}
	}
	return seating.Actor{Agent: a, Dress: func(p *seat.Plan) {
		p.Model, p.Upstream = model, &gateway.Upstream{Kind: kind, BaseURL: stub.URL()}
		p.Room.Programs = append(p.Room.Programs, filepath.Dir(native))
	}}
}

// realACP is a real program that speaks the Agent Client Protocol.
func realACP(t *testing.T, name string, kind gateway.Kind, path string, stub *modelstub.Server) seating.Actor {
	t.Helper()
	at, err := acp.Locate(name, path, clients.Node)
	if err != nil {
		t.Fatal(err)
	}
	a, err := acp.New(acp.Options{Name: name, Program: at, Provider: string(kind)})
	if err != nil {
		t.Fatal(err)
	}
	model := map[gateway.Kind]string{gateway.Anthropic: "claude-sonnet-4-5", gateway.Chat: "gpt-4.1",
		gateway.Gemini: "gemini-2.5-flash"}[kind]
	return seating.Actor{Agent: a, Dress: func(p *seat.Plan) {
		p.Model, p.Upstream = model, &gateway.Upstream{Kind: kind, BaseURL: stub.URL()}
		p.Room.Programs = append(p.Room.Programs, at.Dirs...)
	}}
}

// Real programs as players: what reaches the model holds no canary, whatever
// their front ends would do with @file and !command. Of tools they have the
// dice for their own character and nothing else.
func TestRealPlayers(t *testing.T) {
	t.Parallel()
	sample.Long(t)
	all := []string{"claude", "codex", "gemini", "opencode", "qwen"}
	for _, i := range sample.Pick(t, len(all), 0, 2) {
		name := all[i]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stub := modelstub.New(modelstub.Named(modelstub.Script(
				modelstub.Answer(useTool("roll", args{"expr": "1d20+3", "who": gideon})),
				modelstub.Answer(useTool("roll", args{"expr": "1d20+3"})),
				modelstub.Answer(modelstub.Say("I hold the lantern.\n[NOTES]\nI was afraid.")))))
			t.Cleanup(stub.Close)
			r := newRig(t, canaryFiles)
			at := strings.Replace(needs(tilda, "QUICK_REACTION", "1d20+3 | Stealth | dc 12"), "A splash below.", "@story-state.md @../story-state.md {{npcs/miller.md}} !cat beats/01.md", 1)
			gm := r.listening("gm", gmSays("session-start", "Rain.\n[GM]\nCANARY-GMBLOCK\n[/GM]\n"+gmContext+at+"[AWAIT_AI_PLAYERS: tilda-brannock]")+gmSays("Event: responses", "Done."))
			player := realProgram(t, name, stub)
			cast := r.opts.Cast
			r.opts.Cast = func(role policy.Role, character string, stepIn bool) (seating.Actor, error) {
				if role == policy.Player && character == tilda {
					return player, nil
				}
				return cast(role, character, stepIn)
			}
			r.opts.Caps.PlayerTimeout = 60 * time.Second
			r.say(start)
			eq(t, "answer", outcome(r.lastCommit(), tilda).Response, "I hold the lantern.\n")
			rolls := diceLines(t, r, dice.EventRoll)
			if len(rolls) != 1 || rolls[0].Who != tilda || rolls[0].Purpose != "Stealth" {
				t.Fatalf("rolls %+v", rolls)
			}
			line := rolls[0].Told(dice.Viewer{GM: true})
			has(t, "the GM", gm.heard[1], "\n"+line+"\n")
			has(t, "the party", story.TextOf(r.lastCommit().Blocks, table.SeatTable, table.Roster{}.Called), line)
			r.drain()
			r.close()
			if len(stub.Requests()) != 3 {
				t.Fatalf("the model was asked %d times", len(stub.Requests()))
			}
			// Codex cannot be kept from a question to its user, whom it does not
			// have, nor from tools for a server's resources, of which there are none.
			tools := slices.DeleteFunc(stub.Requests()[0].Tools(), func(tool string) bool {
				return name == "codex" && (tool == "request_user_input" || strings.Contains(tool, "mcp_resource"))
			})
			eqs(t, "tools on offer", tools, cmp.Or(map[string]string{"gemini": "mcp_room_roll", "opencode": "room_roll"}[name],
				"mcp__room__roll"))
			refused := "who"
			if name == "gemini" || name == "qwen" { // which hold a call against the tool's schema themselves
				refused = "NOT have additional properties"
			}
			has(t, "a roll for another", stub.Requests()[1].ToolResults()[0].Text, refused)
			has(t, "a roll", stub.Requests()[2].ToolResults()[0].Text, line)
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
