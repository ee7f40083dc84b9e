package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/toolbox"
	"conclave/transcript"
)

var (
	_ agent.ToolCaller = (*toolbox.Toolbox)(nil)
	_ toolbox.Events   = (*transcript.Emitter)(nil)
)

// memory keeps events, and fails those that fails names.
type memory struct {
	mu     sync.Mutex
	events []string
	fails  string
}

var errDisk = errors.New("no space left on the test's disk")

func (m *memory) Event(_ slog.Level, event, _ string, context any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if event == m.fails {
		return errDisk
	}
	b, err := json.Marshal(context)
	if err != nil {
		return err
	}
	m.events = append(m.events, event+" "+string(b))
	return nil
}

const verdictSchema = `{"type":"object","properties":{
	"verdict":{"type":"string","enum":["accept","reject"]},
	"score":{"type":"integer","minimum":0,"maximum":10},
	"weight":{"type":"number"},
	"reason":{"type":"string","minLength":2,"maxLength":5,"pattern":"^[a-zż]+$"},
	"stages":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}},"additionalProperties":{"type":"boolean"}}},
	"free":{}, "maybe":{"type":["string","null"]}
},"required":["verdict"],"additionalProperties":false}`

// box has one tool "submit" that keeps what it was given.
func box(t testing.TB, o toolbox.Options, got *[]string) *toolbox.Toolbox {
	t.Helper()
	o.Tools = append(o.Tools, toolbox.Tool{
		Name: "submit", Description: "Submit the verdict.", Schema: json.RawMessage(verdictSchema),
		Handle: func(_ context.Context, in json.RawMessage) (string, error) {
			if got != nil {
				*got = append(*got, string(in))
			}
			if strings.Contains(string(in), `"reason":"panic"`) {
				panic("a bug")
			}
			if strings.Contains(string(in), `"reason":"fail"`) {
				return "", errors.New("the quest is closed")
			}
			return "noted", nil
		},
	})
	b, err := toolbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestInputsAreChecked(t *testing.T) {
	for _, c := range []struct{ input, says string }{
		{`{"verdict":"accept"}`, ""},
		{` { "verdict" : "reject" , "score": 10, "weight":1e2, "reason":"ażżż", "stages":[{"name":"x","ok":true}], "free":{"any":[1]}, "maybe":null } `, ""},
		{`{"verdict":"accept","score":3.0}`, ""},
		{`{"\u0076erdict":"accept"}`, ""},
		{``, `the input: the key "verdict" is missing`},
		{`null`, `the key "verdict" is missing`},
		{`{}`, `the key "verdict" is missing`},
		{`[]`, "the input: expected object, got array"},
		{`{"verdict":"maybe"}`, `verdict: expected one of "accept", "reject", got "maybe"`},
		{`{"verdict":1}`, "verdict: expected string, got number"},
		{`{"verdict":"accept","score":11}`, "score: expected at most 10, got 11"},
		{`{"verdict":"accept","score":-1}`, "score: expected at least 0, got -1"},
		{`{"verdict":"accept","score":1.5}`, "score: expected integer, got number"},
		{`{"verdict":"accept","score":1e999999999}`, "score: expected integer"},
		{`{"verdict":"accept","score":"3"}`, "score: expected integer, got string"},
		{`{"verdict":"accept","reason":"a"}`, "reason: expected at least 2 characters, got 1"},
		{`{"verdict":"accept","reason":"żżżżżż"}`, "reason: expected at most 5 characters, got 6"},
		{`{"verdict":"accept","reason":"ABC"}`, `reason: "ABC" does not match ^[a-zż]+$`},
		{`{"verdict":"accept","stages":[]}`, "stages: expected at least 1 elements, got 0"},
		{`{"verdict":"accept","stages":[{"name":"a"},{"name":"b"},{"name":"c"}]}`, "stages: expected at most 2 elements, got 3"},
		{`{"verdict":"accept","stages":[{"name":"a"},{}]}`, `stages[1]: the key "name" is missing`},
		{`{"verdict":"accept","stages":[{"name":"a","ok":1}]}`, "stages[0].ok: expected boolean, got number"},
		{`{"verdict":"accept","maybe":3}`, "maybe: expected string or null, got number"},
		{`{"verdict":"accept","extra":1}`, `the key "extra" is not known (known: free, maybe, reason, score, stages, verdict, weight)`},
		{`{"verdict":"accept","verdict":"reject"}`, `"verdict" is there twice`},
		{`{"verdict":"accept","Verdict":"reject"}`, `"Verdict" is there twice (as "verdict")`},
		{`{"verdict":"accept","free":{"a":1,"\u0061":2}}`, `free: the key "a" is there twice`},
		{`{"Verdict":"accept"}`, `the key "Verdict" is not known`},
		{`{"verdict":"accept"`, "no JSON"},
		{`{"verdict":"accept","free":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "nested too deeply"},
		{`{"verdict":"accept","free":"` + "\xff" + `"}`, "free: the text is no UTF-8"},
	} {
		var got []string
		text, err := box(t, toolbox.Options{}, &got).CallTool(context.Background(), "submit", json.RawMessage(c.input))
		if c.says == "" {
			if err != nil || text != "noted" || len(got) != 1 || got[0] != c.input {
				t.Errorf("%s: %q, %v, the tool got %q", c.input, text, err, got)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || len(got) != 0 {
			t.Errorf("%s: %v, want %s; the tool got %q", c.input, err, c.says, got)
		}
	}
}

func TestFaultyTools(t *testing.T) {
	do := func(context.Context, json.RawMessage) (string, error) { return "", nil }
	for _, c := range []struct {
		tools []toolbox.Tool
		says  string
	}{
		{[]toolbox.Tool{{Name: "a b", Handle: do}}, `tool name "a b"`},
		{[]toolbox.Tool{{Name: "", Handle: do}}, "tool name"},
		{[]toolbox.Tool{{Name: "a", Handle: do}, {Name: "a", Handle: do}}, "twice"},
		{[]toolbox.Tool{{Name: "a"}}, "Handle"},
		{[]toolbox.Tool{{Name: "a", Handle: do, Schema: json.RawMessage(`{"type":"string"}`)}}, "must be object"},
		{[]toolbox.Tool{{Name: "a", Handle: do, Schema: json.RawMessage(`{}`)}}, "must be object"},
		{[]toolbox.Tool{{Name: "a", Handle: do, Schema: json.RawMessage(`[]`)}}, "not a JSON object"},
		{[]toolbox.Tool{{Name: "a", Handle: do, Schema: json.RawMessage(`{"type":"object","properties":{"x":{"oneOf":[]}}}`)}}, "x: oneOf: this keyword is not checked"},
		{[]toolbox.Tool{{Name: "a", Handle: do, Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"text"}}}`)}}, `"text" is no type`},
		{[]toolbox.Tool{{Name: "a", Handle: do, Schema: json.RawMessage(`{"type":"object","properties":{"x":{"pattern":"("}}}`)}}, "pattern"},
		{[]toolbox.Tool{{Name: "a", Handle: do, Schema: json.RawMessage(`{"type":"object","required":["x"],"additionalProperties":false}`)}}, "required and not allowed"},
	} {
		if _, err := toolbox.New(toolbox.Options{Tools: c.tools}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}

func TestLimits(t *testing.T) {
	var got []string
	b := box(t, toolbox.Options{MaxCalls: 3, MaxInput: 40}, &got)
	ctx := context.Background()
	if _, err := b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"accept","free":"`+strings.Repeat("x", 40)+`"}`)); err == nil || !strings.Contains(err.Error(), "40 are allowed") {
		t.Errorf("a long input: %v", err)
	}
	if _, err := b.CallTool(ctx, "shell", nil); !errors.Is(err, toolbox.ErrUnknown) || !strings.Contains(err.Error(), "there are: submit") {
		t.Errorf("an unknown tool: %v", err)
	}
	if _, err := b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"accept"}`)); err != nil {
		t.Error(err)
	}
	if _, err := b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"accept"}`)); err == nil || !strings.Contains(err.Error(), "all 3 tool calls") {
		t.Errorf("a call too many: %v", err)
	}
	if len(got) != 1 || len(b.Calls()) != 3 {
		t.Errorf("the tool ran %d times; calls %+v", len(got), b.Calls())
	}
	b.BeginTurn()
	if _, err := b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"accept"}`)); err != nil || len(b.Calls()) != 1 {
		t.Errorf("in the next turn: %v; calls %+v", err, b.Calls())
	}
}

