package acp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"conclave/agent"
	"conclave/agent/rpc"
	"conclave/agent/structured"
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
)

// Send delivers a message.
func (s *session) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	form, err := structured.Of(m)
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", s.name, err)
	}
	prompt, err := s.prompt(m, form)
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", s.name, err)
	}
	t, err := s.conn.Turn(ctx, s.cancelTurn, nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.ask(prompt)
	if err != nil {
		err = fmt.Errorf("send to %s: %w", s.name, err)
		t.End(err)
		return nil, err
	}
	s.mu.Lock()
	s.told = true
	s.mu.Unlock()
	s.conn.Go(func() { s.complete(t, form, answer) })
	t.Watch(ctx, s.spec.Limits.Wall)
	return t, nil
}

// prompt is a message in the protocol's words. The first has the instructions
// before it, where the program has no other place for them.
func (s *session) prompt(m agent.Message, form *structured.Form) ([]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(m.Images) > 0 && !s.images {
		return nil, errors.New("it takes no pictures")
	}
	text := m.Text
	if form != nil {
		text += form.Request()
	}
	var out []any
	if s.spec.System != "" && !s.home.system && !s.told {
		out = append(out, textBlock(s.spec.System))
	}
	if text != "" || len(m.Images) == 0 {
		out = append(out, textBlock(text))
	}
	for _, img := range m.Images {
		out = append(out, map[string]string{"type": "image", "mimeType": img.Type,
			"data": base64.StdEncoding.EncodeToString(img.Data)})
	}
	return out, nil
}

func textBlock(text string) map[string]string { return map[string]string{"type": "text", "text": text} }

func (s *session) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info.SessionID
}

// ask sends a prompt. It is answered when the turn has ended.
func (s *session) ask(prompt []any) (<-chan jsonrpc.Message, error) {
	return s.conn.Begin("session/prompt", map[string]any{"sessionId": s.id(), "prompt": prompt})
}

// cancelTurn tells the program to stop what it does. An error of the pipe ends the
// session by itself.
func (s *session) cancelTurn() {
	s.conn.Go(func() {
		line, err := jsonrpc.NewNotification("session/cancel", map[string]string{"sessionId": s.id()})
		if err == nil {
			_ = s.conn.Send(line)
		}
	})
}

// complete waits for the end of a turn. An answer that is not in the form that was
// asked for is asked for once more, within the same turn.
func (s *session) complete(t *rpc.Turn, form *structured.Form, answer <-chan jsonrpc.Message) {
	for corrected := false; ; corrected = true {
		m, err := s.conn.Await("session/prompt", answer)
		if err != nil {
			s.failed(t, err)
			return
		}
		reason := jsontext.Text(jsontext.Get(m.Result, "stopReason"))
		if reason != "end_turn" || form == nil || t.Why() != "" {
			s.ended(t, reason)
			return
		}
		texts := t.Texts()
		if value := found(form, texts); value != nil {
			t.Change(func(r *agent.Reply) { r.Structured = value })
		} else if !corrected {
			t.Forget()
			answer, err = s.ask([]any{textBlock(form.Correction(strings.Join(texts, "\n\n")))})
			if err != nil {
				s.failed(t, err)
				return
			}
			continue
		}
		t.Finish(false)
		return
	}
}

// found is the value in the last block that has one, or in all of them.
func found(form *structured.Form, texts []string) []byte {
	for i := len(texts) - 1; i >= 0; i-- {
		if value := form.Find(texts[i]); value != nil {
			return value
		}
	}
	return form.Find(strings.Join(texts, "\n\n"))
}

// failed ends a turn that the program gave up. One that was stopped may be given
// up instead of being ended.
func (s *session) failed(t *rpc.Turn, err error) {
	if t.Why() != "" && s.conn.Context().Err() == nil {
		t.Finish(true)
		return
	}
	t.End(fmt.Errorf("%s turn: %w", s.name, err))
}

// ended ends a turn by the reason that the program gives.
func (s *session) ended(t *rpc.Turn, reason string) {
	switch reason {
	case "cancelled":
		t.Finish(true)
	case "end_turn":
		t.Finish(t.Why() != "")
	case "max_tokens":
		t.Change(func(r *agent.Reply) { r.Stopped = "length limit" })
		t.Finish(false)
	case "max_turn_requests":
		t.Change(func(r *agent.Reply) { r.Stopped = "turn limit" })
		t.Finish(false)
	case "refusal":
		t.End(fmt.Errorf("%s turn: the model refused to go on", s.name))
	default:
		t.End(fmt.Errorf("%s turn: it ended for a reason that is not known: %q", s.name, reason))
	}
}
