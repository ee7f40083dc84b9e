package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/internal/bearer"
	"conclave/internal/jsontext"
)

// versions of the protocol that are understood, the newest first. What differs
// between them is nothing that this server does.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Codes of JSON-RPC.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
)

const (
	maxEnvelope = 64 << 10 // what a message may have beside the input
	maxBatch    = 50
)

// ServeHTTP is the MCP server: one POST, one answer.
func (t *Toolbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !bearer.Has(r.Header, t.opts.Token):
		http.Error(w, "conclave: this request does not bear the room's token", http.StatusUnauthorized)
	case r.Header.Get("Origin") != "":
		http.Error(w, "conclave: the tools of a room are not for browsers", http.StatusForbidden)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent) // there is no session to end
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "conclave: this server answers each POST, and sends nothing by itself", http.StatusMethodNotAllowed)
	case !isJSON(r.Header.Get("Content-Type")):
		http.Error(w, "conclave: send application/json", http.StatusUnsupportedMediaType)
	case !knownVersion(r.Header.Get("Mcp-Protocol-Version")):
		http.Error(w, "conclave: protocol version not known; known: "+strings.Join(versions, ", "), http.StatusBadRequest)
	default:
		t.post(w, r)
	}
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

func knownVersion(v string) bool { return v == "" || slices.Contains(versions, v) }

func (t *Toolbox) post(w http.ResponseWriter, r *http.Request) {
	limit := int64(t.opts.MaxInput)*2 + maxEnvelope // an input may come escaped
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return // the program went away
	}
	if int64(len(body)) > limit {
		http.Error(w, fmt.Sprintf("conclave: the message has more than %d bytes: shorten the input", limit), http.StatusRequestEntityTooLarge)
		return
	}
	answer := t.handle(r.Context(), body)
	if answer == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // a program that went away misses it
}

// handle answers one message or a list of them; nil means that there is
// nothing to say.
func (t *Toolbox) handle(ctx context.Context, body []byte) []byte {
	body = bytes.TrimSpace(body)
	if err := jsontext.Check(body); err != nil || !utf8.Valid(body) {
		return failure(nil, codeParse, "the message is no JSON in UTF-8")
	}
	if body[0] != '[' {
		return t.message(ctx, body)
	}
	var answers [][]byte
	n := 0
	_ = jsontext.Elements(body, func(e []byte) error { // it was checked above
		if n++; n > maxBatch {
			return nil
		}
		if a := t.message(ctx, e); a != nil {
			answers = append(answers, a)
		}
		return nil
	})
	switch {
	case n == 0:
		return failure(nil, codeRequest, "the list of messages is empty")
	case n > maxBatch:
		answers = append(answers, failure(nil, codeRequest, fmt.Sprintf("a list may have %d messages: the rest was left", maxBatch)))
	case len(answers) == 0:
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(answers, []byte{','})...), ']')
}

// message answers one message.
func (t *Toolbox) message(ctx context.Context, raw []byte) []byte {
	var id, method, params []byte
	err := jsontext.Walk(raw, func(key, value []byte) error {
		switch string(key) {
		case "id":
			id = value
		case "method":
			method = value
		case "params":
			params = value
		}
		return nil
	})
	if err != nil {
		return failure(nil, codeRequest, "a message must be an object")
	}
	if id != nil && strings.IndexByte("{[tfn", id[0]) >= 0 {
		return failure(nil, codeRequest, "an id must be a string or a number")
	}
	name, ok := jsontext.String(method)
	switch {
	case !ok && id != nil && method == nil && hasAnswer(raw):
		return nil // an answer, to a question that was never put
	case !ok:
		return failure(id, codeRequest, "the message has no method")
	case id == nil:
		return nil // a notification; none of them changes anything here
	}
	result, fault := t.method(ctx, name, params)
	return encode(response{"2.0", id, result, fault})
}

func hasAnswer(raw []byte) bool {
	return jsontext.Get(raw, "result") != nil || jsontext.Get(raw, "error") != nil
}

func (t *Toolbox) method(ctx context.Context, name string, params []byte) (any, *fault) {
	switch name {
	case "initialize":
		return initialize(params), nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return t.list(), nil
	case "tools/call":
		return t.call(ctx, params)
	}
	return nil, &fault{codeMethod, fmt.Sprintf("the method %.120q is not known here", name)}
}

type serverInfo struct {
	Version      string `json:"protocolVersion"`
	Capabilities struct {
		Tools struct{} `json:"tools"`
	} `json:"capabilities"`
	Server struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
}

// initialize agrees to the version that is asked for, or offers the newest.
func initialize(params []byte) any {
	info := serverInfo{Version: versions[0]}
	if asked, ok := jsontext.String(jsontext.Get(params, "protocolVersion")); ok && slices.Contains(versions, asked) {
		info.Version = asked
	}
	info.Server.Name, info.Server.Version = "conclave-room", "1"
	return info
}

type listedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (t *Toolbox) list() any {
	out := struct {
		Tools []listedTool `json:"tools"`
	}{[]listedTool{}}
	for _, name := range t.names {
		d := t.tools[name]
		out.Tools = append(out.Tools, listedTool{d.Name, d.Description, d.Schema})
	}
	return out
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type callResult struct {
	Content []textContent `json:"content"`
	IsError bool          `json:"isError"`
}

// call runs a tool. What is wrong with the input is told as the tool's
// failure, because that is what reaches the model, who can mend it.
func (t *Toolbox) call(ctx context.Context, params []byte) (any, *fault) {
	name, ok := jsontext.String(jsontext.Get(params, "name"))
	if !ok {
		return nil, &fault{codeParams, "the call names no tool"}
	}
	text, err := t.CallTool(ctx, name, jsontext.Get(params, "arguments"))
	switch {
	case errors.Is(err, errRecord):
		return nil, &fault{codeInternal, err.Error()}
	case errors.Is(err, ErrUnknown):
		return nil, &fault{codeParams, err.Error()}
	case err != nil:
		return callResult{[]textContent{{"text", err.Error()}}, true}, nil
	}
	return callResult{Content: []textContent{{"text", text}}}, nil
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"` // or
	Error   *fault          `json:"error,omitempty"`
}

type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func failure(id []byte, code int, message string) []byte {
	if id == nil {
		id = []byte("null")
	}
	return encode(response{"2.0", id, nil, &fault{code, message}})
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // a tool's schema was checked, and ids are parts of checked JSON
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be written"}}`)
	}
	return b
}
