package gateway

import (
	"encoding/json"
	"strings"
	"testing"
)

func feed(kind Kind, sse bool, pieces ...string) *meter {
	a, _ := apiOf(kind)
	m := &meter{api: a, sse: sse}
	for _, p := range pieces {
		m.write([]byte(p))
	}
	m.end()
	return m
}

func TestMeter(t *testing.T) {
	covered := map[Kind]int{}
	for _, c := range []struct {
		name  string
		kind  Kind
		text  string
		sse   bool
		want  Usage
		final bool
	}{
		{"messages", Anthropic, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":3,\"output_tokens\":1}}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n\n",
			true, Usage{Input: 9, Output: 20, CacheRead: 4, CacheWrite: 3}, true},
		{"kept for an hour, and searches", Anthropic, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"cache_creation_input_tokens\":3,\"cache_creation\":{\"ephemeral_1h_input_tokens\":2,\"ephemeral_5m_input_tokens\":1},\"output_tokens\":1}}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20,\"server_tool_use\":{\"web_search_requests\":4}}}\n\n",
			true, Usage{Input: 9, Output: 20, CacheWrite: 3, CacheWrite1h: 2, Searches: 4}, true},
		{"the last word counts", Anthropic, "data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}\ndata: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":null,\"output_tokens\":8}}\n",
			true, Usage{Input: 5, Output: 8}, true},
		{"cut after the start", Anthropic, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n",
			true, Usage{Input: 9, Output: 1}, false},
		{"responses", OpenAI, "event: response.completed\r\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"output_tokens\":7,\"input_tokens_details\":{\"cached_tokens\":60},\"input_tokens\":100}}}\r\n\r\n",
			true, Usage{Input: 40, Output: 7, CacheRead: 60}, true},
		{"incomplete", OpenAI, "data: {\"type\":\"response.incomplete\",\"response\":{\"usage\":{\"output_tokens\":7,\"input_tokens\":100}}}",
			true, Usage{Input: 100, Output: 7}, true},
		{"failed without usage", OpenAI, "data: {\"type\":\"response.failed\",\"response\":{\"usage\":null}}\n", true, Usage{}, false},
		{"a text that speaks of usage", Anthropic, "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"usage\\\":{\\\"output_tokens\\\":99}\"},\"usage\":{\"output_tokens\":99}}\n", true, Usage{}, false},
		{"whole message", Anthropic, `{"type":"message","usage":{"input_tokens":1,"output_tokens":2}}`, false, Usage{Input: 1, Output: 2}, true},
		{"whole response", OpenAI, "{\n\"object\":\"response\",\n\"usage\":{\"input_tokens\":10,\"input_tokens_details\":{\"cached_tokens\":10},\"output_tokens\":2}}", false, Usage{Output: 2, CacheRead: 10}, true},
		{"nonsense", Anthropic, `{"usage":{"input_tokens":-1,"output_tokens":1e99}}`, false, Usage{}, false},
		{"no JSON", Anthropic, "data: {\"usage\"\n\n", true, Usage{}, false},

		{"chat", Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,\"total_tokens\":107,\"prompt_tokens_details\":{\"cached_tokens\":60}}}\n\ndata: [DONE]\n\n",
			true, Usage{Input: 40, Output: 7, CacheRead: 60}, true},
		{"usage beside the last choice", Chat, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}\n\n",
			true, Usage{Input: 5, Output: 7}, true},
		{"usage on the way, then cut", Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n",
			true, Usage{Input: 5, Output: 2}, false},
		{"usage on the way, to the end", Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
			true, Usage{Input: 5, Output: 1}, true},
		{"no usage at all", Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", true, Usage{}, false},
		{"reasoning beside the answer", Chat, `{"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":45,"completion_tokens_details":{"reasoning_tokens":30}}}`,
			false, Usage{Input: 10, Output: 35}, true},
		{"another server's cache", Chat, `{"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2}}`,
			false, Usage{Input: 2, Output: 5, CacheRead: 8}, true},
		{"written to the cache", Chat, `{"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3}}}`,
			false, Usage{Input: 3, Output: 5, CacheRead: 4, CacheWrite: 3}, true},
		{"in a drawer of its own", Chat, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"x_groq\":{\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}}\n\n",
			true, Usage{Input: 5, Output: 7}, true},
		{"gemini", Gemini, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":1}}\r\n\r\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":4,\"thoughtsTokenCount\":9,\"cachedContentTokenCount\":60,\"toolUsePromptTokenCount\":2,\"totalTokenCount\":115}}\r\n\r\n",
			true, Usage{Input: 42, Output: 13, CacheRead: 60}, true},
		{"gemini, cut", Gemini, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":1}}\r\n\r\n",
			true, Usage{Input: 100, Output: 1}, false},
		{"gemini, blocked", Gemini, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"usageMetadata\":{\"promptTokenCount\":100}}\r\n\r\n", true, Usage{Input: 100}, true},
		{"gemini, whole", Gemini, `{"candidates":[],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}`, false, Usage{Input: 3, Output: 4}, true},
		{"gemini, a list", Gemini, "[{\"candidates\":[{}],\"usageMetadata\":{\"promptTokenCount\":3}}\r\n,\r\n{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":4}}\r\n]", false, Usage{Input: 3, Output: 4}, true},
		{"gemini, a list that was cut", Gemini, "[{\"candidates\":[{}],\"usageMetadata\":{\"promptTokenCount\":3}}\r\n,\r\n{\"candidates\":[{\"finish", false, Usage{Input: 3}, false},
	} {
		covered[c.kind]++
		m := feed(c.kind, c.sse, c.text)
		if m.usage != c.want || m.final != c.final {
			t.Errorf("%s: %+v, final %v", c.name, m.usage, m.final)
		}
	}
	for _, kind := range Kinds() {
		if covered[kind] < 4 {
			t.Errorf("%s is tried %d times", kind, covered[kind])
		}
	}
}