func TestToolWithoutSchemaTakesNothing(t *testing.T) {
	b, err := toolbox.New(toolbox.Options{Tools: []toolbox.Tool{{Name: "look", Handle: func(context.Context, json.RawMessage) (string, error) { return "a door", nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := b.CallTool(context.Background(), "look", nil); err != nil || text != "a door" {
		t.Error(text, err)
	}
	if _, err := b.CallTool(context.Background(), "look", json.RawMessage(`{"x":1}`)); err == nil {
		t.Error("it took something")
	}
}

func TestCallsAreRecorded(t *testing.T) {
	m := &memory{}
	b := box(t, toolbox.Options{Events: m}, nil)
	ctx := context.Background()
	b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"accept"}`))
	b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"x"}`))
	b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"accept","reason":"fail"}`))
	b.CallTool(ctx, "submit", json.RawMessage(`{"verdict":"accept","reason":"panic"}`))
	want := []string{
		`tool.call {"call":1,"tool":"submit","input_sha256":"` + b.Calls()[0].InputSHA256 + `","input_bytes":20,`, `tool.result {"call":1,"tool":"submit","result":"noted","refused":false,"is_error":false}`,
		`tool.call {"call":2,`, `tool.result {"call":2,"tool":"submit","result":"the input of submit does not fit: verdict: expected one of`,
		`tool.call {"call":3,`, `tool.result {"call":3,"tool":"submit","result":"the quest is closed","refused":false,"is_error":true}`,
		`tool.call {"call":4,`, `tool.result {"call":4,"tool":"submit","result":"the tool submit broke: a bug","refused":false,"is_error":true}`,
	}
	if len(m.events) != len(want) {
		t.Fatalf("recorded %q", m.events)
	}
	for i, w := range want {
		if !strings.HasPrefix(m.events[i], w) {
			t.Errorf("event %d: %s", i, m.events[i])
		}
	}
	if !strings.Contains(m.events[0], `"input":"{\"verdict\":\"accept\"}"`) {
		t.Errorf("the input is not there as it came: %s", m.events[0])
	}
	if c := b.Calls(); !c[1].Refused || c[0].Refused || c[2].Refused || c[2].Error != "the quest is closed" {
		t.Errorf("calls %+v", c)
	}
}

func TestRecordingFailureStopsTools(t *testing.T) {
	for _, c := range []struct {
		fails string
		ran   int
	}{{"tool.call", 0}, {"tool.result", 1}} {
		var got []string
		m := &memory{fails: c.fails}
		b := box(t, toolbox.Options{Events: m}, &got)
		text, err := b.CallTool(context.Background(), "submit", json.RawMessage(`{"verdict":"accept"}`))
		if err == nil || text != "" || len(got) != c.ran || strings.Contains(err.Error(), errDisk.Error()) {
			t.Errorf("%s: %q, %v; it ran %d times", c.fails, text, err, len(got))
		}
		m.fails = ""
		if _, err := b.CallTool(context.Background(), "submit", json.RawMessage(`{"verdict":"accept"}`)); err == nil || len(got) != c.ran {
			t.Errorf("%s: it went on: %v", c.fails, err)
		}
		if !errors.Is(b.Err(), errDisk) {
			t.Errorf("%s: Err says %v", c.fails, b.Err())
		}
	}
}

// Tools run one at a time, so that their makers need no locks.
func TestToolsRunOneAtATime(t *testing.T) {
	n, running := 0, false
	b, err := toolbox.New(toolbox.Options{Tools: []toolbox.Tool{{Name: "count", Handle: func(context.Context, json.RawMessage) (string, error) {
		if running {
			t.Error("two at once")
		}
		running = true
		n++
		running = false
		return fmt.Sprint(n), nil
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { b.CallTool(context.Background(), "count", nil) })
	}
	wg.Wait()
	if n != 50 || len(b.Calls()) != 50 {
		t.Errorf("%d calls", n)
	}
}
