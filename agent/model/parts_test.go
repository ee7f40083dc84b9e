package model

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"conclave/agent"
	"conclave/gateway"
	"conclave/internal/modelstub"
	"conclave/internal/price"
	"conclave/transcript"
)

// TestFaultsAreRead in the words of many servers.
func TestFaultsAreRead(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		status  int
		body    string
		header  http.Header
		says    string
		passes  bool
		over    bool
		after   time.Duration
		refuses bool
	}{
		{name: "anthropic, overloaded", status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			says: "Overloaded (529 overloaded_error)", passes: true, after: -1},
		{name: "anthropic, in a stream", body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			says: "Overloaded (overloaded_error)", passes: true, after: -1},
		{name: "anthropic, too long", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1 tokens > 0 maximum"}}`,
			says: "prompt is too long", over: true, after: -1, refuses: true},
		{name: "openai, no money", status: 429, body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
			says: "You exceeded your current quota (429 insufficient_quota)", after: -1},
		{name: "openai, slow down", status: 429, body: `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`,
			header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"2"}}, says: "Rate limit reached", passes: true, after: 1500 * time.Millisecond},
		{name: "openai, too long, in a stream", body: `{"error":{"code":"context_length_exceeded","message":"Your input is too much"}}`,
			says: "Your input is too much", over: true, after: -1},
		{name: "a date", status: 503, body: `busy`, header: http.Header{"Retry-After": {"Sun, 01 Nov 2026 12:00:09 GMT"}},
			says: "busy (503)", passes: true, after: 9 * time.Second},
		{name: "gemini, a list", status: 429, body: `[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"retryDelay":"17s"}]}}]`,
			says: "Resource has been exhausted (429 RESOURCE_EXHAUSTED)", passes: true, after: 17 * time.Second},
		{name: "gemini, too long", status: 400, body: `{"error":{"code":400,"message":"The input token count (2) exceeds the maximum number of tokens allowed (1).","status":"INVALID_ARGUMENT"}}`,
			says: "exceeds the maximum", over: true, after: -1, refuses: true},
		{name: "ollama", status: 404, body: `{"error":"model 'x' not found"}`, says: "model 'x' not found (404)", after: -1},
		{name: "llama.cpp", status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`,
			says: "available context size", over: true, after: -1, refuses: true},
		{name: "vllm", status: 400, body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`,
			says: "maximum context length", over: true, after: -1, refuses: true},
		{name: "fastapi", status: 422, body: `{"detail":"response_format: not allowed"}`, says: "response_format: not allowed (422)", after: -1, refuses: true},
		{name: "openrouter", status: 502, body: `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"the model is warm"}}}`,
			says: "Provider returned error: the model is warm (502)", passes: true, after: -1},
		{name: "openrouter, in a stream", body: `{"error":{"code":503,"message":"gone"}}`, says: "gone (503)", passes: true, after: -1},
		{name: "the gateway's own", status: 402, body: `{"error":{"type":"billing_error","message":"conclave: the budget is used up"}}`,
			header: http.Header{"X-Should-Retry": {"false"}}, says: "the budget is used up", after: -1},
		{name: "nothing", status: 500, says: "Internal Server Error (500)", passes: true, after: -1},
	} {
		f := newFault(c.status, []byte(c.body))
		f.heed(c.header, now)
		if !strings.Contains(f.Error(), c.says) || f.passes() != c.passes || f.overflows() != c.over || f.after != c.after ||
			f.refusesPart() != c.refuses {
			t.Errorf("%s: %v, passes %v, overflows %v, after %v, refuses %v", c.name, f, f.passes(), f.overflows(), f.after, f.refusesPart())
		}
	}
}

