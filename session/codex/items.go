package codex

import (
	"bytes"
	"cmp"
	"slices"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// toolKinds are the items that stand for a tool call, with where to find the
// tool's name: a member of the item, or a name of their own.
var toolKinds = map[string]string{
	"commandExecution":    "",
	"fileChange":          "",
	"mcpToolCall":         "tool",
	"webSearch":           "",
	"dynamicToolCall":     "tool",
	"collabAgentToolCall": "tool",
	"imageView":           "",
	"imageGeneration":     "",
	"sleep":               "",
}

// eventKinds are the items that are neither messages nor tools.
var eventKinds = map[string]string{
	"contextCompaction": "compaction",
	"subAgentActivity":  "subagent_activity",
	"hookPrompt":        "hook_prompt",
	"enteredReviewMode": "review",
	"exitedReviewMode":  "review",
}

func (m *Mapper) itemStarted(t *thread, n *note) []transcript.Item {
	m.learnChildren(n)
	switch n.kind {
	case "userMessage":
		// A message that was being spoken is dropped when one is put in.
		out := m.flushOpen(t, n)
		t.echoed[n.itemID] = true
		return append(out, m.userMessage(t, n))
	case "agentMessage", "reasoning", "plan":
		t.opened(n.itemID, n.kind)
		return m.event("item_started", n)
	case "functionCallOutput":
		return m.event("item_started", n)
	}
	if _, ok := toolKinds[n.kind]; ok {
		return m.used(t, n)
	}
	if subtype, ok := eventKinds[n.kind]; ok {
		return m.event(subtype+"_started", n)
	}
	return m.unknownItem(n)
}

func (m *Mapper) itemCompleted(t *thread, n *note) []transcript.Item {
	m.learnChildren(n)
	heard := t.closed(n.itemID)
	switch n.kind {
	case "userMessage":
		if t.echoed[n.itemID] {
			return m.event("user_message_echo", n)
		}
		return one(m.userMessage(t, n))
	case "agentMessage", "plan":
		text := jsontext.Get(n.item, "text")
		if len(text) <= len(`""`) && heard != nil { // its end does not repeat what was heard of it
			text = heard
		}
		return one(m.spoken(t, n, transcript.AssistantMessage, text))
	case "reasoning":
		text := firstText(n.item, "summary", "content")
		if text == nil {
			text = heard
		}
		return one(m.spoken(t, n, transcript.Thinking, text))
	case "functionCallOutput":
		return m.resulted(t, n)
	}
	if _, ok := toolKinds[n.kind]; ok {
		var out []transcript.Item
		if !t.tools[n.itemID].used { // its beginning was not seen
			out = m.used(t, n)
		}
		return append(out, m.resulted(t, n)...)
	}
	if subtype, ok := eventKinds[n.kind]; ok {
		return m.event(subtype, n)
	}
	return m.unknownItem(n)
}

func (m *Mapper) unknownItem(n *note) []transcript.Item {
	m.notKnown("item type " + n.kind)
	return one(m.item(transcript.Unknown, "", n, nil))
}

// spoken is a finished text of the model. A text that an abandoned attempt had
// finished too, and that the new attempt repeats, is not said twice.
func (m *Mapper) spoken(t *thread, n *note, typ transcript.Type, text []byte) transcript.Item {
	key := string(typ) + string(text)
	if t.retried && t.said[key] {
		return m.item(transcript.SystemEvent, "retry_repeat", n, nil)
	}
	t.said[key] = true
	t.broken = slices.DeleteFunc(t.broken, func(it transcript.Item) bool { return saidKey(it) == key })
	return m.item(typ, "", n, func(d *detail) {
		d.raw("text", text).flag("redacted", typ == transcript.Thinking && text == nil)
		if phase := jsontext.Get(n.item, "phase"); len(phase) > 2 {
			d.raw("phase", phase)
		}
	})
}

// userMessage maps the echo of a message. The client's own request is the
// user_message; where that was not seen, the echo is.
func (m *Mapper) userMessage(t *thread, n *note) transcript.Item {
	text := joinTexts(jsontext.Get(n.item, "content"))
	said := jsontext.Text(text)
	for i, p := range t.prompts {
		if p == said {
			t.prompts = append(t.prompts[:i], t.prompts[i+1:]...)
			return m.item(transcript.SystemEvent, "user_message_echo", n, nil)
		}
	}
	return m.item(transcript.UserMessage, "", n, func(d *detail) { d.raw("text", text) })
}

// used maps the beginning of a tool call, and resulted its end, each once: a
// dynamic tool call is both an item and a request of the server.
func (m *Mapper) used(t *thread, n *note) []transcript.Item {
	s := t.tools[n.itemID]
	if s.used {
		return m.event("tool_use_repeat", n)
	}
	s.used, s.call = true, nil
	t.tools[n.itemID] = s
	return one(m.toolUse(n))
}

func (m *Mapper) resulted(t *thread, n *note) []transcript.Item {
	s := t.tools[n.itemID]
	if s.done {
		return m.event("tool_result_repeat", n)
	}
	s.done = true
	t.tools[n.itemID] = s
	return one(m.toolResult(n))
}

// The id of a tool's item stands in item_id and in the item. Under a third name,
// tool_use_id, other readers of the format would find it and look no further: not
// at the item, which has the output.

func (m *Mapper) toolUse(n *note) transcript.Item {
	return m.item(transcript.ToolUse, n.kind, n, func(d *detail) {
		d.raw("name", toolName(n))
	})
}

func (m *Mapper) toolResult(n *note) transcript.Item {
	return m.item(transcript.ToolResult, n.kind, n, func(d *detail) {
		d.raw("name", toolName(n)).flag("is_error", itemFailed(n.item))
	})
}

// toolName is the name of the tool as a JSON string: that of an MCP server's
// tool bears the server's.
func toolName(n *note) []byte {
	if member := toolKinds[n.kind]; member != "" {
		name := jsontext.Get(n.item, member)
		if server := jsontext.Text(jsontext.Get(n.item, "server")); server != "" {
			return jsontext.Quote("mcp__" + server + "__" + jsontext.Text(name))
		}
		if len(name) > 2 {
			return name
		}
	}
	if name := jsontext.Get(n.item, "name"); n.kind == "functionCallOutput" && name != nil {
		return name
	}
	return jsontext.Quote(n.kind)
}

func itemFailed(item []byte) bool {
	var status, success []byte
	_ = pick(item, want{"status", &status}, want{"success", &success})
	switch jsontext.Text(status) {
	case "failed", "declined":
		return true
	}
	return string(success) == "false"
}

// firstText is the first of the members that holds any text.
func firstText(obj []byte, names ...string) []byte {
	for _, name := range names {
		v := jsontext.Get(obj, name)
		switch {
		case len(v) > 2 && v[0] == '"':
			return v
		case len(v) > 2 && v[0] == '[':
			if text := joinTexts(v); text != nil {
				return text
			}
		}
	}
	return nil
}

// learnChildren notes which thread started which: children are not announced
// in any other way.
func (m *Mapper) learnChildren(n *note) {
	switch n.kind {
	case "collabAgentToolCall":
		var sender, receivers, tool, model []byte
		_ = pick(n.item, want{"senderThreadId", &sender}, want{"receiverThreadIds", &receivers}, want{"tool", &tool},
			want{"model", &model})
		spawned := bytes.EqualFold(bytes.ReplaceAll(tool, []byte("_"), nil), []byte(`"spawnAgent"`))
		_ = jsontext.Elements(receivers, func(v []byte) error {
			m.adopt(jsontext.Text(v), jsontext.Text(sender), spawned)
			if spawned {
				child := m.thread(jsontext.Text(v))
				child.model = cmp.Or(jsontext.Text(model), child.model)
			}
			return nil
		})
		if delete(m.spawning, n.itemID); spawned && n.method == "item/started" {
			m.spawning[n.itemID] = n.thread
		}
	case "subAgentActivity":
		m.adopt(jsontext.Text(jsontext.Get(n.item, "agentThreadId")), n.thread, true)
	}
}

func (m *Mapper) adopt(child, parent string, sure bool) {
	if child == "" || child == parent || child == m.session {
		return
	}
	if t := m.thread(child); sure || t.parent == "" {
		t.parent = parent
	}
}

// learnThread reads a thread's own description.
func (m *Mapper) learnThread(obj []byte, n *note) {
	var id, parent, preview, turns, model []byte
	if pick(obj, want{"id", &id}, want{"parentThreadId", &parent}, want{"preview", &preview},
		want{"turns", &turns}, want{"model", &model}) != nil || jsontext.Text(id) == "" {
		return
	}
	t := m.thread(jsontext.Text(id))
	t.model = cmp.Or(jsontext.Text(model), t.model)
	if n.method == "thread/resume" || n.method == "thread/fork" || jsontext.Text(preview) != "" || len(turns) > len("[]") {
		t.resumed = true
	}
	if n.thread == "" {
		n.thread = t.id
	}
	if p := jsontext.Text(parent); p != "" {
		t.parent = p
	} else if m.session == "" {
		m.session = t.id
	}
}
