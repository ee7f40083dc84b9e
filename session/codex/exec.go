package codex

import (
	"strings"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Exec maps the output of codex exec --json, line by line. The zero value is
// ready for use. It is not safe for concurrent use. The items share the memory
// of the line.
//
// That output has no user message, and usage once per turn only.
type Exec struct {
	thread  string
	tools   map[string]toolState
	pending []byte // an error that the end of the turn is to repeat
	unknown []string
}

// execTools are the item types that stand for a tool call.
var execTools = map[string]bool{
	"command_execution": true, "file_change": true, "mcp_tool_call": true, "web_search": true,
	"collab_tool_call": true, "collab_agent_tool_call": true, "dynamic_tool_call": true,
	"image_view": true, "image_generation": true,
}

// execLine is one line taken apart.
type execLine struct {
	line, item     []byte
	kind, id, what string // type of the line; id and type of its item
}

// Map maps one line, given without its newline.
func (e *Exec) Map(line []byte) []transcript.Item {
	if e.tools == nil {
		e.tools = map[string]toolState{}
	}
	l := execLine{line: line}
	var kind, thread []byte
	if pick(line, want{"type", &kind}, want{"item", &l.item}, want{"thread_id", &thread}) != nil {
		return notJSON(line)
	}
	var id, what []byte
	_ = pick(l.item, want{"id", &id}, want{"type", &what})
	l.kind, l.id, l.what = jsontext.Text(kind), jsontext.Text(id), jsontext.Text(what)
	if t := jsontext.Text(thread); t != "" {
		e.thread = t
	}
	items := e.dispatch(&l)
	for i := 1; i < len(items); i++ {
		items[i].Raw = nil
	}
	return items
}

// Flush gives what is left at the end of the output.
func (e *Exec) Flush() []transcript.Item {
	if e.pending == nil {
		return nil
	}
	var d detail
	d.text("subtype", "error").text("thread_id", e.thread).raw("notification", e.pending)
	e.pending = nil
	return one(transcript.Item{Type: transcript.Error, SessionID: e.thread, Detail: d.done()})
}

// Unrecognised lists what the mapper did not know, each once.
func (e *Exec) Unrecognised() []string { return append([]string(nil), e.unknown...) }

func (e *Exec) item(typ transcript.Type, subtype string, l *execLine, more func(*detail)) transcript.Item {
	d := new(detail)
	d.text("subtype", subtype).text("method", l.kind).text("thread_id", e.thread).text("item_id", l.id)
	if more != nil {
		more(d)
	}
	d.raw("notification", l.line)
	return transcript.Item{Type: typ, SessionID: e.thread, Detail: d.done(), Raw: l.line}
}

func (e *Exec) event(subtype string, l *execLine) []transcript.Item {
	return one(e.item(transcript.SystemEvent, subtype, l, nil))
}

func (e *Exec) dispatch(l *execLine) []transcript.Item {
	switch l.kind {
	case "thread.started", "turn.started":
		return e.event(strings.Replace(l.kind, ".", "_", 1), l)
	case "turn.completed":
		return e.turnCompleted(l)
	case "turn.failed":
		e.pending = nil
		return one(e.item(transcript.Error, "turn_failed", l, func(d *detail) {
			d.raw("error", jsontext.Get(l.line, "error"))
		}))
	case "error":
		return e.failure(l)
	case "item.started", "item.updated", "item.completed":
		return e.execItem(l)
	}
	return e.notKnown(l, "line type "+l.kind)
}

func (e *Exec) notKnown(l *execLine, name string) []transcript.Item {
	for _, n := range e.unknown {
		if n == name {
			return one(e.item(transcript.Unknown, "", l, nil))
		}
	}
	e.unknown = append(e.unknown, name)
	return one(e.item(transcript.Unknown, "", l, nil))
}

func (e *Exec) turnCompleted(l *execLine) []transcript.Item {
	used, ok := readTokens(jsontext.Get(l.line, "usage"))
	if !ok {
		return e.event("turn_completed", l)
	}
	return []transcript.Item{
		e.item(transcript.TokenUsage, "turn_completed", l, func(d *detail) { d.raw("usage", used.detail()) }),
	}
}

// failure maps a line "error". A retry is an error of its own; any other one
// is repeated by the end of the turn.
func (e *Exec) failure(l *execLine) []transcript.Item {
	if strings.HasPrefix(jsontext.Text(jsontext.Get(l.line, "message")), "Reconnecting") {
		return one(e.item(transcript.Error, "retry", l, nil))
	}
	if e.pending != nil {
		return one(e.item(transcript.Error, "error", l, nil))
	}
	e.pending = append([]byte(nil), l.line...)
	return e.event("turn_error", l)
}

func (e *Exec) execItem(l *execLine) []transcript.Item {
	done := l.kind == "item.completed"
	switch {
	case execTools[l.what]:
		return e.tool(l, done)
	case l.what == "error":
		return e.event("warning", l) // the program words its warnings so
	case l.what == "todo_list":
		return e.event("plan", l)
	case !done && (l.what == "agent_message" || l.what == "reasoning"):
		return e.event("item_started", l)
	case l.what == "agent_message":
		return e.said(transcript.AssistantMessage, l)
	case l.what == "reasoning":
		return e.said(transcript.Thinking, l)
	}
	return e.notKnown(l, "item type "+l.what)
}

// said maps a text of the model.
func (e *Exec) said(typ transcript.Type, l *execLine) []transcript.Item {
	return one(e.item(typ, "", l, func(d *detail) { d.raw("text", jsontext.Get(l.item, "text")) }))
}

func (e *Exec) tool(l *execLine, done bool) []transcript.Item {
	s := e.tools[l.id]
	name := jsontext.Quote(l.what)
	if tool := jsontext.Get(l.item, "tool"); len(tool) > 2 {
		name = tool
	}
	var out []transcript.Item
	if !s.used {
		out = append(out, e.item(transcript.ToolUse, l.what, l, func(d *detail) { d.call(l.id, name) }))
	}
	if done && !s.done {
		out = append(out, e.item(transcript.ToolResult, l.what, l, func(d *detail) {
			d.text("tool_use_id", l.id).raw("name", name).flag("is_error", itemFailed(l.item))
		}))
	}
	e.tools[l.id] = toolState{used: true, done: s.done || done}
	if out == nil {
		return e.event("progress", l)
	}
	return out
}
