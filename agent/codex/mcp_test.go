package codex

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/internal/modelstub"
	"conclave/transcript"
)

// toolServer is a tool server over HTTP with two tools, one of which fails.
type toolServer struct {
	*httptest.Server
	mu    sync.Mutex
	auth  map[string]bool
	calls []string
}

func newToolServer(t *testing.T) *toolServer {
	s := &toolServer{auth: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *toolServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ProtocolVersion string
			Name            string
			Arguments       json.RawMessage
		}
	}
	if json.Unmarshal(body, &q) != nil || q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.mu.Lock()
	s.auth[r.Header.Get("Authorization")] = true
	s.mu.Unlock()
	type object map[string]any
	var result any
	switch q.Method {
	case "initialize":
		result = object{"protocolVersion": q.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": "room", "version": "1"}}
	case "tools/list":
		schema := object{"type": "object", "properties": object{"answer": object{"type": "string"}}}
		var tools []any
		for _, n := range []string{"submit", "refuse", "hidden"} {
			tools = append(tools, object{"name": n, "description": n, "inputSchema": schema})
		}
		result = object{"tools": tools}
	case "tools/call":
		s.mu.Lock()
		s.calls = append(s.calls, q.Params.Name+string(q.Params.Arguments))
		s.mu.Unlock()
		result = object{"content": []any{object{"type": "text", "text": "heard " + q.Params.Name}},
			"isError": q.Params.Name == "refuse"}
	default:
		result = object{}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": q.ID, "result": result})
}

func TestToolServer(t *testing.T) {
	t.Parallel()
	server := newToolServer(t)
	r := start(t, modelstub.Script(
		modelstub.Answer(call("mcp__room__submit", "c1", `{"answer":"42"}`)),
		modelstub.Answer(call("mcp__room__refuse", "c2", `{}`)),
		modelstub.Answer(modelstub.Say("Done."))),
		func(o *Options, s *agent.Spec) {
			s.Tools = agent.Tools{MCP: []agent.MCPServer{{Name: "room", URL: server.URL + "/mcp", Token: "room-token", Tools: []string{"submit", "refuse"}}}}
		})
	r.say("Submit.")
	r.want("user_message:Submit.", "tool_use:mcp__room__submit", "tool_result:mcp__room__submit",
		"tool_use:mcp__room__refuse", "tool_result:mcp__room__refuse!", "assistant_message:Done.")
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.auth) != 1 || !server.auth["Bearer room-token"] {
		t.Errorf("authorization %v", server.auth)
	}
	if got := strings.Join(server.calls, " "); !strings.HasPrefix(got, `submit{"answer":"42"} refuse{`) {
		t.Errorf("calls %s", got)
	}
	first := r.stub.Requests()[0]
	if !first.HasTool("mcp__room__submit") || first.HasTool("mcp__room__hidden") || first.HasTool("exec_command") {
		t.Errorf("tools on offer: %q", first.Tools())
	}
	if n := r.count(transcript.SystemEvent, "mcp_server"); n == 0 {
		t.Error("the start of the tool server is not on the record")
	}
	r.accounted()
	if all := r.blobs.channel("codex.stdin") + r.blobs.channel("codex.stdout"); strings.Contains(all, "room-token") || strings.Contains(all, "worthless") {
		t.Error("a token is on the record")
	}
}
