package codex

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/modelstub"
	"conclave/internal/proc"
	"conclave/session/codex"
	"conclave/transcript"
)

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Subject{Survives: true, New: func(t *testing.T, answers ...agenttest.Answer) (agent.Agent, agent.Spec) {
		hold := make(chan struct{})
		var replies []modelstub.Reply
		for _, a := range answers {
			var r modelstub.Reply
			if a.Thinks != "" {
				r.Blocks = append(r.Blocks, modelstub.Think(a.Thinks))
			}
			for _, s := range a.Says {
				r.Blocks = append(r.Blocks, modelstub.Say(s))
			}
			if a.Hangs {
				r.Hold = hold
			}
			replies = append(replies, r)
		}
		stub := modelstub.New(modelstub.Script(replies...))
		t.Cleanup(stub.Close)
		room := t.TempDir()
		a, err := New(Options{Program: program(t), Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		return a, agent.Spec{
			Model: agent.Model{Name: "stub-model", BaseURL: stub.URL(), Token: "worthless"},
			Place: agent.Place{Host: room, Guest: room}, Launcher: proc.Launcher{},
		}
	}})
}

func TestPlainAnswerInALockedRoom(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(modelstub.Answer(modelstub.Think("Hm."), modelstub.Say("Meow."))),
		func(o *Options, s *agent.Spec) { s.Tools.Builtin = nil })
	// What others left lying about must not reach the model.
	for _, dir := range []string{r.spec.Place.Host, r.spec.Place.OnHost(agent.WorkDir), r.spec.Place.OnHost(agent.HomeDir)} {
		if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("PLANTED"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	reply := r.say("Who are you?")
	if reply.Text != "Meow." || reply.Stopped != "" || reply.Usage != (transcript.Usage{Input: 100, Output: 10}) {
		t.Errorf("reply %+v", reply)
	}
	r.want("user_message:Who are you?", "thinking:Hm.", "assistant_message:Meow.")
	info := r.s.Info()
	if info.Version != "0.166.0" || info.SessionID == "" || info.PID == 0 || info.Model != "stub-model" || info.Login != "api key" {
		t.Errorf("info %+v", info)
	}
	reqs := r.stub.Requests()
	if len(reqs) != 1 {
		t.Fatalf("%d requests", len(reqs))
	}
	if got := reqs[0].Header.Get("Authorization"); got != "Bearer worthless" {
		t.Errorf("authorization %q", got)
	}
	if got := strings.TrimSpace(reqs[0].System()); got != "You are the cat." {
		t.Errorf("the model was told %q", got)
	}
	if got := reqs[0].Tools(); !slices.Equal(got, []string{"request_user_input"}) {
		t.Errorf("tools in a locked room: %q", got)
	}
	if body := string(reqs[0].Body); strings.Contains(body, "PLANTED") {
		t.Error("a planted file reached the model")
	}
	r.accounted()
}

// What the program offers by default depends on the model; what it offers in a
// locked room must not.
func TestLockedRoomWhateverTheModel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model string
		tools []string
		want  []string
	}{
		{"gpt-6-sol", nil, []string{"request_user_input"}},
		{"gpt-5.5", nil, []string{"request_user_input"}},
		{"gpt-6-sol", []string{"shell"}, []string{"exec_command", "write_stdin", "request_user_input"}},
		{"gpt-5.5", []string{"apply_patch", "view_image"}, []string{"request_user_input", "apply_patch", "view_image"}},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+strings.Join(tt.tools, "+"), func(t *testing.T) {
			t.Parallel()
			r := start(t, modelstub.Script(modelstub.Answer(modelstub.Say("Meow."))), func(o *Options, s *agent.Spec) {
				s.Model.Name, s.Tools.Builtin = tt.model, tt.tools
			})
			r.say("Who are you?")
			q := r.stub.Requests()[0]
			if got := q.Tools(); !slices.Equal(got, tt.want) {
				t.Errorf("tools on offer: %q, want %q", got, tt.want)
			}
			if got := strings.TrimSpace(q.System()); tt.tools == nil && got != "You are the cat." {
				t.Errorf("the model was told %q", got)
			}
			if q.Model() != tt.model || r.s.Info().Model != tt.model {
				t.Errorf("asked %s, info says %s", q.Model(), r.s.Info().Model)
			}
			r.accounted()
		})
	}
}

// Calls that the program tells of in no item are on the record all the same.
func TestCallsThatNoItemTells(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(
		modelstub.Answer(call("no_such_tool", "c1", `{}`)),
		modelstub.Answer(call("exec_command", "c2", `{"nonsense":1}`)),
		modelstub.Answer(modelstub.Say("Done."))), nil)
	r.say("Try.")
	r.want("user_message:Try.", "tool_use:no_such_tool", "tool_result:no_such_tool!",
		"tool_use:exec_command", "tool_result:exec_command!", "assistant_message:Done.")
	r.accounted()
}

