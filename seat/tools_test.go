package seat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/audit"
	"conclave/toolbox"
)

func submitTool() []toolbox.Tool {
	return []toolbox.Tool{{Name: "submit", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		Handle: func(context.Context, json.RawMessage) (string, error) { return "thanks", nil }}}
}

// A turn's receipt names the tools of that turn; its reply says where in the
// words they were called, also when it is read from the record; and who begins
// anew is told what was called.
func TestToolsOfATurn(t *testing.T) {
	ws := t.TempDir()
	p := plan(t, ws, "turn\n say One.\n tool submit {\"n\":1}\n say Two.\nturn\n tool submit {\"n\":2}\n tool submit {\"n\":3}\n say Three.\n")
	p.Tools = submitTool()
	s := open(t, p)
	var replies []agent.Reply
	for _, id := range []string{"t1", "t2"} {
		reply, err := s.Take(t.Context(), said(id, id))
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, reply)
	}
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(replies[0].Uses, replies[1].Uses), "[{submit 4}] [{submit 0} {submit 0}]"; got != want {
		t.Errorf("uses %s, want %s", got, want)
	}
	for i, raw := range events(t, ws, "run-1", audit.EventReceipt) {
		var r audit.Receipt
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Tools) != i+1 {
			t.Errorf("receipt %d names the tools %q: %v", i+1, r.Tools, err)
		}
	}
	again := open(t, p)
	for i, id := range []string{"t1", "t2"} {
		past := again.History().Turn(id)
		if !past.Finished || fmt.Sprint(past.Reply.Uses) != fmt.Sprint(replies[i].Uses) {
			t.Errorf("%s from the record: %+v", id, past)
		}
	}
	history := again.history.retold()
	last := 0
	for _, want := range []string{"you called submit with {\"n\":1}\n", "you were told: thanks\n", "you said:\nOne.\n\nTwo.\n", "you called submit with {\"n\":3}\n", "you said:\nThree.\n"} {
		at := strings.Index(history, want)
		if at < last {
			t.Errorf("the history does not tell %q in its place:\n%s", want, history)
		}
		last = at
	}
}

func TestCallsStandAmongTheWords(t *testing.T) {
	reply := agent.Reply{Text: "0123456789", Uses: []agent.ToolUse{
		{Name: "Bash", Said: 1}, {Name: "mcp__room__roll", Said: 2}, {Name: "mcp__room__narrate", Said: 3},
		{Name: "mcp__room__roll", Said: 99}}}
	calls := []Call{{Tool: "narrate"}, {Tool: "roll"}, {Tool: "roll"}, {Tool: "roll"}}
	placeCalls(calls, reply)
	for i, want := range []int{3, 2, 10, 10} {
		if calls[i].Said != want {
			t.Errorf("call %d: after %d bytes, want %d", i, calls[i].Said, want)
		}
	}
}
