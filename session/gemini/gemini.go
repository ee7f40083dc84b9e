// Package gemini reads the chats of Gemini CLI: lines of
// ~/.gemini/tmp/<project>/chats/session-….jsonl, and the files of one JSON object
// that older versions rewrote.
//
// A line is the head of the session, a message, or a patch: {"$set":…} changes
// the head or all messages, {"$rewindTo":…} takes messages back. A message is
// written again, under its id, when its tools have ended or its tokens are known:
// what it says is told once. What was taken back stays told, because it was said.
//
// The program counts what came from the cache within the input, and thoughts
// beside the output; its total is the sum of all four of our figures.
package gemini

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/plain"
	"conclave/session/unfold"
	"conclave/transcript"
	"conclave/workspace"
)

// Kind is Gemini CLI.
var Kind = &kind.Kind{
	Adapter: "gemini_cli",
	Name:    name,
	HomeVar: "GEMINI_CLI_HOME", HomeDir: ".", Sessions: filepath.Join(".gemini", "tmp"),
	Sniff:  Sniff,
	Locate: locate,
	NewMapper: func(f kind.File, o kind.Options) kind.Mapper {
		return plain.NewMapper(f, o, new(reader))
	},
	NewWords: plain.NewWords,
	Store:    func(path string) bool { return oldName.MatchString(filepath.Base(path)) && inChats(path) },
	Rows:     rows,
}

const name = "gemini"

var (
	fileName = regexp.MustCompile(`^session-.*\.jsonl$`)
	oldName  = regexp.MustCompile(`^session-.*\.json$`)
	unfolded = unfold.Sniff(name)
	spooled  = unfold.Locate(name)
)

func inChats(path string) bool {
	for _, part := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		if part == "chats" {
			return true
		}
	}
	return false
}

// locate says what the file at path is: its first line bears the session.
func locate(path string, first func() ([]byte, error)) (kind.File, bool, error) {
	if f, told, err := spooled(path, first); told {
		return f, told, err
	}
	if !fileName.MatchString(filepath.Base(path)) || !inChats(path) {
		return kind.File{}, false, nil
	}
	f := kind.File{Path: path, Source: transcript.Main, Dir: filepath.Dir(path)}
	f.Project = filepath.Base(filepath.Dir(f.Dir))
	if root, err := workspace.ReadNamed(filepath.Join(filepath.Dir(f.Dir), ".project_root"), 1<<16); err == nil {
		f.Project = filepath.Base(filepath.FromSlash(strings.TrimSpace(string(root))))
	}
	line, err := first()
	f.Session = jsontext.Text(jsontext.Get(line, "sessionId"))
	return f, err != nil || f.Session != "", err
}

// Sniff says whether a line is one of this program's.
func Sniff(line []byte) bool {
	if unfolded(line) {
		return true
	}
	m := jsontext.Members(line, "sessionId", "projectHash", "$set", "$rewindTo", "type", "id", "timestamp", "content")
	switch {
	case m[0] != nil && m[1] != nil, m[2] != nil, m[3] != nil:
		return true
	}
	return string(m[4]) == `"gemini"` && m[5] != nil && m[6] != nil && m[7] != nil
}

// rows are the messages of a file of an older version, and what stands beside
// them.
func rows(_ context.Context, path string, yield func(kind.Row) error) error {
	text, err := workspace.ReadNamed(path, 1<<30)
	if err != nil {
		return err
	}
	session := jsontext.Text(jsontext.Get(text, "sessionId"))
	if session == "" || !jsontext.Valid(text) {
		return unfold.ErrNotYet // or nothing of this program
	}
	return unfold.Messages(text, session, "head", yield)
}

type reader struct{}

// Read implements plain.Reader.
func (r *reader) Read(l *plain.Line) {
	body := l.Raw
	if unfolded(l.Raw) {
		var session string
		if _, _, session, body = unfold.Row(l.Raw); body == nil {
			l.Event("gone")
			return
		}
		l.Session = session
	}
	m := jsontext.Members(body, "sessionId", "$set", "$rewindTo", "type", "id", "startTime", "lastUpdated", "timestamp")
	l.Time = transcript.ParseTime(jsontext.Bare(m[7]))
	switch {
	case m[1] != nil:
		r.patch(l, m[1])
	case m[2] != nil:
		l.Event("rewind")
	case m[3] == nil && m[0] != nil:
		l.Session = jsontext.Text(m[0])
		l.Time = max(transcript.ParseTime(jsontext.Bare(m[5])), transcript.ParseTime(jsontext.Bare(m[6])))
		l.Event("session")
	default:
		r.message(l, body)
	}
}

// patch reads what replaces messages as messages, and else takes note.
func (r *reader) patch(l *plain.Line, set []byte) {
	m := jsontext.Members(set, "messages", "lastUpdated")
	l.Time = transcript.ParseTime(jsontext.Bare(m[1]))
	l.Event("patch")
	plain.Each(m[0], func(v []byte) { r.message(l, v) })
}

