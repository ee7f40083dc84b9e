package modelstub

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// responsesAnswer puts a reply into the words of OpenAI Responses.
func responsesAnswer(_ string, n int, req Request, r Reply) answer {
	id := fmt.Sprintf("resp_stub%06d", n)
	a := answer{fault: responsesFault(r)}
	a.add("response.created", object{"response": object{"id": id, "status": "in_progress"}})
	offers := offeredTools(req.Body)
	output := []any{}
	for i, b := range r.Blocks {
		a.item(i, responsesItem(fmt.Sprintf("stub%06d_%d", n, i), b, offers), b)
		output = append(output, responsesItem(fmt.Sprintf("stub%06d_%d", n, i), b, offers))
	}
	whole := object{
		"id": id, "object": "response", "status": "completed", "model": orElse(req.Model(), "gpt-stub"),
		"output": output, "usage": responsesUsage(r),
	}
	if r.stopReason() == "max_tokens" {
		whole["status"], whole["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	}
	a.add("response."+whole["status"].(string), object{"response": whole})
	a.broken = event{name: "response.failed", data: encode(object{"type": "response.failed", "response": object{
		"id": id, "status": "failed", "error": object{
			"code": orElse(r.ErrorType, "server_error"), "message": orElse(r.ErrorMessage, midStream)}}})}
	a.whole = encode(whole)
	return a
}

const midStream = "the stub failed in the middle"

// item adds the events of one output item. What is held back by Reply.Hold is
// the end of the item, so that the client has all of its text and cannot go on.
func (a *answer) item(i int, whole object, b Block) {
	id := whole["id"]
	open := object{}
	for k, v := range whole {
		open[k] = v
	}
	part := object{"item_id": id, "output_index": i}
	switch b.Kind {
	case Thinking, RedactedThinking:
		open["summary"] = []any{}
		a.add("response.output_item.added", object{"output_index": i, "item": open})
		if b.Kind == Thinking {
			a.add("response.reasoning_summary_part.added", part.with("summary_index", 0))
			for _, p := range pieces(b.Text) {
				a.add("response.reasoning_summary_text.delta", part.with("summary_index", 0).with("delta", p))
			}
		}
	case ToolUse:
		a.add("response.output_item.added", object{"output_index": i, "item": open})
	default:
		open["content"] = []any{}
		a.add("response.output_item.added", object{"output_index": i, "item": open})
		kind := "response.output_text.delta"
		if b.Kind == Refusal {
			kind = "response.refusal.delta"
		}
		for _, p := range pieces(b.Text) {
			a.add(kind, part.with("content_index", 0).with("delta", p))
		}
	}
	a.hold = len(a.events)
	a.add("response.output_item.done", object{"output_index": i, "item": whole})
}

func (o object) with(key string, value any) object {
	out := maps.Clone(o)
	out[key] = value
	return out
}

// responsesItem is a block as an output item.
func responsesItem(suffix string, b Block, offers map[string]offer) object {
	switch b.Kind {
	case Thinking:
		return object{"type": "reasoning", "id": "rs_" + suffix, "encrypted_content": orElse(b.Signature, "stub-signature"),
			"summary": []any{object{"type": "summary_text", "text": b.Text}}}
	case RedactedThinking:
		return object{"type": "reasoning", "id": "rs_" + suffix, "encrypted_content": b.Text, "summary": []any{}}
	case ToolUse:
		return responsesCall(suffix, b, offers)
	}
	said := object{"type": "output_text", "text": b.Text, "annotations": []any{}}
	if b.Kind == Refusal {
		said = object{"type": "refusal", "refusal": b.Text}
	}
	return object{"type": "message", "id": "msg_" + suffix, "role": "assistant", "status": "completed",
		"content": []any{said}}
}

// responsesCall is a tool call in the form in which the tool was offered. A
// tool that was not offered is called as a plain function.
func responsesCall(suffix string, b Block, offers map[string]offer) object {
	call := object{"id": "fc_" + suffix, "call_id": orElse(b.ID, "call_"+suffix), "status": "completed"}
	input := orElse(string(b.Input), "{}")
	o, ok := offers[b.Name]
	if !ok {
		o = offer{name: b.Name}
	}
	call["name"] = o.name
	if o.namespace != "" {
		call["namespace"] = o.namespace
	}
	if o.custom {
		var text string
		if json.Unmarshal([]byte(input), &text) != nil {
			text = input
		}
		call["type"], call["input"] = "custom_tool_call", text
		return call
	}
	call["type"], call["arguments"] = "function_call", input
	return call
}

// offer is a tool that a request put at the model's disposal.
type offer struct {
	name, namespace string
	custom          bool
}

type offeredTool struct {
	Type, Name string
	Tools      []offeredTool
}

// offeredTools are the tools of a request by the names that a script may use:
// a tool in a namespace answers to namespace__name, as the other API spells
// it, and to its bare name.
func offeredTools(body []byte) map[string]offer {
	out := map[string]offer{}
	for _, t := range toolList(body) {
		if t.Type != "namespace" {
			out[toolName(t)] = offer{name: toolName(t), custom: t.Type == "custom"}
			continue
		}
		for _, inner := range t.Tools {
			o := offer{name: inner.Name, namespace: t.Name, custom: inner.Type == "custom"}
			out[t.Name+"__"+inner.Name] = o
			if _, taken := out[inner.Name]; !taken {
				out[inner.Name] = o
			}
		}
	}
	return out
}

// toolName is the name of a tool; some of the API's own have only a type.
func toolName(t offeredTool) string { return orElse(t.Name, t.Type) }

// toolList reads the tools of a request, those that were added to the
// conversation on the way among them.
func toolList(body []byte) []offeredTool {
	var b struct {
		Tools []offeredTool
		Input []struct {
			Type  string
			Tools []offeredTool
		}
	}
	_ = json.Unmarshal(body, &b) // what cannot be read is empty
	out := b.Tools
	for _, item := range b.Input {
		if item.Type == "additional_tools" {
			out = append(out, item.Tools...)
		}
	}
	return out
}

// responsesUsage counts as that API does: input includes what the cache gave.
func responsesUsage(r Reply) object {
	u := r.usage()
	in := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"input_tokens": in, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": in + u.Output,
	}
}

func responsesFault(r Reply) []byte {
	kind := orElse(r.ErrorType, orElse(faultTypes[r.Status], "api_error"))
	return encode(object{"error": object{"type": kind, "code": kind, "param": nil,
		"message": orElse(r.ErrorMessage, kind)}})
}

// responsesView reads what the helpers of Request tell.
func responsesView(r Request) view {
	var b struct {
		Model, Instructions string
		Stream              bool
		Text                struct {
			Format struct{ Schema json.RawMessage }
		}
		Input []struct {
			Type, Role string
			Content    json.RawMessage
			CallID     string `json:"call_id"`
			Output     json.RawMessage
		}
	}
	_ = json.Unmarshal(r.Body, &b)
	v := view{model: b.Model, stream: b.Stream, schema: b.Text.Format.Schema}
	system := []string{b.Instructions}
	for _, t := range toolList(r.Body) {
		if t.Type != "namespace" {
			v.tools = append(v.tools, toolName(t))
		}
		for _, inner := range t.Tools {
			v.tools = append(v.tools, t.Name+"__"+inner.Name)
		}
	}
	for _, item := range b.Input {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			v.results = append(v.results, ToolResult{ID: item.CallID, Text: itemText(item.Output)})
		case item.Role == "developer" || item.Role == "system":
			system = append(system, itemText(item.Content))
		case item.Role == "user":
			v.lastUser = itemText(item.Content)
		default: // the model's own: messages, reasoning, calls
			v.results = nil
		}
	}
	v.system = strings.Join(system, "\n")
	return v
}

// itemText joins the text of a content that is a string or a list of parts.
func itemText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(raw, &parts)
	var out []string
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}
