package acp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/agent/rpc"
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/session/acp"
	"conclave/session/kind"
	"conclave/transcript"
)

// session is one program with one session of ours.
type session struct {
	conn *rpc.Conn
	name string
	spec agent.Spec
	home *house
	maps kind.Mapper // used with the record held
	last string      // subtype of the last line that was heard; the reader's

	mu     sync.Mutex
	info   agent.Info
	images bool              // it takes pictures
	told   bool              // its instructions were said
	tools  map[string]string // names of the tools that were called, by the call
}

func newSession(a *Agent, spec agent.Spec, p agent.Process, h *house) *session {
	s := &session{name: a.opts.Name, spec: spec, home: h, tools: map[string]string{},
		maps: acp.Kind.NewMapper(kind.File{Kind: acp.Kind, Source: transcript.Main}, kind.Options{})}
	s.info = agent.Info{Adapter: transcript.AdapterACP, Program: a.opts.Program.Named(), PID: p.PID(),
		Model: spec.Model.Name}
	if spec.Model.Token != "" {
		s.info.Login = "api key"
	}
	s.conn = rpc.Open(s.name, s, spec, p, jsonrpc.Versioned)
	return s
}

// protocolVersion is the version of the protocol that the driver speaks.
const protocolVersion = 1

// open says hello and opens the session.
func (s *session) open(ctx context.Context) error {
	type object map[string]any
	hello, err := s.conn.Call(ctx, "initialize", object{
		"protocolVersion": protocolVersion,
		"clientInfo":      object{"name": "conclave", "title": "Conclave", "version": "1"},
		"clientCapabilities": object{
			"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false},
	})
	if err != nil {
		return fmt.Errorf("open %s session: %w", s.name, err)
	}
	if v := string(jsontext.Get(hello.Result, "protocolVersion")); v != fmt.Sprint(protocolVersion) {
		return fmt.Errorf("open %s session: it speaks version %s of the Agent Client Protocol, and we version %d; "+
			"install a version of it that speaks that", s.name, v, protocolVersion)
	}
	can := jsontext.Get(hello.Result, "agentCapabilities")
	s.mu.Lock()
	s.info.Version = jsontext.Text(jsontext.Get(hello.Result, "agentInfo", "version"))
	s.images = string(jsontext.Get(can, "promptCapabilities", "image")) == "true"
	s.mu.Unlock()
	if len(s.spec.Tools.MCP) > 0 && string(jsontext.Get(can, "mcpCapabilities", "http")) != "true" {
		return fmt.Errorf("open %s session: this seat has tools, and %[1]s takes no tool servers over HTTP; "+
			"name another program for it", s.name)
	}
	method, params, err := s.sessionParams(can)
	if err != nil {
		return fmt.Errorf("open %s session: %w", s.name, err)
	}
	answer, err := s.conn.Call(ctx, method, params, s.secrets()...)
	if err != nil {
		return fmt.Errorf("open %s session: %w%s", s.name, err, advice(err, hello.Result))
	}
	id := jsontext.Text(jsontext.Get(answer.Result, "sessionId"))
	if id == "" {
		id = s.spec.Resume // a session that is loaded keeps its name
	}
	if id == "" {
		return fmt.Errorf("open %s session: %s was answered without a session", s.name, method)
	}
	s.mu.Lock()
	s.info.SessionID = id
	s.mu.Unlock()
	return s.chooseModel(ctx, id, answer.Result)
}

// secrets are the tokens that a request may hold.
func (s *session) secrets() []string {
	var out []string
	for _, m := range s.spec.Tools.MCP {
		out = append(out, m.Token)
	}
	return out
}

// advice says what can be done about a session that was refused: most programs
// refuse one because they want a login.
func advice(err error, hello []byte) string {
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) {
		return ""
	}
	var methods []string
	_ = jsontext.Elements(jsontext.Get(hello, "authMethods"), func(m []byte) error {
		methods = append(methods, jsontext.Text(jsontext.Get(m, "id")))
		return nil
	})
	if len(methods) == 0 {
		return ""
	}
	return "; the ways to log in that it knows are " + strings.Join(methods, ", ") +
		"; a room has no login, only what the program's files and variables there say"
}

