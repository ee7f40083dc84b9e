// Package crosstest holds the adapters against each other: the same script of
// the model, played to Claude Code and to Codex, is the same story on the
// record. It has tests only.
package crosstest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/proc"
	"conclave/internal/sample"
	"conclave/transcript"
)

// compared are the types whose sequence must be the same.
var compared = []transcript.Type{
	transcript.UserMessage, transcript.AssistantMessage, transcript.Thinking,
	transcript.ToolUse, transcript.ToolResult, transcript.Error,
}

// script is what the model does, in words that both programs understand.
type script struct {
	name    string
	says    []string // what the person sends, one turn each
	replies []modelstub.Reply
	server  bool   // with a tool server
	hangs   bool   // the last turn is interrupted
	refused string // requests after this message of the person are refused
	want    []transcript.Type
	// unordered says that tools run side by side, and whose result comes
	// before which other call is nobody's promise.
	unordered bool
}

const (
	user  = transcript.UserMessage
	says  = transcript.AssistantMessage
	think = transcript.Thinking
	use   = transcript.ToolUse
	gets  = transcript.ToolResult
	fails = transcript.Error
)

// run is the word for a command in the scripts; each program has its own.
func run(id, command string) modelstub.Block {
	return modelstub.Call("run", id, fmt.Sprintf("%q", command))
}

func scripts() []script {
	answer, say := modelstub.Answer, modelstub.Say
	return []script{
		{name: "plain", says: []string{"Hello."}, replies: []modelstub.Reply{answer(say("Hello yourself."))},
			want: []transcript.Type{user, says}},
		{name: "thinking and two texts", says: []string{"Think."},
			replies: []modelstub.Reply{answer(modelstub.Think("I must think."), say("One."), say("Two."))},
			want:    []transcript.Type{user, think, says, says}},
		{name: "thinking and tools", says: []string{"Look around."},
			replies: []modelstub.Reply{
				answer(modelstub.Think("I must look."), say("I look."), run("t1", "echo seen")),
				answer(modelstub.Think("Once more."), run("t2", "echo twice")),
				answer(say("I have seen it."), say("Twice.")),
			},
			want: []transcript.Type{user, think, says, use, gets, think, use, gets, says, says}},
		{name: "two tools at once", says: []string{"Look twice."},
			replies: []modelstub.Reply{answer(run("t1", "echo one"), run("t2", "echo two")), answer(say("Both."))},
			want:    []transcript.Type{user, use, gets, use, gets, says}, unordered: true},
		{name: "a tool that fails", says: []string{"Try."},
			replies: []modelstub.Reply{answer(run("t1", "echo no >&2; exit 3")), answer(say("It failed."))},
			want:    []transcript.Type{user, use, gets, says}},
		{name: "a tool that does not exist", says: []string{"Try."},
			replies: []modelstub.Reply{answer(modelstub.Call("no_such_tool", "t1", `{}`)), answer(say("There is none."))},
			want:    []transcript.Type{user, use, gets, says}},
		{name: "a tool server", says: []string{"Submit."}, server: true,
			replies: []modelstub.Reply{
				answer(say("I hand in."), modelstub.Call("mcp__room__submit", "t1", `{"answer":"42"}`), modelstub.Call("mcp__room__submit", "t2", `{"answer":"43"}`)),
				answer(say("Once more."), modelstub.Call("mcp__room__submit", "t3", `{"answer":"44"}`)), answer(say("Submitted."))},
			want: []transcript.Type{user, says, use, gets, use, gets, says, use, gets, says}, unordered: true},
		{name: "an error of the model", says: []string{"Fail.", "Again."}, refused: "Fail.",
			replies: []modelstub.Reply{answer(say("Better."))},
			want:    []transcript.Type{user, fails, user, says}},
		{name: "many turns", says: []string{"One.", "Two.", "Three."},
			replies: []modelstub.Reply{answer(say("1")), answer(say("2")), answer(say("3"))},
			want:    []transcript.Type{user, says, user, says, user, says}},
		{name: "an interruption", says: []string{"Tell me a long story."}, hangs: true,
			replies: []modelstub.Reply{answer(say("Once upon a time there was"))},
			want:    []transcript.Type{user, says}},
	}
}

// handler plays a script in the words of whoever asks.
func handler(s script, release chan struct{}) modelstub.Handler {
	var replies []modelstub.Reply
	for i, r := range s.replies {
		if s.hangs && i == len(s.replies)-1 {
			r.Hold = release
		}
		replies = append(replies, r)
	}
	play := modelstub.Script(replies...)
	return func(q modelstub.Request) modelstub.Reply {
		if s.refused != "" && strings.HasSuffix(strings.TrimSpace(q.LastUser()), s.refused) {
			return modelstub.Fail(400, "no such thing") // as often as it is asked
		}
		r := play(q)
		r.Blocks = slices.Clone(r.Blocks)
		for i, b := range r.Blocks {
			if b.Kind != modelstub.ToolUse || b.Name != "run" {
				continue
			}
			name, member := "Bash", "command"
			if q.API == modelstub.Responses {
				name, member = "exec_command", "cmd"
			}
			r.Blocks[i] = modelstub.Call(name, b.ID, fmt.Sprintf(`{%q:%s}`, member, b.Input))
		}
		return r
	}
}

// played is what is on the record after a script.
type played struct {
	types  []transcript.Type
	whole  []transcript.Type // with token_usage
	usages int
	asked  int // responses of the model that were whole
	usage  transcript.Usage
	texts  []string
	uses   []agent.ToolUse // of the room's tool
	served int             // results of it that reached the model
}

