package modelstub

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// tongue is how a test speaks one API.
type tongue struct {
	path, whole string // of a request that streams, and of one that does not
	body        string // with %s where further members may stand
	stream      string // the member that asks for a stream
	read        func(t *testing.T, event map[string]any, to *heard)
}

// heard is what an answer said.
type heard struct {
	text, thoughts, refusal string
	calls                   map[string]string // arguments by name
	output                  int64
	stop                    string
}

var tongues = map[string]tongue{
	Messages: {
		path: "/v1/messages", whole: "/v1/messages", stream: `,"stream":true`,
		body: `{"model":"m","max_tokens":9,"system":"Be kind.","tools":[{"name":"f"}],"output_config":{"format":{"schema":{"type":"object"}}},
			"messages":[{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image","source":{"type":"base64","data":"aGk="}}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"fresh"}]}]%s}`,
		read: readMessages,
	},
	Responses: {
		path: "/v1/responses", whole: "/v1/responses", stream: `,"stream":true`,
		body: `{"model":"m","instructions":"Be kind.","tools":[{"type":"function","name":"f"}],"text":{"format":{"schema":{"type":"object"}}},
			"input":[{"role":"user","content":[{"type":"input_text","text":"Look."},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]},
			{"type":"function_call","call_id":"c1"},{"type":"function_call_output","call_id":"c1","output":"fresh"}]%s}`,
		read: readResponses,
	},
	Chat: {
		path: "/api/v1/chat/completions", whole: "/v1/chat/completions", stream: `,"stream":true,"stream_options":{"include_usage":true}`,
		body: `{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}},
			"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1"}]},{"role":"tool","tool_call_id":"c1","content":"fresh"}]%s}`,
		read: readChat,
	},
	Gemini: {
		path: "/v1beta/models/m:streamGenerateContent?alt=sse", whole: "/v1beta/models/m:generateContent",
		body: `{"systemInstruction":{"parts":[{"text":"Be kind."}]},"tools":[{"functionDeclarations":[{"name":"f"}]}],
			"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}},
			"contents":[{"role":"user","parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},
			{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":{"output":"fresh"}}}]}]%s}`,
		read: readGemini,
	},
}

func (g tongue) ask(stream bool) (path, body string) {
	if stream {
		return g.path, fmt.Sprintf(g.body, g.stream)
	}
	return g.whole, fmt.Sprintf(g.body, "")
}

// each runs a test with every protocol that the server has.
func each(t *testing.T, test func(t *testing.T, api string, g tongue)) {
	for _, api := range APIs() {
		g, ok := tongues[api]
		if !ok {
			t.Errorf("no test speaks %s", api)
			continue
		}
		t.Run(api, func(t *testing.T) { test(t, api, g) })
	}
}

func get[T any](v any, path ...any) T {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				v = nil
			} else {
				v = l[p]
			}
		}
	}
	out, _ := v.(T)
	return out
}

func readMessages(_ *testing.T, e map[string]any, to *heard) {
	at := "#" + fmt.Sprint(get[float64](e, "index"))
	if name := get[string](e, "content_block", "name"); name != "" {
		to.calls[at] = name
	}
	to.text += get[string](e, "delta", "text")
	to.thoughts += get[string](e, "delta", "thinking")
	if args := get[string](e, "delta", "partial_json"); args != "" {
		to.calls[to.calls[at]] += args
	}
	if s := get[string](e, "delta", "stop_reason"); s != "" {
		to.stop = s
		to.output = int64(get[float64](e, "usage", "output_tokens"))
	}
}

func readResponses(_ *testing.T, e map[string]any, to *heard) {
	delta := get[string](e, "delta")
	switch kind := get[string](e, "type"); kind {
	case "response.output_text.delta":
		to.text += delta
	case "response.refusal.delta":
		to.refusal += delta
	case "response.reasoning_summary_text.delta":
		to.thoughts += delta
	case "response.output_item.done":
		if name := get[string](e, "item", "name"); name != "" {
			to.calls[name] = get[string](e, "item", "arguments")
		}
	case "response.completed", "response.incomplete":
		to.stop = kind
		to.output = int64(get[float64](e, "response", "usage", "output_tokens"))
	}
}

