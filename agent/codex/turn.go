package codex

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/agent/rpc"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// turn is the answer to one message.
type turn struct {
	*rpc.Turn
	s      *session
	thread string
	schema bool

	mu        sync.Mutex
	id        string // the program's name for it, once known
	asked     bool   // the interruption was sent
	responses int
	tools     bool // since the last response was counted
}

// Send delivers a message.
func (s *session) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	params := map[string]any{"input": input(m)}
	if m.Schema != nil {
		params["outputSchema"] = m.Schema
	}
	t := &turn{s: s, thread: s.Info().SessionID, schema: m.Schema != nil}
	if _, err := s.conn.Turn(ctx, t.ask, t.claimed); err != nil {
		return nil, err
	}
	if s.broke() {
		err := fmt.Errorf("send to codex: the budget of $%.2f is used up", s.spec.Limits.BudgetUSD)
		t.End(err)
		return nil, err
	}
	params["threadId"] = t.thread
	// The caller's context interrupts the turn, not the request: what was
	// begun must be known to be stopped.
	answer, err := s.conn.Call(s.conn.Context(), "turn/start", params)
	if err != nil {
		err = fmt.Errorf("send to codex: %w", err)
		t.End(err)
		return nil, err
	}
	if id := jsontext.Text(jsontext.Get(answer.Result, "turn", "id")); id != "" {
		t.named(id)
	}
	t.Watch(ctx, s.spec.Limits.Wall)
	return t, nil
}

// claimed makes the turn the session's. It bears what was spent since the last.
func (t *turn) claimed(begun *rpc.Turn) {
	t.Turn = begun
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	carry := t.s.carry
	t.s.turn, t.s.carry = t, transcript.Usage{}
	t.Change(func(r *agent.Reply) { r.Usage = carry })
}

// input is a message in the program's words.
func input(m agent.Message) []any {
	var out []any
	if m.Text != "" || len(m.Images) == 0 {
		out = append(out, map[string]any{"type": "text", "text": m.Text, "text_elements": []any{}})
	}
	for _, img := range m.Images {
		out = append(out, map[string]any{"type": "image",
			"url": "data:" + img.Type + ";base64," + base64.StdEncoding.EncodeToString(img.Data)})
	}
	return out
}

// entry takes note of an entry and shows it.
func (t *turn) entry(e transcript.Entry, used transcript.Usage) {
	d := jsontext.Members(e.Detail, "thread_id", "text", "method", "name")
	ours := jsontext.Text(d[0]) == t.thread
	t.Change(func(r *agent.Reply) { r.Usage = r.Usage.Add(used) })
	t.mu.Lock()
	again := t.tools
	switch {
	case !ours:
	case e.Type == transcript.TokenUsage:
		t.responses++
		t.tools = false
	case e.Type == transcript.AssistantMessage:
		t.Says(jsontext.Text(d[1]))
	case e.Type == transcript.ToolUse:
		t.tools = true
		t.Uses(jsontext.Text(d[3]))
	}
	t.mu.Unlock()
	t.Push(agent.Event{Entry: &e})
	switch {
	case !ours:
	case e.Type == transcript.TokenUsage:
		if again && t.s.broke() {
			t.Cut("budget", nil)
		}
		t.checkTurns(again)
	case jsontext.Text(d[2]) == "item/started" && e.Type != transcript.UserMessage:
		t.checkTurns(true)
	}
}

// completed ends the turn as the program says it ended.
func (t *turn) completed(obj []byte) {
	end := jsontext.Members(obj, "status", "error")
	switch jsontext.Text(end[0]) {
	case "failed":
		t.End(newTurnError(end[1]))
	case "interrupted": // by a decision of ours, or its own
		t.Finish(true)
	default: // it may have been done before an interruption reached it
		if texts := t.Texts(); t.schema && len(texts) > 0 {
			if last := []byte(strings.TrimSpace(texts[len(texts)-1])); json.Valid(last) {
				t.Change(func(r *agent.Reply) { r.Structured = last })
			}
		}
		t.Finish(false)
	}
}