// sessionParams are those of a new session, or of one that is continued: without
// its history where the program offers that.
func (s *session) sessionParams(can []byte) (method string, params map[string]any, err error) {
	servers := []any{} // it must be there
	for _, m := range s.spec.Tools.MCP {
		headers := []any{}
		if m.Token != "" {
			headers = append(headers, map[string]string{"name": "Authorization", "value": "Bearer " + m.Token})
		}
		servers = append(servers, map[string]any{"type": "http", "name": m.Name, "url": m.URL, "headers": headers})
	}
	params = map[string]any{"cwd": s.spec.Place.InGuest(agent.WorkDir), "mcpServers": servers}
	has := jsontext.Get(can, "sessionCapabilities")
	switch {
	case s.spec.Resume == "":
		return "session/new", params, nil
	case s.spec.Fork && jsontext.Get(has, "fork") != nil:
		method = "session/fork"
	case s.spec.Fork:
		return "", nil, errors.New("it cannot continue in a copy of a session")
	case jsontext.Get(has, "resume") != nil:
		method = "session/resume"
	case string(jsontext.Get(can, "loadSession")) == "true":
		method = "session/load"
	default:
		return "", nil, errors.New("it cannot continue a session; begin a new one and tell it what was said")
	}
	params["sessionId"] = s.spec.Resume
	return method, params, nil
}

// chooseModel asks a program that was not told its model otherwise for it. One
// that has no choice of models asks whichever it was configured for.
func (s *session) chooseModel(ctx context.Context, id string, opened []byte) error {
	want := s.spec.Model.Name
	if want == "" || s.home.model {
		return nil
	}
	models := map[string]bool{}
	_ = jsontext.Elements(jsontext.Get(opened, "models", "availableModels"), func(m []byte) error {
		models[jsontext.Text(jsontext.Get(m, "modelId"))] = true
		return nil
	})
	if len(models) == 0 {
		return nil
	}
	if !models[want] {
		return fmt.Errorf("open %s session: it has no model %q; it has %s", s.name, want,
			strings.Join(slices.Sorted(maps.Keys(models)), ", "))
	}
	_, err := s.conn.Call(ctx, "session/set_model", map[string]string{"sessionId": id, "modelId": want})
	return err
}

// Heard implements rpc.Driver.
func (s *session) Heard(line []byte) []transcript.Item {
	items := s.maps.Append(nil, line)
	s.last = s.maps.Facts(len(items) - 1).Subtype
	for i := range items {
		// Where a gateway counts, what programs say of tokens is their own affair.
		if items[i].Type == transcript.TokenUsage && s.spec.Model.BaseURL != "" {
			items[i].Type = transcript.SystemEvent
		}
	}
	return items
}

// Said implements rpc.Driver.
func (s *session) Said(line []byte) []transcript.Item { return s.maps.Append(nil, line) }

// Rest implements rpc.Driver.
func (s *session) Rest() []transcript.Item { return s.maps.Flush() }

// Entry implements rpc.Driver.
func (s *session) Entry(e transcript.Entry) {
	d := jsontext.Members(e.Detail, "text", "name", "tool_use_id")
	name := jsontext.Text(d[1])
	if e.Type == transcript.ToolUse {
		s.mu.Lock()
		s.tools[jsontext.Text(d[2])] = name
		s.mu.Unlock()
	}
	t := s.conn.Running()
	if t == nil {
		return
	}
	switch e.Type {
	case transcript.AssistantMessage:
		t.Says(jsontext.Text(d[0]))
	case transcript.ToolUse:
		if server, tool := s.roomTool(name); tool != "" {
			name = "mcp__" + server + "__" + tool // each program puts the two together in its own way
		}
		t.Uses(name)
	case transcript.TokenUsage:
		used := transcript.UsageOf(e.Detail)
		t.Change(func(r *agent.Reply) { r.Usage = r.Usage.Add(used) })
	}
	t.Push(agent.Event{Entry: &e})
}

// Info says what is running.
func (s *session) Info() agent.Info {
	var unknown []string
	s.conn.Record(func() { unknown = slices.Sorted(maps.Keys(s.maps.Unknown())) })
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	info.Unrecognised = unknown
	return info
}

// Stop ends the program and everything it started.
func (s *session) Stop(ctx context.Context) error { return s.conn.Stop(ctx) }
