// Package opencode reads the sessions of opencode, and of Kilo Code's program,
// which is made of it: the rows of their databases, unfolded into lines (see
// session/unfold), and what `opencode run --format json` prints.
//
// A message is a row without words; what it says are its parts, each a row that is
// written again as it grows. A text is told when it has ended, a tool call when
// its input is there and its result when it has one. Each step of the model ends
// with a part that has its tokens and cost; reasoning is counted beside the
// output.
//
// The table of events holds the same once more, as it came to be: its rows are
// system_events. Tables that newer versions have, and rows of kinds that are not
// known here, are of type unknown, whole.
package opencode

import (
	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/plain"
	"conclave/session/unfold"
	"conclave/transcript"
)

// Kind is opencode, Kilo the program of Kilo Code.
var (
	Kind = of("opencode", "opencode")
	Kilo = of("kilo", "kilo")
)

func of(name, adapter string) *kind.Kind {
	unfolded := unfold.Sniff(name)
	k := &kind.Kind{
		Adapter: adapter,
		Name:    name,
		HomeVar: "XDG_DATA_HOME", HomeDir: ".local/share", Sessions: name,
		Sniff:  unfolded,
		Locate: unfold.Locate(name),
		NewMapper: func(f kind.File, o kind.Options) kind.Mapper {
			return plain.NewMapper(f, o, reader{unfolded})
		},
		NewWords: plain.NewWords,
		Store:    store(name),
		Rows:     rows,
		Folded:   true,
	}
	if name == "opencode" {
		k.Sniff = func(line []byte) bool { return unfolded(line) || printed(line) }
	}
	return k
}

// printed says whether a line is one that `opencode run --format json` prints.
func printed(line []byte) bool {
	m := jsontext.Members(line, "type", "sessionID", "part", "error", "timestamp")
	return m[0] != nil && m[1] != nil && m[4] != nil && (m[2] != nil || m[3] != nil)
}

type reader struct{ unfolded func([]byte) bool }

// Read implements plain.Reader.
func (r reader) Read(l *plain.Line) {
	if !r.unfolded(l.Raw) {
		r.print(l)
		return
	}
	table, key, session, row := unfold.Row(l.Raw)
	l.Session = session
	if row == nil {
		l.Event("gone")
		return
	}
	m := jsontext.Members(row, "data", "time_created", "time_updated")
	l.Time = plain.Millis(m[1])
	switch table {
	case "session", "todo", "event":
		l.Time = max(l.Time, plain.Millis(m[2]))
		l.Event(table)
	case "message":
		message(l, key, m[0])
	case "part":
		about := jsontext.Members(jsontext.Get(l.Raw, "about"), "role", "model")
		part(l, m[0], key, jsontext.Text(jsontext.Get(row, "message_id")), jsontext.Text(about[0]), jsontext.Text(about[1]))
	default:
		l.Unknown("table " + table)
	}
}

// print reads a line that was printed.
func (r reader) print(l *plain.Line) {
	m := jsontext.Members(l.Raw, "type", "sessionID", "part", "error", "timestamp")
	l.Time, l.Session = plain.Millis(m[4]), jsontext.Text(m[1])
	switch {
	case m[2] != nil:
		p := jsontext.Members(m[2], "id", "messageID")
		part(l, m[2], jsontext.Text(p[0]), jsontext.Text(p[1]), "assistant", "")
	case m[3] != nil:
		l.Add(plain.Entry{Type: transcript.Error, Subtype: jsontext.Text(jsontext.Get(m[3], "name")), Text: words(m[3])})
	default:
		l.Unknown("line " + jsontext.Text(m[0]))
	}
}

// words are those of an error.
func words(v []byte) []byte {
	if t := plain.TextOf(jsontext.Get(v, "data"), "message"); t != nil {
		return t
	}
	if t := plain.TextOf(v, "message", "name"); t != nil {
		return t
	}
	return v
}

// message tells that a message began, and what went wrong with it.
func message(l *plain.Line, id string, data []byte) {
	m := jsontext.Members(data, "role", "error", "summary")
	role := jsontext.Text(m[0])
	if role != "user" && role != "assistant" {
		l.Unknown("message of " + role)
		return
	}
	l.Add(plain.Entry{Type: transcript.SystemEvent, Subtype: role + "_message", Message: id})
	if plain.Object(m[1]) {
		l.Add(plain.Entry{Type: transcript.Error, Key: id + "/error", Message: id,
			Subtype: jsontext.Text(jsontext.Get(m[1], "name")), Text: words(m[1])})
	}
}

// part tells what a part of a message says.
func part(l *plain.Line, data []byte, id, message, role, model string) {
	m := jsontext.Members(data, "type", "text", "time", "synthetic", "tokens", "ignored")
	e := plain.Entry{Key: id, Message: message, Text: plain.Some(m[1])}
	switch typ := jsontext.Text(m[0]); typ {
	case "text", "reasoning":
		switch {
		case typ == "reasoning":
			e.Type = transcript.Thinking
		case string(m[3]) == "true" || string(m[5]) == "true":
			e.Type, e.Subtype = transcript.SystemEvent, "injected"
		case role == "user":
			e.Type = transcript.UserMessage
		default:
			e.Type = transcript.AssistantMessage
		}
		ended := role == "user" || m[2] == nil || plain.Number(jsontext.Get(m[2], "end")) > 0
		if ended {
			l.Add(e)
		} else {
			l.Hold(e)
		}
	case "tool":
		tool(l, data, id, message)
	case "step-finish":
		l.Add(plain.Entry{Type: transcript.TokenUsage, Key: id, Message: id, Model: model, Usage: usage(m[4])})
	case "retry":
		l.Add(plain.Entry{Type: transcript.Error, Key: id, Message: message, Subtype: typ,
			Text: words(jsontext.Get(data, "error"))})
	case "step-start", "snapshot", "patch", "file", "agent", "subtask", "compaction":
		l.Add(plain.Entry{Type: transcript.SystemEvent, Subtype: typ, Message: message})
	default:
		l.Unknown("part " + typ)
	}
}

// tool tells a call once its input is there, and its result.
func tool(l *plain.Line, data []byte, id, message string) {
	m := jsontext.Members(data, "callID", "tool", "state")
	s := jsontext.Members(m[2], "status", "input", "output", "error")
	call, name, status := jsontext.Text(m[0]), jsontext.Text(m[1]), jsontext.Text(s[0])
	use := plain.Entry{Type: transcript.ToolUse, Key: id + "/use", Message: message, ToolID: call, Tool: name, Input: s[1]}
	if status == "pending" {
		l.Hold(use)
		return
	}
	l.Add(use)
	switch status {
	case "completed", "error":
		out := s[2]
		if status == "error" {
			out = s[3]
		}
		l.Add(plain.Entry{Type: transcript.ToolResult, Key: id + "/result", Message: message, ToolID: call, Tool: name,
			Output: out, Failed: status == "error"})
	}
}

// usage is that of a step.
func usage(v []byte) *transcript.Usage {
	m := jsontext.Members(v, "input", "output", "reasoning", "cache")
	c := jsontext.Members(m[3], "read", "write")
	return &transcript.Usage{Input: plain.Number(m[0]), Output: plain.Number(m[1]) + plain.Number(m[2]),
		CacheRead: plain.Number(c[0]), CacheWrite: plain.Number(c[1])}
}