func readChat(_ *testing.T, e map[string]any, to *heard) {
	if u := get[float64](e, "usage", "completion_tokens"); u > 0 {
		to.output = int64(u)
	}
	delta := get[map[string]any](e, "choices", 0, "delta")
	to.text += get[string](delta, "content")
	to.thoughts += get[string](delta, "reasoning_content")
	to.refusal += get[string](delta, "refusal")
	for _, c := range get[[]any](delta, "tool_calls") {
		at := fmt.Sprint(get[float64](c, "index"))
		if name := get[string](c, "function", "name"); name != "" {
			to.calls["#"+at] = name
		}
		to.calls[to.calls["#"+at]] += get[string](c, "function", "arguments")
	}
	if s := get[string](e, "choices", 0, "finish_reason"); s != "" {
		to.stop = s
	}
}

func readGemini(t *testing.T, e map[string]any, to *heard) {
	to.output = int64(get[float64](e, "usageMetadata", "candidatesTokenCount") + get[float64](e, "usageMetadata", "thoughtsTokenCount"))
	for _, p := range get[[]any](e, "candidates", 0, "content", "parts") {
		if get[bool](p, "thought") {
			to.thoughts += get[string](p, "text")
		} else {
			to.text += get[string](p, "text")
		}
		if name := get[string](p, "functionCall", "name"); name != "" {
			args, err := json.Marshal(get[any](p, "functionCall", "args"))
			if err != nil {
				t.Error(err)
			}
			to.calls[name] = string(args)
		}
	}
	if s := get[string](e, "candidates", 0, "finishReason"); s != "" {
		to.stop = s
	}
}

func hear(t *testing.T, g tongue, stream string) heard {
	t.Helper()
	to := heard{calls: map[string]string{}}
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event %s: %v", data, err)
		}
		g.read(t, e, &to)
	}
	return to
}

// Each protocol tells a request alike, whatever its words.
func TestEveryRequestIsRead(t *testing.T) {
	each(t, func(t *testing.T, api string, g tongue) {
		s := New(Script(Answer(Say("ok")), Answer(Say("ok"))))
		defer s.Close()
		for _, stream := range []bool{true, false} {
			path, body := g.ask(stream)
			post(t, s.URL()+path, body)
		}
		for _, r := range s.Requests() {
			if r.API != api || r.Model() != "m" || r.System() != "Be kind." || r.LastUser() != "Look." || !r.HasTool("f") || r.Auxiliary() ||
				r.Images() != 1 || string(r.Schema()) != `{"type":"object"}` {
				t.Errorf("%s: %q %q %q %q %d %s", r.API, r.Model(), r.System(), r.LastUser(), r.Tools(), r.Images(), r.Schema())
			}
			if got := r.ToolResults(); len(got) != 1 || got[0] != (ToolResult{ID: "c1", Text: "fresh"}) {
				t.Errorf("results %+v", got)
			}
		}
	})
}

