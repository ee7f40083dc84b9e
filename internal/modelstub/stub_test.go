package modelstub

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

const ask = `{"model":"m","stream":true,"max_tokens":100,"system":[{"type":"text","text":"Be kind."}],"tools":[{"name":"Bash"}],
"messages":[{"role":"user","content":"first"},{"role":"assistant","content":[{"type":"tool_use","id":"t1"}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"out"}],"is_error":true},{"type":"text","text":"second"}]},{"role":"system","content":"aside"}]}`

// events reads a stream of the Messages API back into the message that it
// tells.
func readStream(t *testing.T, r io.Reader) (kinds []string, text, input string, output int64) {
	t.Helper()
	s := bufio.NewScanner(r)
	for s.Scan() {
		data, ok := strings.CutPrefix(s.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Delta struct {
				Text, Thinking string
				PartialJSON    string `json:"partial_json"`
			}
			Usage struct {
				Output int64 `json:"output_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Type)
		text += e.Delta.Text + e.Delta.Thinking
		input += e.Delta.PartialJSON
		output = max(output, e.Usage.Output)
	}
	return kinds, text, input, output
}

func TestMessagesStream(t *testing.T) {
	s := New(Script(Reply{Blocks: []Block{Think("Hm. "), Say("Größe, 🐉 and more of it"), Call("Bash", "", `{"command":"ls"}`)}, Usage: Usage{Input: 3, Output: 4}}))
	defer s.Close()
	resp := post(t, s.URL()+"/v1/messages?beta=true", ask)
	kinds, text, input, output := readStream(t, resp.Body)
	if text != "Hm. Größe, 🐉 and more of it" || input != `{"command":"ls"}` || output != 4 {
		t.Errorf("text %q, input %q, output %d", text, input, output)
	}
	if kinds[0] != "message_start" || kinds[len(kinds)-1] != "message_stop" {
		t.Errorf("events %v", kinds)
	}
	r := s.Requests()[0]
	if r.API != Messages || r.Model() != "m" || r.System() != "Be kind." || r.LastUser() != "second" || !r.HasTool("Bash") || r.HasTool("Read") || r.Auxiliary() {
		t.Errorf("request %+v", r)
	}
	if got := r.ToolResults(); !slices.Equal(got, []ToolResult{{"t1", "out", true}}) {
		t.Errorf("tool results %+v", got)
	}
	if x := s.Exchanges()[0]; x.Status != 200 || !strings.Contains(string(x.Sent), "message_stop") {
		t.Errorf("exchange %+v", x)
	}
}

func TestWholeAnswerAndAuxiliary(t *testing.T) {
	s := New(Script(Answer(Say("only once"))))
	defer s.Close()
	for _, path := range []string{"/v1/messages/count_tokens", "/v1/messages"} {
		body := `{"max_tokens":1,"messages":[]}`
		b, err := io.ReadAll(post(t, s.URL()+path, body).Body)
		if err != nil || !json.Valid(b) || strings.Contains(string(b), "only once") {
			t.Errorf("%s: %s, %v", path, b, err)
		}
	}
	b, err := io.ReadAll(post(t, s.URL()+"/v1/messages", `{"max_tokens":9,"messages":[]}`).Body)
	if err != nil || !strings.Contains(string(b), "only once") {
		t.Errorf("%s, %v", b, err)
	}
	if resp := post(t, s.URL()+"/v1/messages", `{"max_tokens":9}`); resp.StatusCode != 400 {
		t.Errorf("a script that is used up gives %d", resp.StatusCode)
	}
	if resp := post(t, s.URL()+"/v1/other", `{}`); resp.StatusCode != 404 {
		t.Errorf("an unknown path gives %d", resp.StatusCode)
	}
}

func TestFaults(t *testing.T) {
	hold := make(chan struct{})
	s := New(Script(Reply{Status: 529, RetryAfter: 1500 * time.Millisecond},
		Reply{Blocks: []Block{Say("cut off")}, CutAfter: 3},
		Reply{Blocks: []Block{Say("broken")}, MidStreamError: true},
		Reply{Blocks: []Block{Say("held")}, Hold: hold}))
	defer s.Close()
	resp := post(t, s.URL()+"/v1/messages", ask)
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != 529 || resp.Header.Get("retry-after") != "2" || !strings.Contains(string(b), "overloaded_error") {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, b)
	}
	if b, err := io.ReadAll(post(t, s.URL()+"/v1/messages", ask).Body); !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(string(b), "event:") != 3 {
		t.Errorf("cut: %s, %v", b, err)
	}
	kinds, text, _, _ := readStream(t, post(t, s.URL()+"/v1/messages", ask).Body)
	if text != "broken" || kinds[len(kinds)-1] != "error" {
		t.Errorf("broken: %v %q", kinds, text)
	}
	held := post(t, s.URL()+"/v1/messages", ask)
	buf := bufio.NewReader(held.Body)
	for {
		line, err := buf.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "held") {
			break
		}
	}
	close(hold)
	if rest, err := io.ReadAll(buf); err != nil || !strings.Contains(string(rest), "message_stop") {
		t.Errorf("held: %s, %v", rest, err)
	}
}

func TestPieces(t *testing.T) {
	for _, s := range []string{"", "a", "short", strings.Repeat("🐉", 100), strings.Repeat("x", 200<<10), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		got := pieces(s)
		if strings.Join(got, "") != s {
			t.Errorf("the pieces of %.20q do not make it", s)
		}
		for _, p := range got {
			if len(p) > 64<<10 || p == "" {
				t.Errorf("a piece of %d bytes", len(p))
			}
		}
	}
}
