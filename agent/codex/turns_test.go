package codex

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/jsontext"
	"conclave/internal/modelstub"
	"conclave/internal/price"
	"conclave/transcript"
)

func TestFailedTurnAndTheNext(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(modelstub.Fail(400, "no such thing"), modelstub.Answer(modelstub.Say("Better."))), nil)
	_, _, err := agenttest.Drain(r.begin("Fail."))
	var te *TurnError
	if !errors.As(err, &te) || !strings.Contains(te.Message, "no such thing") || len(te.Info) == 0 {
		t.Errorf("a failed turn ends with %v", err)
	}
	if reply := r.say("Again."); reply.Text != "Better." {
		t.Errorf("reply %+v", reply)
	}
	if n := r.count(transcript.Error, ""); n != 1 {
		t.Errorf("%d errors, want one: %q", n, r.sequence())
	}
	r.accounted()
}

func TestUnauthorised(t *testing.T) {
	t.Parallel()
	h := func(modelstub.Request) modelstub.Reply { return modelstub.Fail(401, "who are you") }
	r := start(t, h, nil)
	_, _, err := agenttest.Drain(r.begin("Hello?"))
	var te *TurnError
	if !errors.As(err, &te) || te.Status != 401 {
		t.Errorf("a turn without leave ends with %v", err)
	}
	r.accounted()
}

// The program makes some failures good by itself: those of the server without
// a word, a broken stream with one. It does not wait when it is told to.
func TestTransientFaults(t *testing.T) {
	t.Parallel()
	good := modelstub.Answer(modelstub.Say("At last."))
	midway := good
	midway.MidStreamError = true
	tests := []struct {
		name string
		bad  modelstub.Reply
		want []string
	}{
		{"500", modelstub.Fail(500, "oops"), []string{"user_message:Try.", "assistant_message:At last."}},
		{"503", modelstub.Fail(503, "busy"), []string{"user_message:Try.", "assistant_message:At last."}},
		{"midway", midway, []string{"user_message:Try.", "error", "assistant_message:At last."}},
		{"429", modelstub.Fail(429, "slow down"), []string{"user_message:Try.", "error"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, modelstub.Script(tt.bad, good), nil)
			_, _, err := agenttest.Drain(r.begin("Try."))
			if failed := tt.want[len(tt.want)-1] == "error"; failed != (err != nil) {
				t.Errorf("the turn ends with %v", err)
			}
			r.want(tt.want...)
			r.accounted()
		})
	}
}

// A stream that broke is made again; what the first attempt had said, whole or
// not, is not said twice.
func TestBrokenStreamIsNotDoubled(t *testing.T) {
	t.Parallel()
	whole := modelstub.Answer(modelstub.Think("Same."), modelstub.Say("The whole answer, at last."))
	cut := whole
	cut.CutAfter = 6 // in the middle of the text
	late := whole
	late.CutAfter = 10 // after the text, before the end
	r := start(t, modelstub.Script(cut, whole, late, whole), nil)
	r.say("One.")
	r.say("Two.")
	var texts []string
	for _, e := range r.sequence() {
		if !strings.HasPrefix(e, "error") {
			texts = append(texts, e)
		}
	}
	want := []string{
		"user_message:One.", "thinking:Same.", "assistant_message:The whole answer, at last.",
		"user_message:Two.", "thinking:Same.", "assistant_message:The whole answer, at last.",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("entries\n  %s", strings.Join(r.sequence(), "\n  "))
	}
	if n := r.count(transcript.Error, "retry"); n != 2 {
		t.Errorf("%d retries on the record, want 2", n)
	}
	if n := r.count(transcript.TokenUsage, ""); n != 2 {
		t.Errorf("%d usages, want 2", n)
	}
	r.accounted()
}