func TestScriptsOfCodeMode(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(
		modelstub.Answer(call("exec", "c1", `"const r = await tools.exec_command({cmd:'echo from-the-script'}); text(r.output)"`)),
		modelstub.Answer(modelstub.Say("Done."))),
		func(o *Options, s *agent.Spec) { s.Model.Name = "gpt-6-sol" })
	r.say("Run it.")
	r.want("user_message:Run it.", "tool_use:exec", "tool_use:commandExecution", "tool_result:commandExecution",
		"tool_result:exec", "assistant_message:Done.")
	r.accounted()
}

func TestCommands(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(
		modelstub.Answer(modelstub.Think("Look."), modelstub.Say("I look."), call("exec_command", "c1", `{"cmd":"echo seen"}`)),
		modelstub.Answer(call("exec_command", "c2", `{"cmd":"echo bad >&2; exit 3"}`), call("exec_command", "c3", `{"cmd":"echo third"}`)),
		modelstub.Answer(modelstub.Say("Done."))), nil)
	reply := r.say("Look around.")
	if reply.Text != "I look.\n\nDone." || reply.Usage.Output != 30 {
		t.Errorf("reply %+v", reply)
	}
	got := r.sequence()
	for _, want := range []string{"tool_use:commandExecution", "tool_result:commandExecution!", "thinking:Look."} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	if n := r.count(transcript.ToolUse, ""); n != 3 || r.count(transcript.ToolResult, "") != 3 {
		t.Errorf("%d calls, %d results, want 3 of each: %q", n, r.count(transcript.ToolResult, ""), got)
	}
	if n := r.count(transcript.TokenUsage, ""); n != 3 {
		t.Errorf("%d usages, want one per response", n)
	}
	r.accounted()
	if !strings.Contains(r.blobs.channel("codex.rollout"), `"exec_command"`) {
		t.Error("the rollout was not kept")
	}
}

// An image that the model looks at is a call and its result, in what the program
// tells while it runs and in what it keeps of it. Of one that is not there it has no
// item, and neither says that the call failed.
func TestViewImage(t *testing.T) {
	t.Parallel()
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	image, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, modelstub.Script(
		modelstub.Answer(call("view_image", "c1", `{"path":"dot.png"}`)),
		modelstub.Answer(call("view_image", "c2", `{"path":"none.png"}`)),
		modelstub.Answer(modelstub.Say("A dot."))),
		func(o *Options, s *agent.Spec) { s.Model.Name, s.Tools.Builtin = "gpt-5.5", []string{"view_image"} })
	if err := os.WriteFile(filepath.Join(r.spec.Place.OnHost(agent.WorkDir), "dot.png"), image, 0o644); err != nil {
		t.Fatal(err)
	}
	r.say("What is it?")
	r.want("user_message:What is it?", "tool_use:imageView", "tool_result:imageView",
		"tool_use:view_image", "tool_result:view_image", "assistant_message:A dot.")
	r.accounted()
	var kept []string
	m := new(codex.FileMapper)
	for _, line := range strings.Split(r.blobs.channel("codex.rollout"), "\n") {
		for i, it := range m.Append(nil, []byte(line)) {
			if it.Type == transcript.ToolUse || it.Type == transcript.ToolResult {
				f := m.Facts(i)
				kept = append(kept, fmt.Sprint(it.Type, " ", f.Tool, " ", f.ToolID, " ", f.Failed))
			}
		}
	}
	want := []string{"tool_use view_image c1 false", "tool_result view_image c1 false",
		"tool_use view_image c2 false", "tool_result view_image c2 false"}
	if !slices.Equal(kept, want) {
		t.Errorf("the rollout tells of %q, not %q", kept, want)
	}
}

func TestFileChange(t *testing.T) {
	t.Parallel()
	patch := `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\nEOF\n"}`
	r := start(t, modelstub.Script(modelstub.Answer(call("exec_command", "c1", patch)), modelstub.Answer(modelstub.Say("Patched."))), nil)
	r.say("Write a file.")
	r.want("user_message:Write a file.", "tool_use:fileChange", "tool_result:fileChange", "assistant_message:Patched.")
	if b, err := os.ReadFile(r.spec.Place.OnHost(agent.WorkDir, "hello.txt")); err != nil || string(b) != "hello\n" {
		t.Errorf("hello.txt is %q, %v", b, err)
	}
	r.accounted()
}