// What has been said so far is counted by its words, not by what frames them;
// what cannot be read is counted whole.
func TestMeterCountsWords(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		line string
		said int64
	}{
		{Anthropic, `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"four"}}`, 4},
		{Anthropic, `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, 2},
		{Anthropic, `data: {"type":"ping"}`, 0},
		{OpenAI, `data: {"type":"response.output_text.delta","delta":"four"}`, 4},
		{OpenAI, `data: {"type":"response.output_text.done","text":"four"}`, 0},
		{Chat, `data: {"choices":[{"delta":{"content":"four","reasoning_content":"five5"}}]}`, 9},
		{Chat, `data: {"choices":[{"delta":{"content":"","reasoning_content":"five5","reasoning":"five5"}}]}`, 5},
		{Chat, `data: {"choices":[{"delta":{"content":"","reasoning_content":null,"reasoning":"five5","reasoning_details":[{"text":"five5"}]}}]}`, 5},
		{Chat, `data: {"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}}]}`, 3},
		{Chat, `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, 0},
		{Gemini, `data: {"candidates":[{"content":{"parts":[{"text":"four"},{"thought":true,"text":"five5"}]}}]}`, 9},
		{Gemini, `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`, 10},
	} {
		if m := feed(c.kind, true, c.line+"\r\n\r\n: ping\n\nevent: x\nid: 7\n"); m.said != c.said {
			t.Errorf("%s %s: %d bytes", c.kind, c.line, m.said)
		}
	}
	for _, kind := range Kinds() {
		for _, line := range []string{"<html>", "data: nonsense", "data: {\"half\":", "data: {}"} {
			if m := feed(kind, true, line+"\n"); m.said != int64(len(line)) {
				t.Errorf("%s %s: %d bytes", kind, line, m.said)
			}
		}
	}
}

func TestMeterForgetsWhatIsTooLong(t *testing.T) {
	m := &meter{api: messagesAPI, sse: true}
	piece := []byte(strings.Repeat("x", 1<<20))
	for range 40 {
		m.write(piece)
	}
	if len(m.part) != 0 || !m.lost {
		t.Errorf("it keeps %d bytes", len(m.part))
	}
	m.write([]byte("\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":3}}\n"))
	if m.usage.Output != 3 {
		t.Error("the next line was not read")
	}
}

// A picture is counted as one, not by its letters; text is counted by the letter
// whatever stands around it.
func TestGuessInput(t *testing.T) {
	blob := strings.Repeat("QUJD", 100_000) // 400 KB
	for _, c := range []struct {
		body        string
		least, most int64
	}{
		{strings.Repeat("x", 4000), 1000, 1000},
		{`{"url":"data:image/png;base64,` + blob + `"}`, 1600, 8000},
		{`{"source":{"type":"base64","data":"` + blob + `"}}`, 1600, 8000},
		{`{"inlineData":{"mimeType":"image/png","data":"` + blob + `"}},{"data":"` + blob + `"}`, 3200, 16_000},
		{`{"data":"short"}`, 4, 4},
		{`{"data":"` + blob, 100_000, 101_000}, // it does not end
		{"", 0, 0},
	} {
		if n := guessInput([]byte(c.body)); n < c.least || n > c.most {
			t.Errorf("%.60s: %d tokens", c.body, n)
		}
	}
}

// However an answer is cut into pieces, the meter reads the same, and never
// anything absurd, whatever API it takes it for.
func FuzzMeter(f *testing.F) {
	f.Add("data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n", uint8(3), true)
	f.Add("data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":1,\"input_tokens_details\":{\"cached_tokens\":5}}}}\r\n", uint8(7), true)
	f.Add("data:{\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":0,\"input_tokens_details\":{}}}}", uint8(7), true)
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":5},\"total_tokens\":9}}\n\ndata: [DONE]\n", uint8(2), true)
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1,\"cachedContentTokenCount\":5}}\r\n", uint8(4), true)
	f.Add("[{\"usageMetadata\":{\"thoughtsTokenCount\":1099511627776}},{}]", uint8(4), false)
	f.Add(`{"usage":{"input_tokens":99999999999999999999,"output_tokens":1}}`, uint8(1), false)
	f.Add("\n\n\ndata:\ndata: \"usage\"", uint8(0), true)
	f.Fuzz(func(t *testing.T, text string, size uint8, sse bool) {
		var pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), int(size)+1)
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		for _, kind := range Kinds() {
			whole, cut := feed(kind, sse, text), feed(kind, sse, pieces...)
			if cut.usage != whole.usage || cut.final != whole.final || cut.said != whole.said {
				t.Errorf("%s in pieces of %d: %+v, whole: %+v", kind, int(size)+1, cut.usage, whole.usage)
			}
			u := whole.usage
			if u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total() > 1<<43 {
				t.Errorf("absurd for %s: %+v", kind, u)
			}
			if most := 3 * int64(len(text)); whole.said < 0 || whole.said > most {
				t.Errorf("%s: %d bytes of words in %d", kind, whole.said, len(text))
			}
		}
	})
}

