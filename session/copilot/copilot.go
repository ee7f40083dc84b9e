// Package copilot reads the sessions of GitHub Copilot CLI: the events of
// ~/.copilot/session-state/<session>/events.jsonl.
//
// Each line is an event with a type, data, an id and a time. A message of the
// assistant has its words, its thoughts and its calls; that a call was begun is
// told again, and is an event. What a response consumed stands in an event of its
// own. The totals at the end of a run are the sums of these, and are no usage.
// Thoughts are within the output, what came from the cache is within the input.
package copilot

import (
	"path/filepath"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/plain"
	"conclave/transcript"
)

// Kind is GitHub Copilot CLI.
var Kind = &kind.Kind{
	Adapter: "copilot_cli",
	Name:    "copilot",
	HomeVar: "COPILOT_HOME", HomeDir: ".copilot", Sessions: sessions,
	Sniff:  Sniff,
	Locate: locate,
	NewMapper: func(f kind.File, o kind.Options) kind.Mapper {
		return plain.NewMapper(f, o, reader{tools: map[string]string{}})
	},
	NewWords: plain.NewWords,
}

const sessions = "session-state"

func locate(path string, _ func() ([]byte, error)) (kind.File, bool, error) {
	dir := filepath.Dir(path)
	if filepath.Base(path) != "events.jsonl" || filepath.Base(filepath.Dir(dir)) != sessions {
		return kind.File{}, false, nil
	}
	return kind.File{Path: path, Source: transcript.Main, Session: filepath.Base(dir), Dir: dir,
		Project: "copilot"}, true, nil
}

// Sniff says whether a line is one of this program's.
func Sniff(line []byte) bool {
	m := jsontext.Members(line, "type", "data", "id", "timestamp", "parentId")
	for i := range 5 {
		if m[i] == nil {
			return false
		}
	}
	return plain.Object(m[1]) && strings.Contains(jsontext.Text(m[0]), ".")
}

// events are those that say nothing in words.
var events = map[string]bool{
	"session.start": true, "session.resume": true, "session.shutdown": true, "session.info": true,
	"session.idle": true, "session.model_change": true, "session.mode_changed": true, "session.handoff": true,
	"session.truncation": true, "session.compaction_start": true, "session.compaction_complete": true,
	"session.snapshot_rewind": true, "session.context_changed": true, "session.title_changed": true,
	"session.usage_info": true, "session.plan_changed": true, "session.workspace_file_changed": true,
	"session.task_complete": true, "session.warning": true, "system.message": true, "system.notification": true,
	"assistant.turn_start": true, "assistant.turn_end": true, "assistant.intent": true,
	"assistant.message_delta": true, "assistant.reasoning_delta": true, "assistant.streaming_delta": true,
	"tool.execution_start": true, "tool.execution_progress": true, "tool.execution_partial_result": true,
	"tool.user_requested": true, "subagent.started": true, "subagent.completed": true, "subagent.failed": true,
	"subagent.selected": true, "subagent.deselected": true, "hook.start": true, "hook.end": true,
	"permission.requested": true, "permission.completed": true, "skill.invoked": true, "abort": true,
}

type reader struct {
	tools map[string]string // names, by the id of a call
}

// Read implements plain.Reader.
func (r reader) Read(l *plain.Line) {
	m := jsontext.Members(l.Raw, "type", "data", "id", "timestamp")
	l.Time = transcript.ParseTime(jsontext.Bare(m[3]))
	id, data := jsontext.Text(m[2]), m[1]
	switch typ := jsontext.Text(m[0]); typ {
	case "user.message":
		l.Add(plain.Entry{Type: transcript.UserMessage, Message: id, Text: plain.Some(jsontext.Get(data, "content"))})
	case "assistant.message":
		r.assistant(l, data)
	case "assistant.reasoning":
		l.Add(plain.Entry{Type: transcript.Thinking, Message: id, Text: plain.Some(jsontext.Get(data, "content"))})
	case "tool.execution_complete":
		r.result(l, data)
	case "session.usage_record", "assistant.usage":
		tokens(l, id, data)
	case "session.error":
		d := jsontext.Members(data, "errorType", "message")
		l.Add(plain.Entry{Type: transcript.Error, Subtype: jsontext.Text(d[0]), Text: plain.Some(d[1])})
	default:
		if !events[typ] {
			l.Unknown("event " + typ)
			return
		}
		if typ == "session.start" {
			l.Session = jsontext.Text(jsontext.Get(data, "sessionId"))
		}
		l.Event(typ)
	}
}

// assistant tells what the model thought, said and asked for.
func (r reader) assistant(l *plain.Line, data []byte) {
	m := jsontext.Members(data, "content", "toolRequests", "reasoningText", "messageId")
	e := plain.Entry{Message: jsontext.Text(m[3])}
	if e.Text = plain.Some(m[2]); e.Text != nil {
		e.Type = transcript.Thinking
		l.Add(e)
	}
	if e.Text = plain.Some(m[0]); e.Text != nil {
		e.Type = transcript.AssistantMessage
		l.Add(e)
	}
	plain.Each(m[1], func(v []byte) {
		c := jsontext.Members(v, "toolCallId", "name", "arguments")
		id, name := jsontext.Text(c[0]), jsontext.Text(c[1])
		r.tools[id] = name
		l.Add(plain.Entry{Type: transcript.ToolUse, Message: e.Message, ToolID: id, Tool: name, Input: c[2]})
	})
	if len(l.Entries()) == 0 {
		l.Event("empty_message")
	}
}

// result tells what a tool gave back. Its name stands where it was called.
func (r reader) result(l *plain.Line, data []byte) {
	m := jsontext.Members(data, "toolCallId", "success", "result", "error")
	e := plain.Entry{Type: transcript.ToolResult, ToolID: jsontext.Text(m[0]), Failed: string(m[1]) == "false",
		Output: jsontext.Get(m[2], "content")}
	e.Tool = r.tools[e.ToolID]
	if e.Output == nil {
		e.Output = jsontext.Get(m[3], "message")
	}
	if e.Output == nil {
		e.Output = m[2]
	}
	l.Add(e)
}

// tokens tells what a response consumed.
func tokens(l *plain.Line, id string, data []byte) {
	usage := jsontext.Get(data, "usage")
	if usage == nil {
		usage = data
	}
	m := jsontext.Members(usage, "model", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
	if m[1] == nil && m[2] == nil {
		l.Event("usage")
		return
	}
	read, write := plain.Number(m[3]), plain.Number(m[4])
	l.Add(plain.Entry{Type: transcript.TokenUsage, Message: id, Model: jsontext.Text(m[0]), Usage: &transcript.Usage{
		Input: max(plain.Number(m[1])-read-write, 0), Output: plain.Number(m[2]), CacheRead: read, CacheWrite: write}})
}