func play(t *testing.T, a agent.Agent, s script, mcp string) played {
	t.Helper()
	release := make(chan struct{})
	stub := modelstub.New(handler(s, release))
	t.Cleanup(stub.Close)
	store := &agenttest.Store{}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "cross", Adapter: a.Adapter(), Store: store})
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	spec := agent.Spec{
		System: "You are the cat.", Emitter: emitter, Launcher: proc.Launcher{},
		Model: agent.Model{Name: "claude-sonnet-4-5", BaseURL: stub.URL(), Token: "worthless"},
		Tools: agent.Tools{Builtin: []string{agent.AllTools}},
		Place: agent.Place{Host: room, Guest: room},
	}
	if s.server {
		spec.Tools.MCP = []agent.MCPServer{{Name: "room", URL: mcp, Token: "worthless"}}
	}
	session, err := a.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	}()
	var p played
	for i, text := range s.says {
		turn, err := session.Send(t.Context(), agent.Message{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if s.hangs && i == len(s.says)-1 {
			interrupt(t, turn, s.replies[len(s.replies)-1].Blocks[0].Text)
		}
		reply, _, _ := agenttest.Drain(turn) // the error of a failed turn is on the record
		p.texts = append(p.texts, reply.Text)
		for _, u := range reply.Uses {
			if u.Name == "mcp__room__submit" {
				p.uses = append(p.uses, u)
			}
		}
		p.usage = p.usage.Add(reply.Usage)
	}
	store.Check(t)
	for _, e := range store.Entries() {
		if slices.Contains(compared, e.Type) {
			p.types = append(p.types, e.Type)
		}
		if e.Type == transcript.TokenUsage {
			p.usages++
		}
		if e.Type == transcript.TokenUsage || slices.Contains(compared, e.Type) {
			p.whole = append(p.whole, e.Type)
		}
	}
	for _, x := range stub.Exchanges() {
		if !x.Request.Auxiliary() && x.Status == http.StatusOK {
			p.asked++
		}
		for _, r := range x.Request.ToolResults() {
			if strings.Contains(r.Text, "accepted") {
				p.served++
			}
		}
	}
	p.usage.CostUSD = 0 // only one of them knows it
	return p
}

// interrupt waits until the turn has said text, and stops it.
func interrupt(t *testing.T, turn agent.Turn, text string) {
	t.Helper()
	for heard := ""; heard != text; {
		e, err := turn.Next()
		if err != nil {
			t.Fatalf("the turn ended too early: %v", err)
		}
		heard += e.Delta
	}
	if err := turn.(agent.Interrupter).Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// subjects are the agents that play.
func subjects(t *testing.T) map[string]agent.Agent {
	t.Helper()
	sample.Long(t)
	out := map[string]agent.Agent{}
	for _, version := range []string{clients.ClaudeNew, clients.ClaudeOld} {
		path, err := clients.Claude(version)
		if err != nil {
			t.Fatal(err)
		}
		out["claude "+version] = claude.New(claude.Config{Program: path, Retries: -1})
	}
	path, err := clients.Codex()
	if err != nil {
		t.Fatal(err)
	}
	if path, err = codex.Locate(path); err != nil {
		t.Fatal(err)
	}
	if out["codex"], err = codex.New(codex.Options{Program: path, Retries: -1}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheSameStory(t *testing.T) {
	agents := subjects(t)
	all := scripts()
	for _, i := range sample.Pick(t, len(all), 0, len(all)/2) {
		s := all[i]
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			mcp := toolServer(t)
			byCodex := play(t, agents["codex"], s, mcp)
			for name, a := range agents {
				p := byCodex
				if name != "codex" {
					p = play(t, a, s, mcp)
				}
				compare(t, name, s, p)
				// What a response cost that was cut short, only some say.
				if p.usage != byCodex.usage && !s.hangs {
					t.Errorf("usage: %s %+v, codex %+v", name, p.usage, byCodex.usage)
				}
				if want := len("I hand in."); s.server && !slices.Equal(p.uses, []agent.ToolUse{
					{Name: "mcp__room__submit", Said: want}, {Name: "mcp__room__submit", Said: want}, {Name: "mcp__room__submit", Said: want + len("\n\nOnce more.")}}) {
					t.Errorf("%s: where tools were called: %+v", name, p.uses)
				}
				if s.server && p.served != 3 {
					t.Errorf("%s: %d calls were served, want 3", name, p.served)
				}
				// Without tools what a response consumed stands behind the last that
				// it said. One says what a response with tools consumed before they
				// run, the other while they do.
				if !slices.Contains(s.want, use) && !s.hangs && !slices.Equal(p.whole, byCodex.whole) {
					t.Errorf("%s: %s\ncodex: %s", name, join(p.whole), join(byCodex.whole))
				}
				if !slices.Equal(p.texts, byCodex.texts) {
					t.Errorf("replies: %s %q, codex %q", name, p.texts, byCodex.texts)
				}
			}
		})
	}
}

// compare holds what was played against the script.
func compare(t *testing.T, name string, s script, p played) {
	t.Helper()
	got, want := slices.Clone(p.types), slices.Clone(s.want)
	if s.unordered {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %s\nwant %s", name, join(p.types), join(s.want))
	}
	if p.usages != p.asked && !s.hangs {
		t.Errorf("%s: %d token_usage entries for %d responses", name, p.usages, p.asked)
	}
}

func join(types []transcript.Type) string {
	var out []string
	for _, typ := range types {
		out = append(out, string(typ))
	}
	return strings.Join(out, " ")
}

// toolServer is a tool server with one tool.
func toolServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(serveTools))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}
