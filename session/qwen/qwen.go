// Package qwen reads the chats of Qwen Code: lines of
// ~/.qwen/projects/<directory>/chats/<session>.jsonl.
//
// A line holds the parts of one message: words, thoughts, calls and results. What
// a response consumed stands in an event of its telemetry before it, which tells of
// the program's own helpers, too; the figures at the message are those of the same
// response, and count where the event is missing. Thoughts are within the output,
// and what came from the cache is within the input.
package qwen

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/plain"
	"conclave/transcript"
)

// Kind is Qwen Code.
var Kind = &kind.Kind{
	Adapter: "qwen_code",
	Name:    "qwen",
	HomeDir: ".qwen", Sessions: "projects",
	Vars:   []kind.Var{{Name: "QWEN_RUNTIME_DIR", Sessions: "projects"}, {Name: "QWEN_HOME", Sessions: "projects"}},
	Sniff:  Sniff,
	Locate: locate,
	NewMapper: func(f kind.File, o kind.Options) kind.Mapper {
		return plain.NewMapper(f, o, new(reader))
	},
	NewWords: plain.NewWords,
}

var fileName = regexp.MustCompile(`^[0-9a-fA-F-]{36}\.jsonl$`)

func locate(path string, _ func() ([]byte, error)) (kind.File, bool, error) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	if filepath.Base(dir) != "chats" || !fileName.MatchString(base) {
		return kind.File{}, false, nil
	}
	return kind.File{Path: path, Source: transcript.Main, Session: strings.TrimSuffix(base, ".jsonl"), Dir: dir,
		Project: filepath.Base(filepath.Dir(dir))}, true, nil
}

// Sniff says whether a line is one of this program's: it has parts, or a payload,
// where others that look like it have none.
func Sniff(line []byte) bool {
	m := jsontext.Members(line, "uuid", "sessionId", "type", "message", "systemPayload", "provenance")
	if m[0] == nil || m[1] == nil || m[2] == nil {
		return false
	}
	return m[4] != nil || m[5] != nil || jsontext.Get(m[3], "parts") != nil
}

type reader struct {
	told []transcript.Usage // by events, of responses whose message is to come
}

// Read implements plain.Reader.
func (r *reader) Read(l *plain.Line) {
	m := jsontext.Members(l.Raw, "type", "uuid", "timestamp", "sessionId", "subtype", "systemPayload")
	l.Time, l.Session = transcript.ParseTime(jsontext.Bare(m[2])), jsontext.Text(m[3])
	id := jsontext.Text(m[1])
	switch typ := jsontext.Text(m[0]); typ {
	case "user", "assistant", "tool_result":
		r.message(l, typ, id)
	case "system":
		r.system(l, id, jsontext.Text(m[4]), m[5])
	default:
		l.Unknown("line " + typ)
	}
}

// message tells the parts of a message.
func (r *reader) message(l *plain.Line, typ, id string) {
	m := jsontext.Members(l.Raw, "message", "usageMetadata", "model", "provenance", "toolCallResult")
	plain.Each(jsontext.Get(m[0], "parts"), func(v []byte) {
		p := jsontext.Members(v, "text", "thought", "functionCall", "functionResponse")
		e := plain.Entry{Message: id, Text: plain.Some(p[0])}
		switch {
		case p[2] != nil:
			c := jsontext.Members(p[2], "id", "name", "args")
			e.Type, e.ToolID, e.Tool, e.Input = transcript.ToolUse, jsontext.Text(c[0]), jsontext.Text(c[1]), c[2]
		case p[3] != nil:
			e = result(p[3], m[4])
			e.Message = id
		case e.Text == nil:
			e.Type, e.Subtype = transcript.SystemEvent, "part"
		case string(p[1]) == "true":
			e.Type = transcript.Thinking
		case typ == "assistant":
			e.Type = transcript.AssistantMessage
		case m[3] != nil && string(m[3]) != `"real_user"`:
			e.Type, e.Subtype = transcript.SystemEvent, jsontext.Text(m[3])
		default:
			e.Type = transcript.UserMessage
		}
		l.Add(e)
	})
	if u, ok := usage(m[1], "promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount",
		"cachedContentTokenCount"); ok {
		if i := slices.Index(r.told, *u); i >= 0 {
			r.told = slices.Delete(r.told, i, i+1)
		} else {
			l.Add(plain.Entry{Type: transcript.TokenUsage, Message: id, Model: jsontext.Text(m[2]), Usage: u})
		}
	}
	if len(l.Entries()) == 0 {
		l.Unknown(typ + " without parts")
	}
}

func result(v, about []byte) plain.Entry {
	f := jsontext.Members(v, "id", "name", "response")
	out := jsontext.Members(f[2], "output", "error")
	e := plain.Entry{Type: transcript.ToolResult, ToolID: jsontext.Text(f[0]), Tool: jsontext.Text(f[1]), Output: out[0]}
	if e.Output == nil {
		e.Output = out[1]
	}
	if e.Output == nil {
		e.Output = f[2]
	}
	status := jsontext.Text(jsontext.Get(about, "status"))
	e.Failed = status == "error" || status == "cancelled" || status == "" && out[1] != nil
	return e
}

// system tells what the program notes.
func (r *reader) system(l *plain.Line, id, subtype string, payload []byte) {
	event := jsontext.Get(payload, "uiEvent")
	m := jsontext.Members(event, "event.name", "model", "subagent_id", "error_message")
	switch name := jsontext.Text(m[0]); {
	case strings.HasSuffix(name, ".api_response"):
		u, ok := usage(event, "input_token_count", "output_token_count", "thoughts_token_count", "total_token_count",
			"cached_content_token_count")
		if !ok {
			l.Event("api_response")
			return
		}
		if m[2] == nil {
			r.told = append(r.told, *u)
		}
		l.Add(plain.Entry{Type: transcript.TokenUsage, Subtype: jsontext.Text(m[2]), Message: id,
			Model: jsontext.Text(m[1]), Usage: u})
	case strings.HasSuffix(name, ".api_error"):
		l.Add(plain.Entry{Type: transcript.Error, Subtype: "api_error", Text: plain.Some(m[3])})
	case name != "":
		l.Event(name)
	case subtype != "":
		l.Event(subtype)
	default:
		l.Unknown("system")
	}
}

// usage reads figures, whose names differ from place to place: input, output,
// thoughts, total and cached.
func usage(v []byte, names ...string) (*transcript.Usage, bool) {
	if !plain.Object(v) {
		return nil, false
	}
	m := jsontext.Members(v, names...)
	if m[0] == nil && m[3] == nil {
		return nil, false
	}
	input, output, cached := plain.Number(m[0]), plain.Number(m[1]), plain.Number(m[4])
	if total := plain.Number(m[3]); total > input+output {
		output += min(plain.Number(m[2]), total-input-output)
	}
	return &transcript.Usage{Input: max(input-cached, 0), Output: output, CacheRead: cached}, true
}
