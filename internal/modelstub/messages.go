package modelstub

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// messagesAnswer puts a reply into the words of Anthropic Messages. Its ids are
// unique over servers, because a session may be resumed with another.
func messagesAnswer(tag string, n int, req Request, r Reply) answer {
	if strings.Contains(req.Path, "/count_tokens") {
		r.Blocks = nil
		return answer{whole: encode(object{"input_tokens": len(req.Body) / 4}), fault: messagesFault(r)}
	}
	msg := object{
		"id": fmt.Sprintf("msg_stub%s_%06d", tag, n), "type": "message", "role": "assistant",
		"model": orElse(req.Model(), "claude-stub"), "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": messagesUsage(r.usage(), 1),
	}
	a := answer{fault: messagesFault(r)}
	a.add("message_start", object{"message": msg})
	var content []any
	for i, b := range r.Blocks {
		if b.ID == "" {
			b.ID = fmt.Sprintf("toolu_stub%s_%06d_%d", tag, n, i)
		}
		open, deltas, full := messagesBlock(b)
		content = append(content, full)
		a.add("content_block_start", object{"index": i, "content_block": open})
		for _, d := range deltas {
			a.add("content_block_delta", object{"index": i, "delta": d})
		}
		a.hold = len(a.events)
		a.add("content_block_stop", object{"index": i})
	}
	a.add("message_delta", object{
		"delta": object{"stop_reason": r.stopReason(), "stop_sequence": nil},
		"usage": messagesUsage(r.usage(), r.usage().Output),
	})
	a.add("message_stop", object{})
	a.broken = event{name: "error", data: encode(object{"type": "error", "error": object{
		"type": orElse(r.ErrorType, "overloaded_error"), "message": orElse(r.ErrorMessage, "Overloaded")}})}

	whole := object{"stop_reason": r.stopReason(), "content": content, "usage": messagesUsage(r.usage(), r.usage().Output)}
	for k, v := range msg {
		if _, ok := whole[k]; !ok {
			whole[k] = v
		}
	}
	a.whole = encode(whole)
	return a
}

func (a *answer) add(kind string, o object) {
	o["type"] = kind
	a.events = append(a.events, event{name: kind, data: encode(o)})
}

func messagesUsage(u Usage, output int64) object {
	return object{
		"input_tokens": u.Input, "output_tokens": output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		"service_tier": "standard",
	}
}

// messagesBlock gives the block as it opens, its deltas, and the whole of it.
func messagesBlock(b Block) (open object, deltas []object, whole object) {
	switch b.Kind {
	case Thinking:
		sig := orElse(b.Signature, "stub-signature")
		for _, p := range pieces(b.Text) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": sig})
		return object{"type": "thinking", "thinking": "", "signature": ""}, deltas,
			object{"type": "thinking", "thinking": b.Text, "signature": sig}
	case RedactedThinking:
		whole = object{"type": "redacted_thinking", "data": b.Text}
		return whole, nil, whole
	case ToolUse:
		input := string(b.Input)
		if input == "" {
			input = "{}"
		}
		for _, p := range pieces(input) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
		}
		return object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": object{}}, deltas,
			object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": json.RawMessage(input)}
	default:
		for _, p := range pieces(b.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": p})
		}
		return object{"type": "text", "text": ""}, deltas, object{"type": "text", "text": b.Text}
	}
}

// faultTypes are the error types of the API by HTTP status.
var faultTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
	500: "api_error", 529: "overloaded_error",
}

func messagesFault(r Reply) []byte {
	kind := orElse(r.ErrorType, orElse(faultTypes[r.Status], "api_error"))
	return encode(object{"type": "error", "request_id": "req_stub",
		"error": object{"type": kind, "message": orElse(r.ErrorMessage, kind)}})
}

// messagesView reads what the helpers of Request tell.
func messagesView(r Request) view {
	var b struct {
		Model     string
		Stream    bool
		MaxTokens int `json:"max_tokens"`
		Output    struct {
			Format struct{ Schema json.RawMessage }
		} `json:"output_config"`
		System   json.RawMessage
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(r.Body, &b) // what cannot be read is empty
	v := view{model: b.Model, stream: b.Stream, system: blocksText(b.System)}
	for _, t := range b.Tools {
		v.tools = append(v.tools, t.Name)
	}
	for _, m := range b.Messages {
		switch m.Role {
		case "assistant":
			v.results = nil
		case "user":
			if t := blocksText(m.Content); t != "" {
				v.lastUser = t
			}
			v.results = append(v.results, toolResults(m.Content)...)
		}
	}
	v.schema = b.Output.Format.Schema
	v.auxiliary = strings.Contains(r.Path, "/count_tokens") || b.MaxTokens == 1 || asksForATitle(v)
	return v
}

// asksForATitle knows the requests by which programs name a session.
func asksForATitle(v view) bool {
	for _, words := range []string{"Generate a concise", "sentence-case title", "title generator"} {
		if strings.Contains(v.system, words) {
			return true
		}
	}
	return false
}

// blocksText joins the text of a content that is a string or a list of blocks.
func blocksText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(raw, &blocks)
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func toolResults(raw json.RawMessage) []ToolResult {
	var blocks []struct {
		Type    string
		ID      string `json:"tool_use_id"`
		Content json.RawMessage
		IsError bool `json:"is_error"`
	}
	_ = json.Unmarshal(raw, &blocks)
	var out []ToolResult
	for _, b := range blocks {
		if b.Type == "tool_result" {
			out = append(out, ToolResult{ID: b.ID, Text: blocksText(b.Content), IsError: b.IsError})
		}
	}
	return out
}

type object map[string]any

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("modelstub: encode answer: " + err.Error()) // a script with an Input that is no JSON
	}
	return b
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// pieces cuts a text into the deltas of a stream, at characters: up to four
// for a short text, and never more than 64 KB each.
func pieces(s string) []string {
	size := max(len(s)/3, 8)
	size = min(size, 64<<10)
	var out []string
	for len(s) > size {
		n := size
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		if n == 0 {
			n = size
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
