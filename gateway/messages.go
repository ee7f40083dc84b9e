package gateway

import (
	"bytes"
	"net/http"

	"conclave/internal/jsontext"
)

// messagesAPI is Anthropic Messages.
var messagesAPI = &api{
	kind: Anthropic, version: "/v1", base: versioned("/v1"), under: []string{"/v1/messages"},
	asks: paths(map[string]bool{"/messages": true, "/messages/count_tokens": false}),
	key:  func(h http.Header, key string) { h.Set("X-Api-Key", key) },
	list: func(r *http.Request) {
		r.URL.RawQuery = "limit=1000"
		r.Header.Set("Anthropic-Version", "2023-06-01")
	},
	refuse: anthropicRefusal,
	cut:    func(no *refusal) (string, any) { return "error", anthropicRefusal(no) },

	spelt: snakeKey, same: fold, elsewhere: elsewhere, own: []string{"model", "metadata", "client_metadata", "tools"},
	tool: typedTool(localTools), within: partRoles,

	event: messagesEvent, whole: wholeUsage("usage"),
}

// elsewhere are the members of Messages and Responses that stand for something
// which the provider keeps or reaches.
var elsewhere = []string{"previous_response_id", "conversation", "prompt", "container", "mcp_servers"}

// localTools are the types of tools that the agent's program runs itself, in
// the room, or that look for one among those. A type that is not here, to the
// letter, is taken to run at the provider.
var localTools = []string{
	"custom", "function", "namespace", "local_shell", "shell", "apply_patch", "tool_search",
	"bash_20241022", "bash_20250124", "computer_20241022", "computer_20250124", "computer_20251124", "memory_20250818",
	"text_editor_20241022", "text_editor_20250124", "text_editor_20250429", "text_editor_20250728",
	"tool_search_tool_regex", "tool_search_tool_regex_20251119", "tool_search_tool_bm25", "tool_search_tool_bm25_20251119",
}

var partRoles = map[string]role{
	"type": kindOf, "tools": toolList, "url": address, "image_url": fetched, "file_url": fetched, "file_id": kept,
	"input": apart, "arguments": apart, "action": apart, "input_schema": apart, "parameters": apart,
}

type anthropicError struct {
	Type  string     `json:"type"`
	Error innerError `json:"error"`
}

type innerError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func anthropicRefusal(no *refusal) any {
	_, kind := no.rule.status()
	return anthropicError{"error", innerError{Type: kind, Message: no.message}}
}

// messagesEvent reads an event of a stream. The first knows the input, the last
// but one the output.
func messagesEvent(m *meter, data []byte) bool {
	kind := eventType(data)
	switch kind {
	case "content_block_delta":
		return m.sayOf(jsontext.Get(data, "delta"), "text", "thinking", "partial_json")
	case "message_start":
		m.read(jsontext.Get(data, "message", "usage"))
	case "message_delta":
		m.final = m.read(jsontext.Get(data, "usage")) || m.final
	case "message_stop":
		m.ended = true
	case "error":
		m.failed = true
	case "ping", "content_block_start", "content_block_stop":
	default:
		return false
	}
	return true
}

// eventType is the type of an event, which stands first as a rule.
func eventType(data []byte) string {
	const first = `{"type":"`
	if rest, ok := bytes.CutPrefix(data, []byte(first)); ok {
		if i := bytes.IndexByte(rest, '"'); i >= 0 && bytes.IndexByte(rest[:i], '\\') < 0 {
			return string(rest[:i])
		}
	}
	kind, _ := jsontext.String(jsontext.Get(data, "type"))
	return kind
}

// wholeUsage reads an answer whose usage stands at a place.
func wholeUsage(place ...string) func(*meter, []byte) {
	return func(m *meter, body []byte) {
		if u := jsontext.Get(body, place...); u != nil {
			m.final = m.read(u)
		}
	}
}