// A finished message is on the record although the model is still busy with
// what follows it.
func TestFinishedMessageDoesNotWaitForTheNext(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := modelstub.Answer(modelstub.Say("First this."), call("exec_command", "c1", `{"cmd":"true"}`))
	slow.Hold = release
	r := start(t, modelstub.Script(slow, modelstub.Answer(modelstub.Say("Then that."))), nil)
	turn := r.begin("Go.")
	until(t, turn, func(e agent.Event) bool { return e.Entry != nil && e.Entry.Type == transcript.AssistantMessage })
	if got := r.sequence(); !slices.Equal(got, []string{"user_message:Go.", "assistant_message:First this."}) {
		t.Errorf("entries so far: %q", got)
	}
	close(release)
	if _, _, err := agenttest.Drain(turn); err != nil {
		t.Fatal(err)
	}
	r.want("user_message:Go.", "assistant_message:First this.", "tool_use:commandExecution", "tool_result:commandExecution", "assistant_message:Then that.")
	r.accounted()
}

func TestInterruptStopsCommands(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(modelstub.Answer(call("exec_command", "c1", `{"cmd":"touch begun; sleep 61.73; touch over","yield_time_ms":30000}`))), nil)
	turn := r.begin("Wait.")
	until(t, turn, func(e agent.Event) bool { return e.Entry != nil && e.Entry.Type == transcript.ToolUse })
	if err := turn.(agent.Interrupter).Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	reply, _, err := agenttest.Drain(turn)
	if err != nil || reply.Stopped != "interrupted" {
		t.Errorf("reply %+v, %v", reply, err)
	}
	if r.count(transcript.SystemEvent, "interrupted") != 1 {
		t.Error("the interruption is not on the record")
	}
	for deadline := time.Now().Add(10 * time.Second); running(t, "61.73"); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the command outlives its turn")
		}
	}
	r.accounted()
}

// running says whether a process has arg among its arguments.
func running(t *testing.T, arg string) bool {
	t.Helper()
	if runtime.GOOS != "linux" {
		return false // only the end of the session is checked elsewhere
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes (%v)", err)
	}
	return slices.ContainsFunc(files, func(f string) bool {
		b, _ := os.ReadFile(f) // it may be gone
		return slices.Contains(strings.Split(string(b), "\x00"), arg)
	})
}

func TestChildAgents(t *testing.T) {
	t.Parallel()
	h := func(q modelstub.Request) modelstub.Reply {
		results := q.ToolResults()
		switch {
		case strings.Contains(string(q.Body), "CHILD-TASK") && !strings.Contains(string(q.Body), "MAIN-TASK"):
			if len(results) == 0 {
				return modelstub.Answer(call("exec_command", "k1", `{"cmd":"echo from-the-child"}`))
			}
			return modelstub.Answer(modelstub.Say("Child done."))
		case len(results) == 0:
			return modelstub.Answer(call("spawn_agent", "m1", `{"message":"CHILD-TASK"}`))
		case strings.Contains(results[0].Text, "agent_id"):
			id := jsontext.Text(jsontext.Get([]byte(results[0].Text), "agent_id"))
			return modelstub.Answer(call("wait_agent", "m2", `{"targets":["`+id+`"]}`))
		}
		return modelstub.Answer(modelstub.Say("Main done."))
	}
	r := start(t, h, nil)
	reply := r.say("MAIN-TASK")
	if reply.Text != "Main done." {
		t.Errorf("reply %+v; a child's words are not the agent's", reply)
	}
	main := r.s.Info().SessionID
	child := map[transcript.Type]int{}
	for _, e := range r.store.Entries() {
		thread := jsontext.Text(jsontext.Get(e.Detail, "thread_id"))
		if thread == "" || thread == main {
			continue
		}
		if e.Source != transcript.Main || jsontext.Text(jsontext.Get(e.Detail, "parent_thread_id")) != main {
			t.Errorf("an entry of a child: source %s, detail %s", e.Source, e.Detail)
		}
		child[e.Type]++
	}
	for _, typ := range []transcript.Type{transcript.UserMessage, transcript.ToolUse, transcript.ToolResult, transcript.AssistantMessage} {
		if child[typ] != 1 {
			t.Errorf("%d entries of type %s in the child's thread, want 1", child[typ], typ)
		}
	}
	if n := len(r.stub.Requests()); r.count(transcript.TokenUsage, "") != n {
		t.Errorf("%d usages for %d responses", r.count(transcript.TokenUsage, ""), n)
	}
	r.accounted()
}

