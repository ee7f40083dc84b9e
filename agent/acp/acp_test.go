package acp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Subject{Survives: true, New: func(t *testing.T, answers ...agenttest.Answer) (agent.Agent, agent.Spec) {
		f := &fake{}
		for _, a := range answers {
			var turn fakeTurn
			if a.Thinks != "" {
				turn.Plays = append(turn.Plays, says("agent_thought_chunk", "t", a.Thinks)...)
			}
			for i, text := range a.Says {
				turn.Plays = append(turn.Plays, says("agent_message_chunk", fmt.Sprint("m", i), text)...)
			}
			turn.Hangs = a.Hangs
			f.Turns = append(f.Turns, turn)
		}
		return agentOf(t, f)
	}})
}

func permission(kind, title string, options ...string) string {
	var list []string
	for _, o := range options {
		list = append(list, fmt.Sprintf(`{"optionId":"id-%s","kind":%[1]q,"name":"x"}`, o))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"S",`+
		`"toolCall":{"toolCallId":"c","kind":%q,"title":%q},"options":[%s]}}`, kind, title, strings.Join(list, ","))
}

// Whatever the program asks, it is answered, and never with more than the role
// has; both stand on the record.
func TestEveryRequestIsAnswered(t *testing.T) {
	all := []string{"allow_always", "allow_once", "reject_always", "reject_once"}
	request := func(method string) string {
		return `{"jsonrpc":"2.0","id":"q","method":"` + method + `","params":{"sessionId":"S","path":"/etc/passwd"}}`
	}
	selected := func(id string) string { return `"outcome":{"optionId":"id-` + id + `","outcome":"selected"}` }
	const cancelled, refused = `"outcome":{"outcome":"cancelled"}`, `"error":{"code":-32601`
	tests := []struct{ asks, want string }{
		{permission("read", "x", all...), selected("allow_once")},
		{permission("search", "x", "allow_always", "reject_once"), selected("allow_always")},
		{permission("execute", "rm -rf room submit", all...), selected("reject_once")},
		{permission("edit", "x", "allow_once", "reject_always"), selected("reject_always")},
		{permission("execute", "x", "allow_once"), cancelled},
		{permission("other", "submit (room MCP Server)", all...), selected("allow_once")},
		{permission("", "mcp__room__submit", all...), selected("allow_once")},
		{permission("other", "room_hidden", all...), selected("reject_once")},
		{permission("fetch", "x", all...), selected("reject_once")},
		{request("fs/read_text_file"), refused},
		{request("fs/write_text_file"), refused},
		{request("terminal/create"), refused},
		{request("something/new"), refused},
	}
	f := &fake{Turns: []fakeTurn{{}}}
	for _, tt := range tests {
		f.Turns[0].Plays = append(f.Turns[0].Plays, tt.asks)
	}
	s, store, kept := play(t, f, func(spec *agent.Spec) {
		spec.Tools = agent.Tools{Builtin: []string{KindRead, KindSearch},
			MCP: []agent.MCPServer{{Name: "room", URL: "http://127.0.0.1:1/mcp", Token: "room-token", Tools: []string{"submit"}}}}
	})
	if _, err := ask(t, s, agent.Message{Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for line := range strings.Lines(kept.channel("fake.stdin")) {
		if strings.Contains(line, `"id":"q"`) {
			answers = append(answers, line)
		}
	}
	if len(answers) != len(tests) {
		t.Fatalf("%d answers to %d requests", len(answers), len(tests))
	}
	for i, tt := range tests {
		if !strings.Contains(answers[i], tt.want) {
			t.Errorf("%s\nis answered with %s\nwant %s", tt.asks, answers[i], tt.want)
		}
	}
	if got := s.Info(); got.Version != "9.9" || got.SessionID != "S" || !slices.Equal(got.Unrecognised, []string{"method something/new"}) {
		t.Errorf("info %+v", got)
	}
	if all := kept.channel("fake.stdin"); strings.Contains(all, "room-token") || !strings.Contains(all, "Bearer [withheld]") {
		t.Error("the room's token is on the record")
	}
	asked := 0
	for _, e := range store.Entries() {
		if jsontext.Text(jsontext.Get(e.Detail, "subtype")) == "permission" {
			asked++
		}
	}
	if asked < 2*9 {
		t.Errorf("%d entries of questions and answers", asked)
	}
}

// A turn that is being stopped allows nothing more.
func TestNothingIsAllowedAfterAnInterruption(t *testing.T) {
	f := &fake{Turns: []fakeTurn{{Plays: says("agent_message_chunk", "m", "so far"), Hangs: true}}}
	s, _, _ := play(t, f, func(spec *agent.Spec) { spec.Tools.Builtin = []string{agent.AllTools} })
	turn, err := s.Send(t.Context(), agent.Message{Text: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Next(); err != nil {
		t.Fatal(err)
	}
	in := s.(*session)
	question := []byte(jsontext.Get([]byte(permission("read", "x", "allow_once")), "params"))
	if got := in.permit(question)["outcome"]; got != "selected" {
		t.Errorf("before: %s", got)
	}
	if err := turn.(agent.Interrupter).Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := in.permit(question)["outcome"]; got != "cancelled" {
		t.Errorf("after: %s", got)
	}
	if reply, _, err := agenttest.Drain(turn); err != nil || reply.Stopped != "interrupted" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// An answer that is not in the form that was asked for is asked for once more.
func TestStructuredAnswer(t *testing.T) {
	text := func(s string) fakeTurn { return fakeTurn{Plays: says("agent_message_chunk", "", s)} }
	form := []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	s, _, kept := play(t, &fake{Turns: []fakeTurn{
		text(`{"n":1}`), text(`{"n":"two"}`), text("Here:\n```json\n{\"n\": 2}\n```"), text("no"), text("still no"), text("plain")}}, nil)
	for _, want := range []string{`{"n":1}`, `{"n":2}`, ``} {
		reply, err := ask(t, s, agent.Message{Text: "Which?", Schema: form})
		if err != nil || string(reply.Structured) != want {
			t.Errorf("%s, %v; want %s", reply.Structured, err, want)
		}
	}
	if reply, err := ask(t, s, agent.Message{Text: "And?"}); err != nil || reply.Text != "plain" || reply.Structured != nil {
		t.Errorf("%+v, %v", reply, err)
	}
	if n := strings.Count(kept.channel("fake.stdin"), `"session/prompt"`); n != 6 {
		t.Errorf("%d prompts", n)
	}
}

