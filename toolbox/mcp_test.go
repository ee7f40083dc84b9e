package toolbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/toolbox"
)

const token = "token-of-this-room"

// post sends one message as a program would.
func post(b http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

func TestConversation(t *testing.T) {
	b := box(t, toolbox.Options{Token: token}, nil)
	for _, c := range []struct {
		name, send string
		status     int
		want       string // a JSON value, or the beginning of a text
	}{
		{"initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`, 200,
			`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"conclave-room","version":"1"}}}`},
		{"initialize, oldest", `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2024-11-05"}}`, 200,
			`{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"conclave-room","version":"1"}}}`},
		{"initialize, of the future", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2031-01-01"}}`, 200,
			`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"conclave-room","version":"1"}}}`},
		{"initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"ping", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":2,"result":{}}`},
		{"list", `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}`, 200,
			`{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"submit","description":"Submit the verdict.","inputSchema":` + verdictSchema + `}]}}`},
		{"call", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"submit","arguments":{"verdict":"accept"},"_meta":{"progressToken":1}}}`, 200,
			`{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"noted"}],"isError":false}}`},
		{"call that does not fit", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"submit"}}`, 200,
			`{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"the input of submit does not fit: the input: the key \"verdict\" is missing"}],"isError":true}}`},
		{"unknown tool", `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"shell"}}`, 200,
			`{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"no such tool: \"shell\" (there are: submit)"}}`},
		{"no tool", `{"jsonrpc":"2.0","id":6,"method":"tools/call"}`, 200, `{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"the call names no tool"}}`},
		{"unknown method", `{"jsonrpc":"2.0","id":7,"method":"resources/list"}`, 200, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"the method \"resources/list\" is not known here"}}`},
		{"no method", `{"jsonrpc":"2.0","id":7}`, 200, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"the message has no method"}}`},
		{"an answer", `{"jsonrpc":"2.0","id":7,"result":{}}`, 202, ""},
		{"bad id", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"an id must be a string or a number"}}`},
		{"no object", `"ping"`, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be an object"}}`},
		{"no JSON", `{`, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is no JSON in UTF-8"}}`},
		{"nothing", ``, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is no JSON in UTF-8"}}`},
		{"a list", `[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled"},{"jsonrpc":"2.0","id":9,"method":"ping"}]`, 200,
			`[{"jsonrpc":"2.0","id":8,"result":{}},{"jsonrpc":"2.0","id":9,"result":{}}]`},
		{"an empty list", `[]`, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the list of messages is empty"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := post(b, c.send)
			if w.Code != c.status {
				t.Errorf("status %d", w.Code)
			}
			if got := w.Body.String(); !sameJSON(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestDoorOfTheToolbox(t *testing.T) {
	var got []string
	b := box(t, toolbox.Options{Token: token, MaxInput: 1000}, &got)
	const call = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"submit","arguments":{"verdict":"accept"}}}`
	for _, c := range []struct {
		header string
		status int
	}{
		{"Authorization: Bearer " + token, 200},
		{"X-Api-Key: " + token, 200},
		{"Mcp-Protocol-Version: 2025-03-26", 200},
		{"Content-Type: application/json; charset=utf-8", 200},
		{"Authorization: ", 401},
		{"Authorization: Bearer " + token + "x", 401},
		{"Authorization: Basic " + token, 401},
		{"Origin: http://evil.example", 403},
		{"Mcp-Protocol-Version: 1999-01-01", 400},
		{"Content-Type: text/plain", 415},
	} {
		before := len(got)
		if w := post(b, call, c.header); w.Code != c.status || (len(got) > before) != (c.status == 200) {
			t.Errorf("%q: %d %s", c.header, w.Code, w.Body)
		}
	}
	if w := post(b, `{"jsonrpc":"2.0","id":1,"method":"ping","x":"`+strings.Repeat("x", 100_000)+`"}`); w.Code != 413 {
		t.Errorf("a long message: %d", w.Code)
	}
	for method, status := range map[string]int{"GET": 405, "PUT": 405, "DELETE": 204} {
		r := httptest.NewRequest(method, "/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

func TestNoTokenServesNobody(t *testing.T) {
	b := box(t, toolbox.Options{}, nil)
	for _, h := range []string{"Authorization: Bearer ", "Authorization: Bearer", "X-Api-Key: ", "Authorization: Bearer " + token} {
		if w := post(b, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Authorization: ", h); w.Code != 401 {
			t.Errorf("%q: %d", h, w.Code)
		}
	}
}

func TestLongListsAreCut(t *testing.T) {
	var got []string
	b := box(t, toolbox.Options{Token: token}, &got)
	call := `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"submit","arguments":{"verdict":"accept"}}}`
	w := post(b, "["+strings.Repeat(call+",", 60)+call+"]")
	if len(got) != 50 || !strings.Contains(w.Body.String(), "the rest was left") {
		t.Errorf("%d calls ran", len(got))
	}
}

// Whatever is posted, the answer is nothing or JSON-RPC, no call reaches a tool
// with an input that does not fit, and none is answered without a record.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit","arguments":{"verdict":"accept","score":3}}}`,
		`[{"jsonrpc":"2.0","id":"x","method":"tools/list"},{"method":"x"}]`, `{"id":null,"method":"ping"}`, `[[]]`, `{"id":1e400,"method":"ping"}`,
		`{"id":1,"method":"tools/call","params":{"name":"submit","arguments":{"verdict":"accept","free":[{"a":{}}]}}}`, "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var got []string
		m := &memory{}
		b := box(t, toolbox.Options{Token: token, Events: m}, &got)
		w := post(b, body)
		if w.Code != 200 && w.Code != 202 && w.Code != 413 {
			t.Fatalf("status %d", w.Code)
		}
		if w.Code == 200 && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("answered %q", w.Body)
		}
		for _, in := range got {
			var v struct{ Verdict string }
			if err := json.Unmarshal([]byte(in), &v); err != nil || v.Verdict != "accept" && v.Verdict != "reject" {
				t.Errorf("the tool got %s", in)
			}
		}
		if len(m.events) != 2*len(b.Calls()) {
			t.Errorf("%d events for %d calls", len(m.events), len(b.Calls()))
		}
	})
}