func (r *reader) message(l *plain.Line, body []byte) {
	m := jsontext.Members(body, "type", "id", "content", "thoughts", "toolCalls", "tokens", "model")
	typ, id := jsontext.Text(m[0]), jsontext.Text(m[1])
	e := plain.Entry{Message: id, Text: said(m[2])}
	if id != "" {
		e.Key = id + "/text"
	}
	switch typ {
	case "user":
		r.user(l, e, m[2])
	case "error":
		e.Type = transcript.Error
		l.Add(e)
	case "info", "warning":
		e.Type, e.Subtype = transcript.SystemEvent, typ
		l.Add(e)
	case name:
		n := 0
		plain.Each(m[3], func(v []byte) {
			n++
			l.Add(plain.Entry{Type: transcript.Thinking, Key: e.Key + strconv.Itoa(n), Message: id, Text: thought(v)})
		})
		if e.Text != nil {
			e.Type = transcript.AssistantMessage
			l.Add(e)
		}
		plain.Each(m[4], func(v []byte) { r.call(l, id, v) })
		if plain.Object(m[5]) {
			l.Add(plain.Entry{Type: transcript.TokenUsage, Key: e.Key + "/tokens", Message: id,
				Model: jsontext.Text(m[6]), Usage: usage(m[5])})
		}
		if len(l.Entries()) == 0 {
			l.Event("empty_message")
		}
	default:
		l.Unknown("message " + typ)
	}
}

// user tells what was said in the person's name: by the person, by the program,
// or by tools, whose results mostly stand with their calls, too.
func (r *reader) user(l *plain.Line, e plain.Entry, content []byte) {
	results := 0
	plain.Each(content, func(v []byte) {
		if f := jsontext.Get(v, "functionResponse"); f != nil {
			results++
			result(l, e.Message, f)
		}
	})
	switch {
	case e.Text == nil && results > 0:
		return
	case strings.HasPrefix(jsontext.Text(e.Text), "<session_context>"):
		e.Type, e.Subtype = transcript.SystemEvent, "injected"
	default:
		e.Type = transcript.UserMessage
	}
	l.Add(e)
}

// result is that of a tool as the model was given it.
func result(l *plain.Line, message string, v []byte) {
	m := jsontext.Members(v, "id", "name", "response")
	id := jsontext.Text(m[0])
	out := jsontext.Members(m[2], "output", "error")
	e := plain.Entry{Type: transcript.ToolResult, Key: "result/" + id, Message: message, ToolID: id,
		Tool: jsontext.Text(m[1]), Output: out[0]}
	if out[0] == nil {
		e.Output, e.Failed = out[1], out[1] != nil
	}
	if e.Output == nil {
		e.Output = m[2]
	}
	l.Add(e)
}

// said is the text of a message; its thoughts stand beside it, too.
func said(content []byte) []byte {
	if len(content) == 0 || content[0] != '[' {
		return plain.Text(content)
	}
	var spoken [][]byte
	plain.Each(content, func(v []byte) {
		if string(jsontext.Get(v, "thought")) != "true" {
			spoken = append(spoken, v)
		}
	})
	return plain.Text(array(spoken...))
}

// thought is a heading and what stands below it.
func thought(v []byte) []byte {
	m := jsontext.Members(v, "subject", "description")
	return plain.Text(array(m[0], m[1]))
}

// array is one of those that are there.
func array(list ...[]byte) []byte {
	list = slices.DeleteFunc(list, func(v []byte) bool { return v == nil })
	return append(append([]byte{'['}, bytes.Join(list, []byte{','})...), ']')
}

// call tells a call, and its result if it has one.
func (r *reader) call(l *plain.Line, message string, v []byte) {
	m := jsontext.Members(v, "id", "name", "args", "result", "status", "resultDisplay")
	e := plain.Entry{Type: transcript.ToolUse, Message: message, ToolID: jsontext.Text(m[0]), Tool: jsontext.Text(m[1])}
	use := e
	use.Key, use.Input = "use/"+e.ToolID, m[2]
	l.Add(use)
	switch e.Subtype = jsontext.Text(m[4]); e.Subtype {
	case "success", "error", "cancelled":
		e.Type, e.Key, e.Failed = transcript.ToolResult, "result/"+e.ToolID, e.Subtype != "success"
		e.Output = output(m[3])
		if e.Output == nil {
			e.Output = plain.Some(m[5])
		}
		l.Add(e)
	}
}

// output is what the parts of a result say.
func output(parts []byte) []byte {
	var list [][]byte
	plain.Each(parts, func(v []byte) {
		f := jsontext.Members(jsontext.Get(v, "functionResponse", "response"), "output", "error")
		switch {
		case f[0] != nil:
			list = append(list, f[0])
		case f[1] != nil:
			list = append(list, f[1])
		default:
			list = append(list, v)
		}
	})
	if len(list) == 1 {
		return list[0]
	}
	if len(list) == 0 {
		return nil
	}
	return array(list...)
}

func usage(v []byte) *transcript.Usage {
	m := jsontext.Members(v, "input", "output", "cached", "thoughts", "tool")
	n := func(i int) int64 { return plain.Number(m[i]) }
	return &transcript.Usage{Input: max(n(0)-n(2), 0) + n(4), Output: n(1) + n(3), CacheRead: n(2)}
}