func TestInstructionsStandBeforeTheFirstMessage(t *testing.T) {
	turn := fakeTurn{Plays: says("agent_message_chunk", "", "yes")}
	s, _, kept := play(t, &fake{Turns: []fakeTurn{turn, turn}}, func(spec *agent.Spec) { spec.System = "You are the cat." })
	for _, text := range []string{"First.", "Second."} {
		if _, err := ask(t, s, agent.Message{Text: text, Images: []agent.Image{{Type: "image/png", Data: []byte("png")}}}); err != nil {
			t.Fatal(err)
		}
	}
	in := kept.channel("fake.stdin")
	if strings.Count(in, "You are the cat.") != 1 ||
		!strings.Contains(in, `"prompt":[{"text":"You are the cat.","type":"text"},{"text":"First.","type":"text"},{"data":"cG5n","mimeType":"image/png","type":"image"}]`) {
		t.Error(in)
	}
}

// What a program refuses, or is, is said with what can be done about it.
func TestStartFails(t *testing.T) {
	server := func(s *agent.Spec) { s.Tools.MCP = []agent.MCPServer{{Name: "room", URL: "http://127.0.0.1:1/mcp"}} }
	for name, tt := range map[string]struct {
		f      fake
		change func(*agent.Spec)
		want   []string
	}{
		"a login is wanted": {fake{Refuses: "Authentication required"}, nil, []string{"Authentication required", "fake-login", "a room has no login"}},
		"another version":   {fake{Version: 2}, nil, []string{"version 2", "we version 1"}},
		"no tool servers":   {fake{Hello: `{"mcpCapabilities":{"http":false}}`}, server, []string{"no tool servers over HTTP", "another program"}},
		"no such model": {fake{Models: []string{"big", "small"}}, func(s *agent.Spec) { s.Model.Name = "huge" },
			[]string{`no model "huge"`, "big, small"}},
		"no way to go on": {fake{Hello: `{}`}, func(s *agent.Spec) { s.Resume = "S" }, []string{"cannot continue a session"}},
		"a limit that it cannot keep": {fake{}, func(s *agent.Spec) { s.Limits.Turns = 3 },
			[]string{"a limit of turns cannot be kept", "tokens"}},
		"no launcher": {fake{}, func(s *agent.Spec) { s.Launcher = nil }, []string{"starts no program by itself"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, spec := agentOf(t, &tt.f)
			var err error
			if spec.Emitter, err = transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: a.Adapter(), Store: &agenttest.Store{}}); err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(&spec)
			}
			s, err := a.Start(t.Context(), spec)
			if err == nil {
				_ = s.Stop(t.Context())
				t.Fatal("it started")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
}

// How a turn ends.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		turn            fakeTurn
		stopped, failed string
	}{
		{fakeTurn{Stop: "max_tokens"}, "length limit", ""},
		{fakeTurn{Stop: "max_turn_requests"}, "turn limit", ""},
		{fakeTurn{Stop: "refusal"}, "", "refused"},
		{fakeTurn{Stop: "novel"}, "", `"novel"`},
		{fakeTurn{Fails: "overloaded"}, "", "overloaded (code -32603)"},
	} {
		s, _, _ := play(t, &fake{Turns: []fakeTurn{tt.turn, {Plays: says("agent_message_chunk", "", "on")}}}, nil)
		reply, err := ask(t, s, agent.Message{Text: "hi"})
		if reply.Stopped != tt.stopped || (err == nil) != (tt.failed == "") || err != nil && !strings.Contains(err.Error(), tt.failed) {
			t.Errorf("%+v: %+v, %v", tt.turn, reply, err)
		}
		if reply, err := ask(t, s, agent.Message{Text: "and?"}); err != nil || reply.Text != "on" {
			t.Errorf("%+v: afterwards %+v, %v", tt.turn, reply, err)
		}
	}
}

