package codex

import (
	"bytes"
	"strings"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Rollout maps the lines of one rollout file, in order. The zero value is
// ready for use. It is not safe for concurrent use. The items share the memory
// of the line.
//
// The program writes most things twice: as the model was sent or said it
// (response_item) and as the person saw it (event_msg). Whichever comes first
// is the entry, the other one a system_event of the subtype "duplicate".
type Rollout struct {
	thread, parent, session string

	meter   meter
	tools   map[string]toolState
	seen    map[string]bool // ids of messages and reasoning of this turn
	prompts []string        // user texts of this turn, seen once
	spoken  []string        // texts of the model of this turn, seen once
	failed  bool            // the turn's error is on the record

	heard   map[string]bool // texts of the model since a response was last counted
	retried bool            // a response ended since without being counted: it broke off

	unknown []string
}

// rolloutLine is one line taken apart.
type rolloutLine struct {
	line, payload, metadata []byte
	kind, sub               string // type of the line, and of its payload
}

// Map maps one line, given without its newline.
func (r *Rollout) Map(line []byte) []transcript.Item {
	if r.tools == nil {
		r.tools, r.seen, r.heard = map[string]toolState{}, map[string]bool{}, map[string]bool{}
	}
	l := rolloutLine{line: line}
	var kind []byte
	if pick(line, want{"type", &kind}, want{"payload", &l.payload}, want{"metadata", &l.metadata}) != nil {
		return notJSON(line)
	}
	var sub []byte
	_ = pick(l.payload, want{"type", &sub}) // a payload may be of any type
	l.kind, l.sub = jsontext.Text(kind), jsontext.Text(sub)
	items := r.dispatch(&l)
	for i := 1; i < len(items); i++ {
		items[i].Raw = nil
	}
	return items
}

// Flush gives what is left at the end of the file: nothing.
func (r *Rollout) Flush() []transcript.Item { return nil }

// Unrecognised lists what the mapper did not know, each once.
func (r *Rollout) Unrecognised() []string { return append([]string(nil), r.unknown...) }

func (r *Rollout) notKnown(l *rolloutLine, name string) []transcript.Item {
	for _, n := range r.unknown {
		if n == name {
			return one(r.item(transcript.Unknown, "", l, nil))
		}
	}
	r.unknown = append(r.unknown, name)
	return one(r.item(transcript.Unknown, "", l, nil))
}

func (r *Rollout) dispatch(l *rolloutLine) []transcript.Item {
	switch l.kind {
	case "session_meta":
		return r.sessionMeta(l)
	case "response_item":
		return r.responseItem(l)
	case "event_msg":
		return r.eventMsg(l)
	case "token_usage_record":
		var last, total []byte
		_ = pick(l.payload, want{"usage", &last}, want{"thread_token_usage", &total})
		return r.tokens(l, total, last)
	case "compacted":
		return r.event("compaction", l)
	case "turn_context", "world_state", "inter_agent_communication_metadata":
		return r.event(l.kind, l)
	}
	return r.notKnown(l, "line type "+l.kind)
}

func (r *Rollout) item(typ transcript.Type, subtype string, l *rolloutLine, more func(*detail)) transcript.Item {
	d := new(detail)
	d.text("subtype", subtype).text("rollout", l.kind).text("thread_id", r.thread).text("parent_thread_id", r.parent)
	if more != nil {
		more(d)
	}
	d.raw("notification", l.payload)
	return transcript.Item{Type: typ, SessionID: r.session,
		Detail: d.done(), Checked: jsontext.Shallow(l.line), Raw: l.line}
}

func (r *Rollout) event(subtype string, l *rolloutLine) []transcript.Item {
	return one(r.item(transcript.SystemEvent, subtype, l, nil))
}

func (r *Rollout) sessionMeta(l *rolloutLine) []transcript.Item {
	var id, session, parent []byte
	_ = pick(l.payload, want{"id", &id}, want{"session_id", &session}, want{"parent_thread_id", &parent})
	r.thread, r.parent = jsontext.Text(id), jsontext.Text(parent)
	if r.session = jsontext.Text(session); r.session == "" {
		r.session = r.thread
	}
	return r.event("session_meta", l)
}

// tokens counts a response once, whichever of its two lines comes first.
func (r *Rollout) tokens(l *rolloutLine, total, last []byte) []transcript.Item {
	sum, ok := readTokens(total)
	if !ok {
		r.retried = r.retried || len(r.heard) > 0
		return r.event("rate_limits", l) // a count without figures
	}
	r.counted()
	latest, _ := readTokens(last)
	used, fresh := r.meter.add(sum, latest)
	if !fresh {
		return r.event("token_usage_repeat", l)
	}
	return one(r.item(transcript.TokenUsage, "", l, func(d *detail) { d.raw("usage", used.detail()) }))
}

func (r *Rollout) responseItem(l *rolloutLine) []transcript.Item {
	switch l.sub {
	case "message":
		return r.message(l)
	case "reasoning":
		id := jsontext.Text(jsontext.Get(l.payload, "id"))
		return r.said(l, id, transcript.Thinking, firstText(l.payload, "summary", "content"))
	case "agent_message", "additional_tools", "ghost_snapshot", "compaction", "compaction_summary":
		return r.event(l.sub, l)
	}
	if strings.HasSuffix(l.sub, "_call_output") || l.sub == "tool_search_output" {
		return r.result(l, jsontext.Text(jsontext.Get(l.payload, "call_id")), nil, refusedCall(l.payload))
	}
	if strings.HasSuffix(l.sub, "_call") {
		return r.call(l)
	}
	return r.notKnown(l, "response_item "+l.sub)
}

// message maps what went to the model or came from it. What the program itself
// told the model in the person's name is a system_event.
func (r *Rollout) message(l *rolloutLine) []transcript.Item {
	var id, role, content, about []byte
	_ = pick(l.payload, want{"id", &id}, want{"role", &role}, want{"content", &content},
		want{"internal_chat_message_metadata_passthrough", &about})
	text := joinTexts(content)
	switch jsontext.Text(role) {
	case "assistant":
		if string(jsontext.Get(l.metadata, "compaction_output")) == "true" {
			return r.event("compaction_summary", l)
		}
		return r.said(l, jsontext.Text(id), transcript.AssistantMessage, text)
	case "user":
		if subtype := injected(text, jsontext.Get(about, "content_item_kinds")); subtype != "" {
			return r.event(subtype, l)
		}
		return r.prompt(l, text)
	case "developer", "system":
		return r.event("instructions", l)
	}
	return r.notKnown(l, "message role "+jsontext.Text(role))
}

// injected names what kind of text the program put into the person's mouth,
// "" if it is the person's own. Newer files say so; in older ones such a text
// is wrapped in a tag.
func injected(text, kinds []byte) string {
	if len(kinds) > len("[]") {
		if bytes.Contains(kinds, []byte(`"user.`)) {
			return ""
		}
		if !bytes.Contains(kinds, []byte(`"unknown"`)) {
			return "injected"
		}
	}
	said := jsontext.Text(text)
	for _, tag := range []string{"environment_context", "turn_aborted", "subagent_notification",
		"user_instructions", "permissions", "skill", "skills_instructions", "model_switch", "user_shell_command"} {
		if strings.HasPrefix(said, "<"+tag+">") || strings.HasPrefix(said, "<"+tag+" ") {
			return "injected"
		}
	}
	if strings.HasPrefix(said, "# AGENTS.md instructions") {
		return "injected"
	}
	return ""
}

// prompt maps a message of the person, once.
func (r *Rollout) prompt(l *rolloutLine, text []byte) []transcript.Item {
	if takeOne(&r.prompts, jsontext.Text(text)) {
		return r.event("duplicate", l)
	}
	r.prompts = append(r.prompts, jsontext.Text(text))
	return one(r.item(transcript.UserMessage, "", l, func(d *detail) { d.raw("text", text) }))
}

// said maps a text of the model, once: by its id, or where it has none by what
// it says.
func (r *Rollout) said(l *rolloutLine, id string, typ transcript.Type, text []byte) []transcript.Item {
	key := string(typ) + jsontext.Text(text)
	if id != "" && r.seen[id] || id == "" && takeOne(&r.spoken, key) {
		return r.event("duplicate", l)
	}
	if id != "" {
		r.seen[id] = true
		if r.retried && r.heard[key] { // the next attempt says it again
			return r.event("retry_repeat", l)
		}
	}
	r.heard[key] = true
	r.spoken = append(r.spoken, key)
	return one(r.item(typ, "", l, func(d *detail) {
		d.text("item_id", id).raw("text", text).flag("redacted", typ == transcript.Thinking && text == nil)
	}))
}

// counted says that the response of the model is complete.
func (r *Rollout) counted() {
	clear(r.heard)
	r.retried = false
}

func takeOne(list *[]string, s string) bool {
	for i, have := range *list {
		if have == s {
			*list = append((*list)[:i], (*list)[i+1:]...)
			return true
		}
	}
	return false
}

// call maps a tool call as the model made it.
func (r *Rollout) call(l *rolloutLine) []transcript.Item {
	var id, call, name []byte
	_ = pick(l.payload, want{"id", &id}, want{"call_id", &call}, want{"name", &name})
	key := jsontext.Text(call)
	if key == "" {
		key = jsontext.Text(id)
	}
	if len(name) <= len(`""`) {
		name = jsontext.Quote(strings.TrimSuffix(l.sub, "_call"))
	}
	return r.use(l, key, name)
}

func (r *Rollout) use(l *rolloutLine, id string, name []byte) []transcript.Item {
	s := r.tools[id]
	if s.used && id != "" {
		return r.event("duplicate", l)
	}
	s.used, s.name = true, bytes.Clone(name)
	r.tools[id] = s
	return one(r.item(transcript.ToolUse, "", l, func(d *detail) {
		d.call(id, name)
	}))
}

func (r *Rollout) result(l *rolloutLine, id string, name []byte, failed bool) []transcript.Item {
	s := r.tools[id]
	if s.done && id != "" {
		return r.event("duplicate", l)
	}
	if name == nil {
		name = s.name
	}
	r.tools[id] = toolState{used: true, done: true}
	return one(r.item(transcript.ToolResult, "", l, func(d *detail) {
		d.text("tool_use_id", id).raw("name", name).flag("is_error", failed || s.failed)
	}))
}