// TestPartsThatAServerDoesNotKnow are left out, once, and for the session.
func TestPartsThatAServerDoesNotKnow(t *testing.T) {
	for _, c := range []struct {
		kind         gateway.Kind
		says         string
		gone, beside string // of the second request
	}{
		{gateway.OpenAI, "Encrypted content is not supported with this model.", `"include"`, `"store":false`},
		{gateway.Chat, "unknown field: stream_options", `"stream_options"`, `"stream":true`},
		{gateway.Anthropic, "max_tokens: 8192 > 4096, which is the maximum", `"max_tokens":8192`, `"max_tokens":4096`},
	} {
		r := newRig(t, c.kind, modelstub.Script(modelstub.Fail(400, c.says), modelstub.Answer(say("One.")), modelstub.Answer(say("Two."))))
		s := r.start(t)
		for range 2 {
			if _, _, err := r.say(t, s, agent.Message{Text: "Go."}); err != nil {
				t.Fatal(err)
			}
		}
		if first := r.sent(t, 0); !strings.Contains(first, c.gone) {
			t.Errorf("%s: it was not there: %s", c.kind, first)
		}
		for n := 1; n < 3; n++ {
			if sent := r.sent(t, n); strings.Contains(sent, c.gone) || !strings.Contains(sent, c.beside) {
				t.Errorf("%s: request %d: %s", c.kind, n, sent)
			}
		}
		if len(r.stub.Requests()) != 3 || len(r.pauses) > 0 {
			t.Errorf("%s: %d requests, pauses %v", c.kind, len(r.stub.Requests()), r.pauses)
		}
		r.entry(t, transcript.SystemEvent, "asked_again")
	}
}

// TestCacheAndPrice: what stays the same is marked for the cache, and what was
// read from it and written to it is counted at its price.
func TestCacheAndPrice(t *testing.T) {
	r := newRig(t, gateway.Anthropic, modelstub.Script(modelstub.Reply{Blocks: []modelstub.Block{say("One.")},
		Usage: modelstub.Usage{Input: 1000, Output: 100, CacheRead: 10_000, CacheWrite: 2000}}))
	r.agent.Prices = price.List{"stub-1": {Input: 1, Output: 10, CacheRead: 0.1, CacheWrite: 2}}
	reply, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."})
	if err != nil {
		t.Fatal(err)
	}
	if u := reply.Usage; u.CacheRead != 10_000 || u.CacheWrite != 2000 || u.CostUSD < 0.00699 || u.CostUSD > 0.00701 { // 1 + 1 + 1 + 4 thousandths
		t.Errorf("%+v", u)
	}
	if e := r.entry(t, transcript.TokenUsage, ""); strings.Contains(string(e.Detail), "unpriced") || !strings.Contains(string(e.Detail), `"cache_read_input_tokens":10000`) {
		t.Errorf("%s", e.Detail)
	}
	if sent := r.sent(t, 0); strings.Count(sent, `"cache_control":{"type":"ephemeral"}`) != 3 {
		t.Errorf("%s", sent)
	}
	r = newRig(t, gateway.Anthropic, modelstub.Script(modelstub.Answer(say("One."))))
	if _, _, err := r.say(t, r.start(t), agent.Message{Text: "Go."}); err != nil {
		t.Fatal(err)
	}
	if e := r.entry(t, transcript.TokenUsage, ""); !strings.Contains(string(e.Detail), `"unpriced":true`) {
		t.Errorf("%s", e.Detail)
	}
}

// FuzzStreams: whatever a server sends, each byte of it is kept once, and what is
// read from it can be sent back.
func FuzzStreams(f *testing.F) {
	for _, seed := range []string{
		"event: message_start\ndata: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\n",
		"data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]}}\r\n\r\n",
		": hello\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"},{\"functionCall\":{\"name\":\"x\"}}]},\"finishReason\":\"STOP\"}]}\n\n",
		"data: {\ndata: }\n\n\ndata:\n\nid: 3\n", "\xff\xfe", "data: null\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for kind, speaks := range apis {
			a, decoder, events := &answer{}, speaks.decoder(), newEvents(strings.NewReader(string(stream)), 1<<20)
			for {
				e, err := events.next()
				if err != nil {
					a.raw = append(a.raw, e.raw...)
					break
				}
				_ = decoder.event(a, e) // a fault that the server tells of
			}
			decoder.finish(a)
			kept := len(a.raw)
			for _, b := range a.blocks {
				kept += len(b.raw)
			}
			if kept != len(stream) {
				t.Errorf("%s: %d bytes came, %d are kept: %q", kind, len(stream), kept, stream)
			}
			s := &session{maker: &maker{}, spec: agent.Spec{}, api: speaks, without: map[string]bool{}}
			turn := &turn{session: s, talk: []message{{user: &told{text: "x"}}, {answer: a}}}
			if _, err := turn.request(); err != nil {
				t.Errorf("%s: what came cannot be sent back: %v: %q", kind, err, stream)
			}
		}
	})
}
