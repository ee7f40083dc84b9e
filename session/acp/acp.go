// Package acp reads what crosses between an editor and an agent that speak the
// Agent Client Protocol, one JSON-RPC message a line, of one direction or of both.
//
// Texts come in pieces. A piece is a system_event of the subtype "delta"; the
// text that they add up to is an entry when something else follows, or nothing
// does. A tool call is told when its input is known, its result when its status is
// final. Tokens stand in the answer to a prompt, where the agent counts them: the
// figures of one turn, not of one response. The updates of how full the context is
// are system_events. What an agent tells again of a session that it loads was told
// before: between session/load and its answer there are system_events of the
// subtype "replayed".
package acp

import (
	"slices"
	"strings"
	"unicode"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/plain"
	"conclave/transcript"
)

// Kind is any agent that speaks the protocol. No directory is its own: such
// traffic is kept where somebody put it.
var Kind = &kind.Kind{
	Adapter: transcript.AdapterACP,
	Name:    "acp",
	Sniff:   Sniff,
	Locate:  func(string, func() ([]byte, error)) (f kind.File, told bool, err error) { return },
	NewMapper: func(f kind.File, o kind.Options) kind.Mapper {
		return plain.NewMapper(f, o, &reader{tools: map[string]string{}})
	},
	NewWords: plain.NewWords,
	Gathers:  true,
	SessionIn: func(start []byte) string {
		return string(jsontext.Find(start, `"sessionId":"`))
	},
}

// methods are those of the protocol.
var methods = map[string]string{
	"initialize": "initialize", "authenticate": "authenticate", "logout": "logout",
	"session/new": "session", "session/load": "session", "session/resume": "session", "session/fork": "session",
	"session/list": "session", "session/close": "session", "session/delete": "session",
	"session/cancel": "interrupt", "session/prompt": "prompt", "session/update": "update",
	"session/set_mode": "settings", "session/set_model": "settings", "session/set_config_option": "settings",
	"session/request_permission": "permission", "session/elicitation": "elicitation",
	"fs/read_text_file": "file", "fs/write_text_file": "file",
	"terminal/create": "terminal", "terminal/output": "terminal", "terminal/wait_for_exit": "terminal",
	"terminal/kill": "terminal", "terminal/release": "terminal",
}

// Sniff says whether a line is of this protocol: a request of it, or an answer
// that only it has.
func Sniff(line []byte) bool {
	m := jsontext.Members(line, "jsonrpc", "method", "result")
	if m[0] == nil {
		return false
	}
	if m[1] != nil {
		method := jsontext.Text(m[1])
		return methods[method] != "" && (method != "initialize" || jsontext.Get(line, "params", "protocolVersion") != nil &&
			jsontext.Get(line, "params", "clientInfo") == nil || jsontext.Get(line, "params", "clientCapabilities") != nil)
	}
	r := jsontext.Members(m[2], "agentCapabilities", "stopReason", "sessionId")
	return r[0] != nil || r[1] != nil || r[2] != nil
}

type reader struct {
	tools   map[string]string // names, by the id of a call
	servers []string          // of tools, as the editor names them
	session string
	loading string          // id of the request whose answer ends a replay
	agent   string          // its name
	asked   bool            // Copilot's model was, and nothing else has happened since
	said    transcript.Type // what the pieces at hand are of
	message string
	text    []byte // without its closing quote
}

// Read implements plain.Reader.
func (r *reader) Read(l *plain.Line) {
	m := jsontext.Members(l.Raw, "jsonrpc", "method", "params", "result", "error", "id")
	method := jsontext.Text(m[1])
	if id := jsontext.Text(jsontext.Get(m[2], "sessionId")); id != "" {
		l.Session, r.session = id, id
	}
	_ = jsontext.Elements(jsontext.Get(m[2], "mcpServers"), func(server []byte) error { // most lines name none
		r.servers = append(r.servers, jsontext.Text(jsontext.Get(server, "name")))
		return nil
	})
	switch {
	case method == "session/update" && r.loading != "":
		l.Event("replayed")
		return
	case method == "session/update":
		r.update(l, jsontext.Get(m[2], "update"))
		return
	case method == "session/load":
		r.loading = string(m[5])
	case method == "" && r.loading == string(m[5]):
		r.loading = ""
	}
	switch {
	case m[0] == nil:
		return
	case method == "session/prompt":
		r.settle(l)
		r.asked = false
		l.Add(plain.Entry{Type: transcript.UserMessage, Text: plain.Text(jsontext.Get(m[2], "prompt"))})
	case methods[method] == "interrupt", methods[method] == "settings":
		l.Event(methods[method]) // the editor's: the agent may be in the middle of a word
	case method != "" && methods[method] != "":
		r.settle(l)
		l.Event(methods[method])
	case method != "":
		l.Unknown("method " + method)
	case m[4] != nil:
		r.settle(l)
		l.Add(plain.Entry{Type: transcript.Error, Subtype: "refused", Text: plain.TextOf(m[4], "message")})
	case m[3] != nil:
		r.settle(l)
		r.answer(l, m[3], string(m[5]))
	default:
		l.Unknown("neither request nor answer")
	}
}

// answer reads what a request was answered with.
func (r *reader) answer(l *plain.Line, result []byte, id string) {
	m := jsontext.Members(result, "stopReason", "usage", "sessionId", "agentCapabilities", "outcome")
	switch {
	case m[0] != nil:
		l.Event("turn_end")
		if u := jsontext.Members(m[1], "inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens",
			"thoughtTokens"); plain.Object(m[1]) {
			use := &transcript.Usage{Input: plain.Number(u[0]), Output: plain.Number(u[1]) + plain.Number(u[4]),
				CacheRead: plain.Number(u[2]), CacheWrite: plain.Number(u[3])}
			l.Add(plain.Entry{Type: transcript.TokenUsage, Message: r.session + "/" + id, Usage: use})
		}
	case m[2] != nil:
		r.session = jsontext.Text(m[2])
		l.Session = r.session
		l.Event("session")
	case m[3] != nil:
		r.agent = jsontext.Text(jsontext.Get(result, "agentInfo", "name"))
		l.Event("initialize")
	case m[4] != nil:
		l.Event("permission")
	default:
		l.Event("answer")
	}
}