// The last words of a program that died are in the error.
func TestAProgramThatDies(t *testing.T) {
	s, _, kept := play(t, &fake{Dies: "out of cheese"}, nil)
	_, err := ask(t, s, agent.Message{Text: "hi"})
	if !errors.Is(err, agent.ErrStopped) || !strings.Contains(err.Error(), "fake said last: out of cheese") {
		t.Errorf("%v", err)
	}
	if _, err := s.Send(t.Context(), agent.Message{Text: "hi"}); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("afterwards: %v", err)
	}
	if got := kept.channel("fake.stderr"); got != "out of cheese\n" {
		t.Errorf("stderr %q", got)
	}
}

// What a program says again of a session that it loads is not said anew.
func TestResume(t *testing.T) {
	s, store, _ := play(t, &fake{Turns: []fakeTurn{{Plays: says("agent_message_chunk", "", "now")}}},
		func(spec *agent.Spec) { spec.Resume = "S" })
	if reply, err := ask(t, s, agent.Message{Text: "hi"}); err != nil || reply.Text != "now" || s.Info().SessionID != "S" {
		t.Errorf("%+v, %v", reply, err)
	}
	var got []string
	for _, e := range store.Entries() {
		if e.Type == transcript.UserMessage || e.Type == transcript.AssistantMessage {
			got = append(got, jsontext.Text(jsontext.Get(e.Detail, "text")))
		}
	}
	if !slices.Equal(got, []string{"hi", "now"}) {
		t.Errorf("messages on the record: %q", got)
	}
}

func TestNew(t *testing.T) {
	at := Installation{Path: "/opt/x"}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Name: "opencode", Program: Installation{Path: "x"}}, "absolute path"},
		{Options{Name: "opencod", Program: at}, "did you mean opencode?"},
		{Options{Name: "zzz", Program: at}, "under `acp`"},
		{Options{Name: "gemini", Program: at, Provider: "anthropic"}, `cannot ask a provider of kind "anthropic"; it asks gemini`},
	} {
		if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}