// Thoughts, words and two calls at once come back as the script has them.
func TestEveryAnswerIsTold(t *testing.T) {
	each(t, func(t *testing.T, api string, g tongue) {
		s := New(Script(
			Reply{Blocks: []Block{Think("Hm, 🐉. "), Say("Größe and more of it"), Call("f", "", `{"a":"long enough to be cut"}`), Call("g", "", `{}`)},
				Usage: Usage{Input: 3, Output: 40, Thoughts: 30}},
			Answer(Refuse("I will not.")), Reply{Blocks: []Block{Say("cut")}, StopReason: "max_tokens"}, Reply{Blocks: []Block{Say("uncounted")}, NoUsage: true}))
		defer s.Close()
		next := func() heard {
			path, body := g.ask(true)
			b, err := io.ReadAll(post(t, s.URL()+path, body).Body)
			if err != nil {
				t.Fatal(err)
			}
			return hear(t, g, string(b))
		}
		got := next()
		stops := map[string][]string{
			Messages: {"tool_use", "refusal", "max_tokens"}, Responses: {"response.completed", "response.completed", "response.incomplete"},
			Chat: {"tool_calls", "content_filter", "length"}, Gemini: {"STOP", "SAFETY", "MAX_TOKENS"},
		}[api]
		if got.thoughts != "Hm, 🐉. " || got.text != "Größe and more of it" || got.calls["f"] != `{"a":"long enough to be cut"}` ||
			got.calls["g"] != "{}" || got.output != 40 || got.stop != stops[0] {
			t.Errorf("heard %+v", got)
		}
		if got = next(); got.refusal+got.text != "I will not." || got.stop != stops[1] || got.output != 10 {
			t.Errorf("a refusal: %+v", got)
		}
		if got = next(); got.stop != stops[2] {
			t.Errorf("cut short: %+v", got)
		}
		if got = next(); got.text != "uncounted" || (got.output != 0) == (api == Chat || api == Gemini) {
			t.Errorf("without usage: %+v", got)
		}
	})
}

// A stream that is asked for as a list is one.
func TestGeminiList(t *testing.T) {
	s := New(Script(Answer(Say("one and two and three"))))
	defer s.Close()
	resp := post(t, s.URL()+"/v1beta/models/m:streamGenerateContent", `{"contents":[]}`)
	var list []map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list) < 3 || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v, %v", list, err)
	}
}

// The faults are the same in every protocol.
func TestEveryFault(t *testing.T) {
	each(t, func(t *testing.T, api string, g tongue) {
		path, body := g.ask(true)
		ask := func(r Reply) *http.Response {
			t.Helper()
			s := New(Script(r))
			t.Cleanup(s.Close)
			return post(t, s.URL()+path, body)
		}
		for _, status := range []int{429, 503, 529} {
			resp := ask(Reply{Status: status, RetryAfter: 1500 * time.Millisecond, ErrorMessage: "not now"})
			if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != status || resp.Header.Get("Retry-After") != "2" ||
				!json.Valid(b) || !strings.Contains(string(b), "not now") {
				t.Errorf("%d: %d %v %s, %v", status, resp.StatusCode, resp.Header, b, err)
			}
		}
		whole, err := io.ReadAll(ask(Answer(Say("some words"))).Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{1, 2, 7, len(whole) / 2, len(whole)} {
			b, err := io.ReadAll(ask(Reply{Blocks: []Block{Say("some words")}, CutBefore: at}).Body)
			if !errors.Is(err, io.ErrUnexpectedEOF) || len(b) != at-1 {
				t.Errorf("cut before %d: %d bytes, %v", at, len(b), err)
			}
		}
		b, err := io.ReadAll(ask(Reply{Blocks: []Block{Say("some words")}, Malformed: true}).Body)
		if err != nil || !bytes.Contains(b, []byte("data: {\"half\":")) || len(b) <= len(whole) {
			t.Errorf("malformed: %s, %v", b, err)
		}
		if got := ask(Reply{Blocks: []Block{Say("some words")}, ContentType: "text/html"}).Header.Get("Content-Type"); got != "text/html" {
			t.Errorf("content type %q", got)
		}
		endless := bufio.NewReader(ask(Reply{Blocks: []Block{Say("some words")}, Endless: true}).Body)
		if n, err := io.CopyN(io.Discard, endless, 1<<20); err != nil {
			t.Errorf("it ended after %d bytes: %v", n, err)
		}
		broken, err := io.ReadAll(ask(Reply{Blocks: []Block{Say("some words")}, MidStreamError: true, ErrorMessage: "overloaded now"}).Body)
		if err != nil || !bytes.Contains(broken, []byte("overloaded now")) {
			t.Errorf("an error in the middle: %s, %v", broken, err)
		}
	})
}
