package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
	"conclave/toolbox"
	"conclave/transcript"
)

// installed is a pinned program, as it is started.
func installed(t *testing.T, name string) Installation {
	t.Helper()
	sample.Long(t)
	path, err := map[string]func() (string, error){"copilot": clients.Copilot, "gemini": clients.Gemini,
		"opencode": clients.OpenCode, "qwen": clients.Qwen}[name]()
	if err != nil {
		t.Fatal(err)
	}
	at, err := Locate(name, path, clients.Node)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// real is a real program in a sealed room, against a scripted model.
type real struct {
	t         *testing.T
	stub      *modelstub.Server
	plan      seat.Plan
	seat      *seat.Seat
	submitted []string
}

const key = "sk-the-real-key-is-known-to-the-gateway-alone"

func models(provider string) string {
	return map[string]string{"anthropic": "claude-sonnet-4-5", "openai": "gpt-5", "chat": "gpt-4.1",
		"gemini": "gemini-2.5-flash"}[provider]
}

func openReal(t *testing.T, name, provider string, h modelstub.Handler, change func(*seat.Plan)) *real {
	t.Helper()
	at := installed(t, name)
	a, err := New(Options{Name: name, Program: at, Provider: provider})
	if err != nil {
		t.Fatal(err)
	}
	r := &real{t: t, stub: modelstub.New(h)}
	t.Cleanup(r.stub.Close)
	workspace := t.TempDir()
	r.plan = seat.Plan{
		Workspace: workspace, Run: "run-1", Role: "cat", PromptName: "acp.cat", Agent: a,
		System: "You are the cat of this house.", Model: models(provider), Builtin: []string{KindRead, KindSearch, KindExecute},
		Upstream: &gateway.Upstream{Kind: gateway.Kind(provider), BaseURL: r.stub.URL(), Key: key},
		Tools: []toolbox.Tool{{Name: "submit", Description: "Hand in the answer.",
			Schema: []byte(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`),
			Handle: func(_ context.Context, in json.RawMessage) (string, error) {
				r.submitted = append(r.submitted, string(in))
				return "accepted", nil
			}}},
		Room: room.Plan{Programs: at.Dirs, Grants: []room.Grant{{Kind: "work", Name: "given.md", Bytes: []byte("the given work")}}},
	}
	for _, name := range planted {
		if heeded := slices.ContainsFunc(a.known.heeds, func(h string) bool { return strings.HasPrefix(name, h) }); !heeded {
			r.plan.Room.Grants = append(r.plan.Room.Grants, room.Grant{Kind: "work", Name: name, Bytes: []byte("PLANTED in " + name)})
		}
	}
	if change != nil {
		change(&r.plan)
	}
	if r.seat, err = seat.Open(t.Context(), r.plan); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// planted are files of a project that programs read of their own accord.
var planted = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", ".github/copilot-instructions.md",
	".github/instructions/x.instructions.md", "AGENTS.override.md", "MEMORY.md", "workspace/AGENTS.md",
	"workspace/CLAUDE.md", "workspace/GEMINI.md", "workspace/QWEN.md", "workspace/.github/copilot-instructions.md"}

func (r *real) close() {
	if _, err := r.seat.Close(context.Background(), "done"); err != nil {
		r.t.Errorf("close: %v", err)
	}
}

func (r *real) say(id, text string) agent.Reply {
	r.t.Helper()
	reply, err := r.seat.Take(r.t.Context(), seat.Turn{ID: id, Parts: []audit.Part{{Origin: audit.FromPerson, Text: text}}})
	if err != nil {
		r.dump()
		r.t.Fatal(err)
	}
	return reply
}

// dump shows what crossed.
func (r *real) dump() {
	path, err := record.Path(r.plan.Workspace, r.plan.Run)
	if err != nil {
		r.t.Fatal(err)
	}
	rec, err := record.Open(path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rec.Close()
	for rec.Next() {
		if channel, data := rec.Frame().Blob(); strings.Contains(channel, ".std") {
			r.t.Logf("%s: %.1500s", channel, data)
		}
	}
}

// shells are the names by which a model calls a program's shell.
var shells = map[string]string{"copilot": "bash", "gemini": "run_shell_command", "opencode": "bash", "qwen": "run_shell_command"}

// look is a model that looks around with the shell, hands in what it found by the
// room's tool, and says so.
func look(t *testing.T, program, command string) modelstub.Handler {
	if program == "qwen" {
		// Without a terminal it takes the end of a command for that of its output.
		command += "; sleep 0.3"
	}
	step := 0
	return func(r modelstub.Request) modelstub.Reply {
		tools := r.Tools()
		if r.Auxiliary() || len(tools) == 0 {
			return modelstub.Answer(modelstub.Say("A title"))
		}
		step++
		switch step {
		case 1:
			input, _ := json.Marshal(map[string]string{"command": command, "description": "look around"})
			return modelstub.Answer(modelstub.Say("I look."), modelstub.Call(shells[program], "call_1", string(input)))
		case 2:
			i := slices.IndexFunc(tools, func(name string) bool { return strings.Contains(name, "submit") })
			if i < 0 {
				t.Errorf("the room's tool is not on offer: %q", tools)
				return modelstub.Answer(modelstub.Say("There is none."))
			}
			return modelstub.Answer(modelstub.Call(tools[i], "call_2", `{"answer":"42"}`))
		}
		return modelstub.Answer(modelstub.Say("All done."))
	}
}

// Every program, with every API that it can ask (make test draws some of them): a
// full turn in a sealed room, with its own shell and the room's tool.
func TestRealPrograms(t *testing.T) {
	type pair struct {
		program
		provider string
	}
	var pairs []pair
	for _, p := range programs {
		for _, provider := range p.providers {
			pairs = append(pairs, pair{p, provider})
		}
	}
	for _, i := range sample.Pick(t, len(pairs), 1, 2) {
		p, provider := pairs[i].program, pairs[i].provider
		t.Run(p.name+"/"+provider, func(t *testing.T) {
			r := openReal(t, p.name, provider, look(t, p.name, "cat given.md; expr 6 \\* 7"), nil)
			reply := r.say("t1", "Look around.")
			if reply.Text != "I look.\n\nAll done." || reply.Stopped != "" {
				t.Errorf("it said %q, %s", reply.Text, reply.Stopped)
			}
			if len(reply.Uses) != 2 || reply.Uses[1] != (agent.ToolUse{Name: "mcp__room__submit", Said: len("I look.")}) {
				t.Errorf("it used %+v", reply.Uses)
			}
			if !slices.Equal(r.submitted, []string{`{"answer":"42"}`}) {
				t.Errorf("handed in: %q", r.submitted)
			}
			if reply.Usage.Tokens() != (transcript.Usage{Input: 300, Output: 30}) {
				t.Errorf("usage %+v", reply.Usage)
			}
			r.receipt()
			r.asked(p)
			r.close()
			r.onRecord()
		})
	}
}

// receipt: the room was sealed, and what the model was sent is known.
func (r *real) receipt() {
	r.t.Helper()
	got := r.seat.History().Receipts()[0]
	if got.Enforced.Level != "sealed" || got.ModelInput != audit.InputObserved || got.Calls != 3 || got.Refused != 0 ||
		!slices.Equal(got.Tools, []string{"submit"}) || got.Version == "" || got.Session == "" || got.Program == "" {
		r.t.Errorf("receipt %+v", got)
	}
}

// asked: the model was told who it is and offered what the role has, and nothing
// that lay about in the work came into its instructions.
func (r *real) asked(p program) {
	r.t.Helper()
	var want []string
	for _, kind := range r.plan.Builtin {
		want = append(want, p.tools[kind]...)
	}
	for _, q := range r.stub.Requests() {
		if !strings.Contains(string(q.Body), r.plan.System) {
			r.t.Error("a request is without the instructions")
		}
		if strings.Contains(string(q.Body), "PLANTED") {
			r.t.Errorf("what lies in the work is in a request: %s", regexp.MustCompile(`PLANTED in [^"]{20}`).Find(q.Body))
		}
		for _, tool := range q.Tools() {
			if !slices.Contains(want, tool) && !strings.HasSuffix(tool, "submit") {
				r.t.Errorf("the tool %s is on offer", tool)
			}
		}
		if strings.Contains(fmt.Sprint(q.Header), r.plan.Upstream.Key) == strings.Contains(fmt.Sprint(q.Header), "none") {
			r.t.Errorf("the gateway sent %v", q.Header)
		}
	}
	results := fmt.Sprint(r.stub.Requests()[1].ToolResults())
	if !strings.Contains(results, "the given work") || !strings.Contains(results, "42") {
		r.t.Errorf("the shell gave back %s", results)
	}
}

// onRecord: every line that crossed is on an entry, the key and the token nowhere.
func (r *real) onRecord() {
	r.t.Helper()
	path, err := record.Path(r.plan.Workspace, r.plan.Run)
	if err != nil {
		r.t.Fatal(err)
	}
	rec, err := record.Open(path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rec.Close()
	var crossed, raw, unknown int
	for rec.Next() {
		f := rec.Frame()
		if strings.Contains(string(f.Payload), key) {
			r.t.Errorf("the key is on the record (frame %d)", f.Number)
		}
		if channel, data := f.Blob(); strings.HasSuffix(channel, ".stdin") || strings.HasSuffix(channel, ".stdout") {
			crossed += strings.Count(string(data), "\n")
		}
		if f.Kind != record.KindLog {
			continue
		}
		if strings.Contains(string(f.Payload), `"raw"`) {
			raw++
		}
		if strings.Contains(string(f.Payload), `"entry_type":"unknown"`) {
			unknown++
		}
	}
	if err := rec.Err(); err != nil {
		r.t.Error(err)
	}
	if crossed == 0 || raw != crossed {
		r.t.Errorf("%d lines crossed, %d are on entries", crossed, raw)
	}
	if unknown > 0 {
		r.t.Logf("%d lines are not known", unknown)
	}
}

// A file that a program would take for instructions keeps it out of the room.
func TestHeeded(t *testing.T) {
	a, err := New(Options{Name: "gemini", Program: Installation{Path: "/opt/gemini"}, Provider: "gemini"})
	if err != nil {
		t.Fatal(err)
	}
	host := t.TempDir()
	spec := agent.Spec{Place: agent.Place{Host: host, Guest: host}}
	if _, err := a.furnish(spec); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(spec.Place.OnHost(agent.WorkDir, "GEMINI.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.furnish(spec); err == nil || !strings.Contains(err.Error(), "GEMINI.md") {
		t.Errorf("%v", err)
	}
}
