// Package cline reads the sessions of Cline's program: the two JSON files of
// ~/.cline/data/sessions/<session>/, which it rewrites whole, unfolded into lines
// (see session/unfold).
//
// One has the head of the session, the other its messages, in the words of
// Anthropic's interface: text, thinking, calls and results as blocks. What came
// from the cache is within the input that it counts.
package cline

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/plain"
	"conclave/session/unfold"
	"conclave/transcript"
	"conclave/workspace"
)

const name = "cline"

// Kind is Cline's program.
var Kind = &kind.Kind{
	Adapter: "cline",
	Name:    name,
	HomeDir: ".cline/data", Sessions: sessions,
	Vars: []kind.Var{{Name: "CLINE_SESSION_DATA_DIR"}, {Name: "CLINE_DATA_DIR", Sessions: sessions},
		{Name: "CLINE_DIR", Sessions: "data/" + sessions}},
	Sniff:  unfold.Sniff(name),
	Locate: unfold.Locate(name),
	NewMapper: func(f kind.File, o kind.Options) kind.Mapper {
		return plain.NewMapper(f, o, reader{})
	},
	NewWords: plain.NewWords,
	Store:    store,
	Rows:     rows,
	Folded:   true,
}

const (
	sessions = "sessions"
	messages = ".messages.json"
)

// store says whether a file holds the messages of a session: it is called after
// the directory that it lies in. The head lies beside it.
func store(path string) bool {
	dir, base := filepath.Split(filepath.Clean(path))
	session, ok := strings.CutSuffix(base, messages)
	dir = filepath.Clean(dir)
	return ok && filepath.Base(dir) == session && filepath.Base(filepath.Dir(dir)) == sessions
}

// rows gives the head, what stands beside the messages, and the messages.
func rows(_ context.Context, path string, yield func(kind.Row) error) error {
	session := strings.TrimSuffix(filepath.Base(path), messages)
	head, err := workspace.ReadNamed(strings.TrimSuffix(path, messages)+".json", 64<<20)
	if err == nil && jsontext.Valid(head) {
		r := kind.Row{Session: session, Table: "session", Key: session, Members: unfold.Compact(head),
			Directory: jsontext.Text(jsontext.Get(head, "cwd"))}
		if err := yield(r); err != nil {
			return err
		}
	}
	text, err := workspace.ReadNamed(path, 1<<30)
	if err != nil {
		return err
	}
	return unfold.Messages(text, session, "messages", yield)
}

type reader struct{}

// Read implements plain.Reader.
func (reader) Read(l *plain.Line) {
	table, key, session, row := unfold.Row(l.Raw)
	l.Session = session
	m := jsontext.Members(row, "started_at", "updated_at", "ts")
	switch {
	case row == nil:
		l.Event("gone")
	case table == "session" || table == "messages":
		l.Time = max(transcript.ParseTime(jsontext.Bare(m[0])), transcript.ParseTime(jsontext.Bare(m[1])))
		l.Event(table)
	case table == "message":
		l.Time = plain.Millis(m[2])
		message(l, session+"/"+key, row)
	default:
		l.Unknown("table " + table)
	}
}

// message tells the blocks of a message. One that is written again keeps those
// that it had.
func message(l *plain.Line, id string, row []byte) {
	m := jsontext.Members(row, "role", "content", "metrics", "modelInfo", "metadata")
	role := jsontext.Text(m[0])
	if jsontext.Text(jsontext.Get(m[4], "displayRole")) == "error" { // it is shown in the model's place
		l.Add(plain.Entry{Type: transcript.Error, Message: id, Key: id + "/error", Text: plain.Text(m[1])})
		return
	}
	if role != "user" && role != "assistant" {
		l.Unknown("message of " + role)
		return
	}
	content := m[1]
	if len(content) > 0 && content[0] == '"' {
		content = []byte(`[{"type":"text","text":` + string(content) + `}]`)
	}
	n := 0
	plain.Each(content, func(v []byte) {
		n++
		l.Add(block(v, role, plain.Entry{Message: id, Key: id + "/" + strconv.Itoa(n)}))
	})
	if u := jsontext.Members(m[2], "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"); u[0] != nil {
		read, write := plain.Number(u[2]), plain.Number(u[3])
		l.Add(plain.Entry{Type: transcript.TokenUsage, Message: id, Key: id + "/metrics",
			Model: jsontext.Text(jsontext.Get(m[3], "id")), Usage: &transcript.Usage{
				Input: max(plain.Number(u[0])-read-write, 0), Output: plain.Number(u[1]), CacheRead: read, CacheWrite: write}})
	}
	if len(l.Entries()) == 0 {
		l.Event("empty_message")
	}
}

func block(v []byte, role string, e plain.Entry) plain.Entry {
	b := jsontext.Members(v, "type", "text", "thinking", "id", "name", "input", "tool_use_id", "content")
	switch typ := jsontext.Text(b[0]); typ {
	case "text":
		e.Text = plain.Some(b[1])
		switch {
		case role == "assistant":
			e.Type = transcript.AssistantMessage
		case strings.HasPrefix(jsontext.Text(b[1]), "[SYSTEM]"):
			e.Type, e.Subtype = transcript.SystemEvent, "injected"
		default:
			e.Type = transcript.UserMessage
		}
	case "thinking", "redacted_thinking":
		e.Type, e.Text = transcript.Thinking, plain.Some(b[2])
	case "tool_use":
		e.Type, e.ToolID, e.Tool, e.Input = transcript.ToolUse, jsontext.Text(b[3]), jsontext.Text(b[4]), b[5]
	case "tool_result":
		e.Type, e.ToolID, e.Tool, e.Output = transcript.ToolResult, jsontext.Text(b[6]), jsontext.Text(b[4]), b[7]
		e.Failed = failed(v, b[7])
	default:
		e.Type, e.Subtype = transcript.SystemEvent, "block "+typ
	}
	return e
}

// failed says whether a tool did: the block says so, or each of its parts does.
func failed(block, content []byte) bool {
	if string(jsontext.Get(block, "is_error")) == "true" {
		return true
	}
	parts, bad := 0, 0
	plain.Each(content, func(v []byte) {
		parts++
		if string(jsontext.Get(v, "success")) == "false" {
			bad++
		}
	})
	return parts > 0 && parts == bad
}
