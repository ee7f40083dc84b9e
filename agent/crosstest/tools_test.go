package crosstest

import (
	"encoding/json"
	"io"
	"net/http"
)

// serveTools answers as a tool server with the tool "submit".
func serveTools(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct{ ProtocolVersion string }
	}
	if json.Unmarshal(body, &q) != nil || q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	type object map[string]any
	var result any = object{}
	switch q.Method {
	case "initialize":
		result = object{"protocolVersion": q.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": "room", "version": "1"}}
	case "tools/list":
		result = object{"tools": []any{object{"name": "submit", "description": "Submit the answer.",
			"inputSchema": object{"type": "object", "properties": object{"answer": object{"type": "string"}}}}}}
	case "tools/call":
		result = object{"content": []any{object{"type": "text", "text": "accepted"}}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": q.ID, "result": result})
}
