package codex

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// turn is the answer to one message.
type turn struct {
	s      *session
	thread string
	schema bool

	mu     sync.Mutex
	change *sync.Cond
	queue  []agent.Event
	over   bool
	err    error // what Next returns in place of io.EOF
	reply  agent.Reply

	id        string // the program's name for it, once known
	why       string // we asked it to stop, for this reason
	cause     error  // of a cancelled context
	asked     bool   // the interruption was sent
	texts     []string
	responses int
	tools     bool // since the last response was counted
	timers    []func() bool
}

// Send delivers a message.
func (s *session) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	params := map[string]any{"input": input(m)}
	if m.Schema != nil {
		params["outputSchema"] = m.Schema
	}
	t, err := s.claim(ctx, m.Schema != nil)
	if err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, fmt.Errorf("send to codex: %w", err)
	}
	params["threadId"] = t.thread
	// The caller's context interrupts the turn, not the request: what was
	// begun must be known to be stopped.
	answer, err := s.call(s.ctx, "turn/start", params)
	if err != nil {
		err = fmt.Errorf("send to codex: %w", err)
		t.end(err)
		return nil, err
	}
	if id := jsontext.Text(jsontext.Get(answer.Result, "turn", "id")); id != "" {
		t.named(id)
	}
	t.watch(ctx, s.spec.Limits.Wall)
	return t, nil
}

// claim makes a turn the session's running one.
func (s *session) claim(ctx context.Context, schema bool) (*turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("send to codex: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return nil, fmt.Errorf("send to codex: %w", s.err)
	case s.ctx.Err() != nil:
		return nil, agent.ErrStopped
	case s.turn != nil && !s.turn.ended():
		return nil, agent.ErrBusy
	case s.spec.Limits.BudgetUSD > 0 && s.spent >= s.spec.Limits.BudgetUSD:
		return nil, fmt.Errorf("send to codex: the budget of $%.2f is used up", s.spec.Limits.BudgetUSD)
	}
	t := &turn{s: s, thread: s.info.SessionID, schema: schema}
	t.reply.Usage, s.carry = s.carry, transcript.Usage{}
	t.change = sync.NewCond(&t.mu)
	s.turn = t
	return t, nil
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

// Next returns the next event.
func (t *turn) Next() (agent.Event, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.over {
		t.change.Wait()
	}
	if len(t.queue) > 0 {
		e := t.queue[0]
		t.queue = t.queue[1:]
		return e, nil
	}
	if t.err != nil {
		return agent.Event{}, t.err
	}
	return agent.Event{}, io.EOF
}

// Reply is the outcome.
func (t *turn) Reply() agent.Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reply
}

func (t *turn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

func (t *turn) push(e agent.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.queue = append(t.queue, e)
		t.change.Signal()
	}
}

// entry takes note of an entry and shows it.
func (t *turn) entry(e transcript.Entry, used transcript.Usage) {
	d := jsontext.Members(e.Detail, "thread_id", "text", "method", "name")
	ours := jsontext.Text(d[0]) == t.thread
	t.mu.Lock()
	t.reply.Usage = t.reply.Usage.Add(used)
	again := t.tools
	switch {
	case !ours:
	case e.Type == transcript.TokenUsage:
		t.responses++
		t.tools = false
	case e.Type == transcript.AssistantMessage:
		t.texts = append(t.texts, jsontext.Text(d[1]))
	case e.Type == transcript.ToolUse:
		t.tools = true
		said := len(strings.Join(t.texts, "\n\n"))
		t.reply.Uses = append(t.reply.Uses, agent.ToolUse{Name: jsontext.Text(d[3]), Said: said})
	}
	t.mu.Unlock()
	t.push(agent.Event{Entry: &e})
	switch {
	case !ours:
	case e.Type == transcript.TokenUsage:
		if again && t.s.broke() {
			t.interrupt("budget", nil)
		}
		t.checkTurns(again)
	case jsontext.Text(d[2]) == "item/started" && e.Type != transcript.UserMessage:
		t.checkTurns(true)
	}
}

// end ends the turn early.
func (t *turn) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finish(err)
}

// finish is called with mu held.
func (t *turn) finish(err error) {
	if t.over {
		return
	}
	t.over, t.err = true, err
	for _, stop := range t.timers {
		stop()
	}
	t.reply.Text = strings.Join(t.texts, "\n\n")
	if t.schema && len(t.texts) > 0 && t.reply.Stopped == "" {
		if last := []byte(strings.TrimSpace(t.texts[len(t.texts)-1])); json.Valid(last) {
			t.reply.Structured = last
		}
	}
	t.change.Broadcast()
}

// completed ends the turn as the program says it ended.
func (t *turn) completed(obj []byte) {
	end := jsontext.Members(obj, "status", "error")
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	switch jsontext.Text(end[0]) {
	case "failed":
		err = newTurnError(end[1])
	case "interrupted":
		if t.reply.Stopped = t.why; t.why == "" {
			t.reply.Stopped = "interrupted" // by a decision of ours, or its own
		}
		err = t.cancelled()
	default:
		// It was done before the interruption reached it.
		err = t.cancelled()
	}
	t.finish(err)
}

func (t *turn) cancelled() error {
	if t.cause == nil {
		return nil
	}
	return fmt.Errorf("codex turn: %w", t.cause)
}
