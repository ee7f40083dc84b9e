package codex

import (
	"bytes"
	"strings"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// What the model was sent and said, as it was, comes as notifications of its
// own when a thread was started with experimentalRawEvents. Most of it the
// program also tells as items, and those are the entries. What it tells
// nowhere else are calls of tools that do not exist, calls with arguments that
// it cannot read, calls of its small tools (a plan, a goal), and in code mode
// the script and what it printed.

// rawItem maps one piece of what the model was sent or said.
func (m *Mapper) rawItem(t *thread, n *note) []transcript.Item {
	var call, name, namespace, role []byte
	_ = pick(n.item, want{"call_id", &call}, want{"name", &name}, want{"namespace", &namespace}, want{"role", &role})
	id := jsontext.Text(call)
	switch {
	case id == "":
	case strings.HasSuffix(n.kind, "_output"):
		return m.rawOutput(t, n, id)
	case strings.HasSuffix(n.kind, "_call"):
		return m.rawCall(t, n, id, callName(name, namespace))
	}
	switch jsontext.Text(role) {
	case "user", "developer", "system":
		return m.event("model_input", n)
	}
	return m.event("model_output", n)
}

// callName is the name under which the model called, as a JSON string.
func callName(name, namespace []byte) []byte {
	if ns := jsontext.Text(namespace); strings.HasPrefix(ns, "mcp__") {
		return jsontext.Quote(ns + "__" + jsontext.Text(name))
	}
	return name
}

// rawCall maps a call. A script is an entry at once, because what it calls
// follows; of any other it is not known yet whether an item will tell of it.
func (m *Mapper) rawCall(t *thread, n *note, id string, name []byte) []transcript.Item {
	if t.tools[id].used {
		return m.event("model_output", n)
	}
	s := toolState{name: bytes.Clone(name), call: bytes.Clone(n.item)}
	if s.used = n.kind == "custom_tool_call" && jsontext.Text(name) != "apply_patch"; !s.used {
		t.tools[id] = s
		return m.event("model_output", n)
	}
	s.call = nil
	t.tools[id] = s
	n.itemID = id
	return one(m.item(transcript.ToolUse, n.kind, n, func(d *detail) {
		d.call(id, name)
	}))
}

// rawOutput maps what went back to the model. When no item told of the call,
// this is the first that is certain of it.
func (m *Mapper) rawOutput(t *thread, n *note, id string) []transcript.Item {
	s := t.tools[id]
	if s.done {
		return m.event("model_input", n)
	}
	n.itemID = id
	var out []transcript.Item
	if !s.used {
		out = append(out, m.item(transcript.ToolUse, "unseen_call", n, func(d *detail) {
			d.call(id, s.name).raw("call", s.call)
		}))
	}
	t.tools[id] = toolState{used: true, done: true, name: s.name}
	return append(out, m.item(transcript.ToolResult, n.kind, n, func(d *detail) {
		d.text("tool_use_id", id).raw("name", s.name).flag("is_error", !s.used && refusedCall(n.item))
	}))
}

// refusedCall says whether the program itself refused a call: it has no other
// way to say so than these words.
func refusedCall(item []byte) bool {
	text := jsontext.Text(jsontext.Get(item, "output"))
	return strings.HasPrefix(text, "unsupported call") || strings.HasPrefix(text, "failed to parse function arguments")
}
