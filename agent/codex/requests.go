package codex

import (
	"strings"
	"time"

	"conclave/agent"
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/session/codex"
)

// Handle implements rpc.Driver.
func (s *session) Handle(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Request:
		s.conn.Go(func() { s.answer(m) })
	case jsonrpc.Notification:
		s.notified(m)
	}
}

// notified follows turns. Those of other threads end nothing of ours.
func (s *session) notified(m jsonrpc.Message) {
	thread, turn := codex.About(m.Params)
	s.mu.Lock()
	t := s.turn
	switch m.Method {
	case "turn/started":
		s.active[thread] = turn
	case "turn/completed":
		delete(s.active, thread)
	}
	s.mu.Unlock()
	if m.Method == "configWarning" {
		s.warned(jsontext.Text(jsontext.Get(m.Params, "summary")))
	}
	if t == nil || thread != t.thread {
		return
	}
	switch m.Method {
	case "turn/started":
		t.named(turn)
	case "turn/completed":
		t.mu.Lock()
		ours := t.id == "" || t.id == turn
		t.mu.Unlock()
		if ours {
			t.completed(jsontext.Get(m.Params, "turn"))
		}
	case "item/agentMessage/delta":
		if text := jsontext.Text(jsontext.Get(m.Params, "delta")); text != "" {
			t.Push(agent.Event{Delta: text})
		}
	}
}

// warned notes settings of ours that the program does not know: a newer one
// may have renamed what locks the room.
func (s *session) warned(summary string) {
	if !strings.Contains(summary, "unrecognized") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range strings.Split(summary, "\n")[1:] {
		s.ignored = append(s.ignored, "setting "+strings.TrimSpace(line))
	}
}

// answer answers a request of the program. What it does not know it refuses.
func (s *session) answer(msg jsonrpc.Message) {
	err := s.reply(msg)
	if err != nil && s.conn.Context().Err() == nil {
		_ = s.conn.Fail(err)
	}
}

func (s *session) reply(msg jsonrpc.Message) error {
	result := s.decide(msg)
	if result == nil {
		line, err := jsonrpc.NewFailure(msg.ID, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound,
			Message: "this client does not do " + msg.Method})
		if err != nil {
			return err
		}
		return s.conn.Send(line)
	}
	line, err := jsonrpc.NewResult(msg.ID, result)
	if err != nil {
		return err
	}
	return s.conn.Send(line)
}

func (s *session) decide(msg jsonrpc.Message) any {
	type object map[string]any
	switch msg.Method {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		return object{"decision": "decline"} // it was told never to ask
	case "execCommandApproval", "applyPatchApproval": // the first version's
		return object{"decision": "abort"}
	case "item/permissions/requestApproval":
		return object{"permissions": object{}, "scope": "turn"} // nothing more
	case "item/tool/requestUserInput":
		return object{"answers": object{}} // nobody is there to ask
	case "mcpServer/elicitation/request":
		return object{"action": "decline", "content": nil, "_meta": nil}
	case "currentTime/read":
		return object{"currentTimeAt": time.Now().Unix()}
	case "item/tool/call": // none was offered
		name := jsontext.Text(jsontext.Get(msg.Params, "tool"))
		return object{"success": false,
			"contentItems": []any{object{"type": "inputText", "text": "there is no tool " + name}}}
	}
	return nil
}