func TestResumeAndFork(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(modelstub.Answer(modelstub.Say("First.")), modelstub.Answer(modelstub.Say("Second.")),
		modelstub.Answer(modelstub.Say("Forked."))), func(o *Options, s *agent.Spec) { s.Tools.Builtin = nil })
	r.say("One.")
	id := r.s.Info().SessionID
	r.stop()
	o := Options{Program: program(t), Retries: 1}

	r.store, r.blobs = &agenttest.Store{}, &blobs{}
	r.spec.Blobs = r.blobs
	r.spec.Resume = id
	r.restart(o)
	reply := r.say("Two.")
	if reply.Usage != (transcript.Usage{Input: 100, Output: 10}) {
		t.Errorf("usage of a resumed turn: %+v", reply.Usage)
	}
	if got := r.s.Info().SessionID; got != id {
		t.Errorf("resumed session %s, want %s", got, id)
	}
	r.want("user_message:Two.", "assistant_message:Second.")
	if body := string(r.stub.Requests()[1].Body); !strings.Contains(body, "First.") {
		t.Error("the resumed model does not know what it said")
	}
	r.accounted()

	r.store, r.blobs = &agenttest.Store{}, &blobs{}
	r.spec.Blobs = r.blobs
	r.spec.Fork = true
	r.restart(o)
	reply = r.say("Three.")
	if got := r.s.Info().SessionID; got == id || reply.Text != "Forked." {
		t.Errorf("forked session %s says %q", got, reply.Text)
	}
	if reply.Usage != (transcript.Usage{Input: 100, Output: 10}) {
		t.Errorf("usage of a forked turn: %+v", reply.Usage)
	}
	if body := string(r.stub.Requests()[2].Body); !strings.Contains(body, "Second.") {
		t.Error("the forked model does not know what it said")
	}
	for i, q := range r.stub.Requests() {
		if got := q.Tools(); !slices.Equal(got, []string{"request_user_input"}) || strings.TrimSpace(q.System()) != "You are the cat." {
			t.Errorf("request %d: tools %q, told %q", i, got, q.System())
		}
	}
	r.want("user_message:Three.", "assistant_message:Forked.")
	r.accounted()
}

func TestStructuredAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(modelstub.Answer(modelstub.Say(`{"verdict":"pass"}`)), modelstub.Answer(modelstub.Say("just words"))), nil)
	schema := []byte(`{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"],"additionalProperties":false}`)
	ask := func() agent.Reply {
		turn, err := r.s.Send(t.Context(), agent.Message{Text: "Judge.", Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		reply, _, err := agenttest.Drain(turn)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if got := ask(); string(got.Structured) != `{"verdict":"pass"}` {
		t.Errorf("structured answer %s", got.Structured)
	}
	if got := ask(); got.Structured != nil || got.Text != "just words" {
		t.Errorf("words became %s", got.Structured)
	}
	if body := string(r.stub.Requests()[0].Body); !strings.Contains(body, `"json_schema"`) {
		t.Error("the model was not asked for the schema")
	}
	r.accounted()
}

func TestLimits(t *testing.T) {
	t.Parallel()
	forever := func(q modelstub.Request) modelstub.Reply {
		return modelstub.Answer(modelstub.Say("Again."), call("exec_command", "", `{"cmd":"true"}`))
	}
	t.Run("turns", func(t *testing.T) {
		t.Parallel()
		r := start(t, forever, func(o *Options, s *agent.Spec) { s.Limits.Turns = 2 })
		if reply := r.say("Go on."); reply.Stopped != "turn limit" {
			t.Errorf("reply %+v", reply)
		}
		if n := r.count(transcript.TokenUsage, ""); n != 2 {
			t.Errorf("%d responses were counted, want 2", n)
		}
		r.accounted()
	})
	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		r := start(t, forever, func(o *Options, s *agent.Spec) {
			s.Limits.BudgetUSD, o.Prices = 0.0003, price.List{s.Model.Name: {Input: 1, Output: 1}}
		})
		reply := r.say("Go on.")
		if reply.Stopped != "budget" || reply.Usage.CostUSD < 0.0003 {
			t.Errorf("reply %+v", reply)
		}
		if _, err := r.s.Send(t.Context(), agent.Message{Text: "More."}); err == nil || !strings.Contains(err.Error(), "budget") {
			t.Errorf("a message past the budget gives %v", err)
		}
		r.accounted()
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		slow := modelstub.Answer(modelstub.Say("Wait for me"))
		slow.Hold = make(chan struct{})
		r := start(t, modelstub.Script(slow), func(o *Options, s *agent.Spec) { s.Limits.Wall = 700 * time.Millisecond })
		if reply := r.say("Hurry."); reply.Stopped != "time limit" {
			t.Errorf("reply %+v", reply)
		}
		r.accounted()
	})
}

func TestManyTurnsInOneProcess(t *testing.T) {
	t.Parallel()
	r := start(t, func(q modelstub.Request) modelstub.Reply {
		return modelstub.Answer(modelstub.Say("You said " + q.LastUser()))
	}, nil)
	pid := r.s.Info().PID
	for _, text := range []string{"one", "two", "three", "four", "five"} {
		if reply := r.say(text); reply.Text != "You said "+text {
			t.Errorf("reply %+v", reply)
		}
	}
	if r.s.Info().PID != pid || r.count(transcript.TokenUsage, "") != 5 {
		t.Errorf("pid %d was %d; %d usages", r.s.Info().PID, pid, r.count(transcript.TokenUsage, ""))
	}
	r.accounted()
}

func TestImage(t *testing.T) {
	t.Parallel()
	r := start(t, modelstub.Script(modelstub.Answer(modelstub.Say("A dot."))), nil)
	var dot bytes.Buffer
	if err := png.Encode(&dot, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	turn, err := r.s.Send(t.Context(), agent.Message{Text: "What is this?", Images: []agent.Image{{Type: "image/png", Data: dot.Bytes()}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := agenttest.Drain(turn); err != nil {
		t.Fatal(err)
	}
	if body := string(r.stub.Requests()[0].Body); !strings.Contains(body, "input_image") {
		t.Errorf("the picture did not reach the model: %s", body)
	}
	r.want("user_message:What is this?", "assistant_message:A dot.")
	r.accounted()
}

// A program that dies takes its turn with it, and says so.
func TestProgramDies(t *testing.T) {
	t.Parallel()
	slow := modelstub.Answer(modelstub.Say("Half a thought"))
	slow.Hold = make(chan struct{})
	r := start(t, modelstub.Script(slow), nil)
	turn := r.begin("Think.")
	until(t, turn, isDeltaEvent)
	p, err := os.FindProcess(r.s.Info().PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	reply, _, err := agenttest.Drain(turn)
	if !errors.Is(err, agent.ErrStopped) || errors.Is(err, io.EOF) {
		t.Errorf("the turn ends with %v", err)
	}
	if !strings.HasPrefix(reply.Text, "Half") {
		t.Errorf("what was said before is lost: %+v", reply)
	}
	if _, err := r.s.Send(t.Context(), agent.Message{Text: "Hello?"}); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("a message to the dead gives %v", err)
	}
	got := r.sequence()
	if len(got) != 2 || !strings.HasSuffix(got[1], "…") {
		t.Errorf("entries %q", got)
	}
}
