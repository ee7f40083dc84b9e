package modelstub

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const responsesBody = `{"model":"gpt-x","stream":true,"instructions":"Be brief.",
"tools":[{"type":"function","name":"exec_command"},{"type":"custom","name":"apply_patch"},{"type":"web_search"},
 {"type":"namespace","name":"mcp__room","tools":[{"type":"function","name":"submit"}]}],
"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are the cat."}]},
 {"type":"message","role":"user","content":[{"type":"input_text","text":"Look."}]},
 {"type":"function_call","call_id":"old","name":"exec_command","arguments":"{}"},
 {"type":"function_call_output","call_id":"old","output":"stale"},
 {"type":"reasoning","summary":[]},
 {"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":""},
 {"type":"custom_tool_call_output","call_id":"c1","output":[{"type":"input_text","text":"fresh"}]}]}`

func postResponses(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(s.URL()+"/v1/responses", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// eventsOf are the data of a stream, in order.
func eventsOf(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(stream) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var v map[string]any
			if err := json.Unmarshal([]byte(data), &v); err != nil {
				t.Fatalf("event %s: %v", data, err)
			}
			out = append(out, v)
		}
	}
	return out
}

func TestResponsesRequestIsRead(t *testing.T) {
	r := Request{API: Responses, Body: []byte(responsesBody)}
	if r.Model() != "gpt-x" || r.System() != "Be brief.\nYou are the cat." || r.LastUser() != "Look." {
		t.Errorf("model %q, system %q, user %q", r.Model(), r.System(), r.LastUser())
	}
	if got, want := r.Tools(), []string{"exec_command", "apply_patch", "web_search", "mcp__room__submit"}; !slices.Equal(got, want) {
		t.Errorf("tools %q, want %q", got, want)
	}
	if got := r.ToolResults(); len(got) != 1 || got[0].ID != "c1" || got[0].Text != "fresh" {
		t.Errorf("results since the last answer: %+v", got)
	}
	if !r.HasTool("mcp__room__submit") || r.HasTool("submit") {
		t.Error("a tool of a server has not the name that the other API gives it")
	}
}

func TestResponsesStream(t *testing.T) {
	s := New(Script(Reply{
		Blocks: []Block{Think("I think."), Say("Some words, to be said in pieces."),
			Call("exec_command", "c1", `{"cmd":"ls"}`), Call("apply_patch", "c2", `"*** Begin Patch"`),
			Call("mcp__room__submit", "c3", `{"a":1}`), Call("unheard_of", "", `{}`)},
		Usage: Usage{Input: 70, CacheRead: 20, CacheWrite: 10, Output: 5},
	}))
	defer s.Close()
	status, body := postResponses(t, s, responsesBody)
	if status != 200 {
		t.Fatalf("status %d", status)
	}
	events := eventsOf(t, body)
	if first, last := events[0]["type"], events[len(events)-1]["type"]; first != "response.created" || last != "response.completed" {
		t.Errorf("the stream goes from %v to %v", first, last)
	}
	said, thought := "", ""
	var items []map[string]any
	for _, e := range events {
		switch e["type"] {
		case "response.output_text.delta":
			said += e["delta"].(string)
		case "response.reasoning_summary_text.delta":
			thought += e["delta"].(string)
		case "response.output_item.done":
			items = append(items, e["item"].(map[string]any))
		}
	}
	if said != "Some words, to be said in pieces." || thought != "I think." {
		t.Errorf("said %q, thought %q", said, thought)
	}
	if len(items) != 6 {
		t.Fatalf("%d items", len(items))
	}
	for i, want := range []map[string]any{
		2: {"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": `{"cmd":"ls"}`},
		3: {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": "*** Begin Patch"},
		4: {"type": "function_call", "name": "submit", "namespace": "mcp__room", "call_id": "c3"},
		5: {"type": "function_call", "name": "unheard_of"},
	} {
		for k, v := range want {
			if items[i][k] != v {
				t.Errorf("item %d: %s is %v, want %v", i, k, items[i][k], v)
			}
		}
	}
	usage := events[len(events)-1]["response"].(map[string]any)["usage"].(map[string]any)
	if usage["input_tokens"] != 100.0 || usage["output_tokens"] != 5.0 || usage["input_tokens_details"].(map[string]any)["cached_tokens"] != 20.0 {
		t.Errorf("usage %v", usage)
	}
}

func TestResponsesFaults(t *testing.T) {
	cut := Answer(Say("never finished"))
	cut.CutAfter = 3
	broken := Answer(Say("never finished"))
	broken.MidStreamError = true
	s := New(Script(Fail(429, "slow down"), cut, broken))
	defer s.Close()
	if status, body := postResponses(t, s, responsesBody); status != 429 || !strings.Contains(body, "slow down") || !strings.Contains(body, "rate_limit_error") {
		t.Errorf("%d %s", status, body)
	}
	if _, body := postResponses(t, s, responsesBody); len(eventsOf(t, body)) != 3 || strings.Contains(body, "response.completed") {
		t.Errorf("a cut stream: %s", body)
	}
	if _, body := postResponses(t, s, responsesBody); !strings.Contains(body, "response.failed") || strings.Contains(body, "response.completed") {
		t.Errorf("a broken stream: %s", body)
	}
}

func TestResponsesWhole(t *testing.T) {
	s := New(Script(Answer(Say("All at once."))))
	defer s.Close()
	status, body := postResponses(t, s, `{"model":"gpt-x","input":"hi"}`)
	var v struct {
		Status string
		Output []struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 || v.Status != "completed" || v.Output[0].Content[0].Text != "All at once." {
		t.Errorf("%d %s: %v", status, body, err)
	}
	if x := s.Exchanges(); len(x) != 1 || !bytes.Equal(x[0].Sent, []byte(body)) {
		t.Error("what was sent is not what was kept")
	}
}