// Judging a body never panics, and a request that passes names one model only,
// the same one that a JSON decoder finds.
func FuzzReadTop(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://x"}}]}]}`))
	f.Add([]byte(`{"model":"a","Model":"b"}`))
	f.Add([]byte(`{"mod\u0065l":"a","tools":[{"type":"web_search"},{}]}`))
	f.Add([]byte(`{"model":"m","tools":[{"google_search":{}}],"cached_content":"c","cachedContent":null}`))
	f.Add([]byte(`{"model":"m","generationConfig":{"maxOutputTokens":3,"candidate_count":2},"generateContentRequest":{"contents":[]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, a := range apis {
			inPath := ""
			if a.inner != "" {
				inPath = "m"
			}
			top, err := a.readTop(body, inPath)
			if err != nil {
				continue
			}
			passes := top.selfContained() == nil
			for _, tool := range []string{`{"type":"web_search"}`, `{"google_search":{}}`} {
				if own := strings.Contains(tool, "google"); passes && strings.HasPrefix(string(body), `{"model":"m","tools":[`+tool+`]`) && (!own || a == geminiAPI || a == chatAPI) {
					t.Errorf("%s: a remote tool passed: %s", a.kind, body)
				}
			}
			if n := top.maxOutput(); n < 0 {
				t.Errorf("%s: at most %d tokens", a.kind, n)
			}
			if got := decodedModel(body); inPath == "" && got != top.model {
				t.Errorf("read %q, a decoder reads %q", top.model, got)
			}
		}
	})
}

func decodedModel(body []byte) string {
	var b struct{ Model string }
	_ = json.Unmarshal(body, &b) // only the model matters
	return b.Model
}