// update reads what the agent says of its turn.
func (r *reader) update(l *plain.Line, u []byte) {
	m := jsontext.Members(u, "sessionUpdate", "content", "messageId", "toolCallId")
	switch what := jsontext.Text(m[0]); what {
	case "user_message_chunk":
		r.piece(l, transcript.UserMessage, m[1], jsontext.Text(m[2]))
	case "agent_message_chunk":
		if r.notice(m[1]) {
			r.settle(l)
			l.Event("notice")
			return
		}
		r.piece(l, transcript.AssistantMessage, m[1], jsontext.Text(m[2]))
	case "agent_thought_chunk":
		r.piece(l, transcript.Thinking, m[1], jsontext.Text(m[2]))
	case "tool_call", "tool_call_update":
		r.settle(l)
		r.asked = false
		r.tool(l, u, jsontext.Text(m[3]), m[1])
	case "plan", "available_commands_update", "current_mode_update", "config_option_update", "session_info_update",
		"usage_update":
		r.settle(l)
		r.asked = r.asked || what == "usage_update"
		l.Event(what)
	default:
		r.settle(l)
		if len(l.Entries()) > 0 {
			l.Event("update " + what)
		}
		l.Unknown("update " + what)
	}
}

// notice says whether a piece is what Copilot says of its own accord, as if its
// model had said it: it stands before the count of tokens with which each response
// of the model begins.
func (r *reader) notice(content []byte) bool {
	text := jsontext.Text(jsontext.Get(content, "text"))
	return r.agent == "Copilot" && !r.asked && (strings.HasPrefix(text, "Info: ") || strings.HasPrefix(text, "Warning: "))
}

// piece takes a piece of a text.
func (r *reader) piece(l *plain.Line, typ transcript.Type, content []byte, message string) {
	if typ != r.said || message != r.message {
		r.settle(l)
		r.said, r.message = typ, message
	}
	if t := plain.Text(content); t != nil {
		if r.text == nil {
			r.text = []byte{'"'}
		}
		r.text = append(r.text, t[1:len(t)-1]...)
	}
	l.Event("delta")
}

// settle tells the text that has ended.
func (r *reader) settle(l *plain.Line) {
	if r.text != nil {
		l.Add(plain.Entry{Type: r.said, Message: r.message, Text: append(r.text, '"')})
	}
	r.said, r.message, r.text = "", "", nil
}

// Rest implements plain.Rester.
func (r *reader) Rest(l *plain.Line) { r.settle(l) }

// tool tells a call when its input is there, and its result when it has ended.
func (r *reader) tool(l *plain.Line, u []byte, id string, content []byte) {
	m := jsontext.Members(u, "rawInput", "rawOutput", "status", "title", "kind", "_meta")
	if name := ToolName(m[5]); name != "" {
		r.tools[id] = name
	} else if r.tools[id] == "" {
		r.tools[id] = r.called(jsontext.Text(m[4]), jsontext.Text(m[3]))
	}
	tool := r.tools[id]
	status := jsontext.Text(m[2])
	done := status == "completed" || status == "failed"
	use := plain.Entry{Type: transcript.ToolUse, Key: "use/" + id, ToolID: id, Tool: tool, Input: plain.Some(m[0])}
	switch {
	case use.Input != nil:
		l.Add(use)
	case done:
		use.Input = m[3]
		l.Add(use)
	default:
		l.Event("tool_call")
	}
	if done {
		out := plain.Some(m[1])
		if out == nil {
			out = plain.Some(content)
		}
		l.Add(plain.Entry{Type: transcript.ToolResult, Key: "result/" + id, ToolID: id, Tool: tool, Output: out,
			Failed: status == "failed"})
	}
}

// called is the name of a tool by its kind, or by its title where the kind says
// nothing and the title is a name: those of tool servers are. Gemini CLI writes it
// out. A name that begins with a server's is one whatever the kind: Copilot guesses
// the kind by the name, so that update_state is to edit a file.
func (r *reader) called(kind, title string) string {
	if tool, rest, ok := strings.Cut(title, " ("); ok && kind == "other" {
		if server, ok := strings.CutSuffix(rest, " MCP Server)"); ok {
			return "mcp__" + server + "__" + tool
		}
	}
	ofServer := slices.ContainsFunc(r.servers, func(server string) bool {
		rest, ok := strings.CutPrefix(title, server)
		return ok && server != "" && len(rest) > 1 && strings.ContainsAny(rest[:1], "-_.:")
	})
	if kind != "" && kind != "other" && !ofServer || title == "" || strings.ContainsFunc(title, func(c rune) bool {
		return !(c == '_' || c == '-' || c == '.' || c == ':' || unicode.IsLetter(c) || unicode.IsDigit(c))
	}) {
		return kind
	}
	return title
}

// ToolName is the agent's own name of a tool, which some tell in what they say
// beside the protocol; "" where they do not.
func ToolName(meta []byte) (name string) {
	_ = jsontext.Walk(meta, func(k, v []byte) error {
		if string(k) == "toolName" {
			name = jsontext.Text(v)
		} else if n := jsontext.Text(jsontext.Get(v, "toolName")); n != "" {
			name = n
		}
		return nil
	})
	return name
}
