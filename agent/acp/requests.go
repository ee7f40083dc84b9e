package acp

import (
	"slices"
	"strings"

	"conclave/agent"
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/session/acp"
)

// Handle implements rpc.Driver.
func (s *session) Handle(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Request:
		s.conn.Go(func() {
			if err := s.answer(m); err != nil && s.conn.Context().Err() == nil {
				_ = s.conn.Fail(err)
			}
		})
	case jsonrpc.Notification:
		update := jsontext.Members(jsontext.Get(m.Params, "update"), "sessionUpdate", "content")
		if s.last != "delta" || jsontext.Text(update[0]) != "agent_message_chunk" {
			return
		}
		text := jsontext.Text(jsontext.Get(update[1], "text"))
		if t := s.conn.Running(); t != nil && text != "" {
			t.Push(agent.Event{Delta: text})
		}
	}
}

// answer answers a request of the program. What it does not know it refuses.
func (s *session) answer(m jsonrpc.Message) error {
	var line []byte
	var err error
	if m.Method == "session/request_permission" {
		line, err = jsonrpc.NewResult(m.ID, map[string]any{"outcome": s.permit(m.Params)})
	} else {
		line, err = jsonrpc.NewFailure(m.ID, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound,
			Message: "this client does not do " + m.Method})
	}
	if err != nil {
		return err
	}
	return s.conn.Send(line)
}

// permit decides about a tool that the program wants leave for.
func (s *session) permit(params []byte) map[string]string {
	cancelled := map[string]string{"outcome": "cancelled"}
	if t := s.conn.Running(); t == nil || t.Why() != "" {
		return cancelled
	}
	choice := []string{"reject_once", "reject_always"}
	if s.allowed(jsontext.Get(params, "toolCall")) {
		choice = []string{"allow_once", "allow_always"}
	}
	options := map[string]string{}
	_ = jsontext.Elements(jsontext.Get(params, "options"), func(o []byte) error {
		m := jsontext.Members(o, "kind", "optionId")
		if k := jsontext.Text(m[0]); options[k] == "" {
			options[k] = jsontext.Text(m[1])
		}
		return nil
	})
	for _, kind := range choice {
		if id := options[kind]; id != "" {
			return map[string]string{"outcome": "selected", "optionId": id}
		}
	}
	return cancelled // it offers no such answer
}

// allowed: the room has walls, so a tool of a kind that the role has may do there
// what it likes. A tool of the room is held to the room's own rules.
func (s *session) allowed(call []byte) bool {
	m := jsontext.Members(call, "kind", "title", "toolCallId", "_meta")
	kind := jsontext.Text(m[0])
	if slices.Contains(s.spec.Tools.Builtin, agent.AllTools) || slices.Contains(s.spec.Tools.Builtin, kind) {
		return true
	}
	if kind != "" && kind != "other" {
		return false
	}
	s.mu.Lock()
	told := s.tools[jsontext.Text(m[2])]
	s.mu.Unlock()
	title := jsontext.Text(m[1])
	for _, name := range []string{told, acp.ToolName(m[3]), title} {
		if _, tool := s.roomTool(name); tool != "" {
			return true
		}
	}
	// Copilot asks by the tool's own name, and has told nothing of a call without input.
	return slices.ContainsFunc(s.spec.Tools.MCP, func(m agent.MCPServer) bool { return slices.Contains(m.Tools, title) })
}

// roomTool is the server and the tool whose names a name holds, in whichever way
// the program puts the two together; empty for none.
func (s *session) roomTool(name string) (server, tool string) {
	for _, m := range s.spec.Tools.MCP {
		for _, t := range m.Tools {
			if strings.Contains(name, m.Name) && strings.Contains(name, t) && len(t) > len(tool) {
				server, tool = m.Name, t
			}
		}
	}
	return server, tool
}
