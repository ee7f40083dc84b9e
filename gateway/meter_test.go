package gateway

import (
	"encoding/json"
	"strings"
	"testing"
)

func feed(sse bool, pieces ...string) *meter {
	m := &meter{sse: sse}
	for _, p := range pieces {
		m.write([]byte(p))
	}
	m.end()
	return m
}

func TestMeter(t *testing.T) {
	for _, c := range []struct {
		name, text string
		sse        bool
		want       Usage
		final      bool
	}{
		{"messages", "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":3,\"output_tokens\":1}}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n\n",
			true, Usage{9, 20, 4, 3, 0}, true},
		{"the last word counts", "data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}\ndata: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":null,\"output_tokens\":8}}\n",
			true, Usage{5, 8, 0, 0, 0}, true},
		{"cut after the start", "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n",
			true, Usage{9, 1, 0, 0, 0}, false},
		{"responses", "event: response.completed\r\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"output_tokens\":7,\"input_tokens_details\":{\"cached_tokens\":60},\"input_tokens\":100}}}\r\n\r\n",
			true, Usage{40, 7, 60, 0, 0}, true},
		{"incomplete", "data: {\"type\":\"response.incomplete\",\"response\":{\"usage\":{\"output_tokens\":7,\"input_tokens\":100}}}",
			true, Usage{100, 7, 0, 0, 0}, true},
		{"failed without usage", "data: {\"type\":\"response.failed\",\"response\":{\"usage\":null}}\n", true, Usage{}, false},
		{"a text that speaks of usage", "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"usage\\\":{\\\"output_tokens\\\":99}\"},\"usage\":{\"output_tokens\":99}}\n", true, Usage{}, false},
		{"whole message", `{"type":"message","usage":{"input_tokens":1,"output_tokens":2}}`, false, Usage{1, 2, 0, 0, 0}, true},
		{"whole response", "{\n\"object\":\"response\",\n\"usage\":{\"input_tokens\":10,\"input_tokens_details\":{\"cached_tokens\":10},\"output_tokens\":2}}", false, Usage{0, 2, 10, 0, 0}, true},
		{"nonsense", `{"usage":{"input_tokens":-1,"output_tokens":1e99}}`, false, Usage{}, false},
		{"no JSON", "data: {\"usage\"\n\n", true, Usage{}, false},
	} {
		m := feed(c.sse, c.text)
		if m.usage != c.want || m.final != c.final {
			t.Errorf("%s: %+v, final %v", c.name, m.usage, m.final)
		}
	}
}

func TestMeterForgetsWhatIsTooLong(t *testing.T) {
	m := &meter{sse: true}
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

// However an answer is cut into pieces, the meter reads the same, and never
// anything absurd.
func FuzzMeter(f *testing.F) {
	f.Add("data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n", uint8(3), true)
	f.Add("data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":1,\"input_tokens_details\":{\"cached_tokens\":5}}}}\r\n", uint8(7), true)
	f.Add("data:{\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":0,\"input_tokens_details\":{}}}}", uint8(7), true)
	f.Add(`{"usage":{"input_tokens":99999999999999999999,"output_tokens":1}}`, uint8(1), false)
	f.Add("\n\n\ndata:\ndata: \"usage\"", uint8(0), true)
	f.Fuzz(func(t *testing.T, text string, size uint8, sse bool) {
		whole := feed(sse, text)
		var pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), int(size)+1)
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		cut := feed(sse, pieces...)
		if cut.usage != whole.usage || cut.final != whole.final {
			t.Errorf("in pieces of %d: %+v, whole: %+v", int(size)+1, cut.usage, whole.usage)
		}
		u := whole.usage
		if u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total() > 1<<43 {
			t.Errorf("absurd: %+v", u)
		}
	})
}

// Judging a body never panics, and a request that passes names one model only,
// the same one that a JSON decoder finds.
func FuzzReadTop(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://x"}}]}]}`))
	f.Add([]byte(`{"model":"a","Model":"b"}`))
	f.Add([]byte(`{"mod\u0065l":"a","tools":[{"type":"web_search"},{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		top, err := readTop(body)
		if err != nil {
			return
		}
		if top.selfContained() == nil && strings.Contains(string(body), `{"type":"web_search"}`) && strings.HasPrefix(string(body), `{"model":"m","tools":[`) {
			t.Errorf("a remote tool passed: %s", body)
		}
		if got := decodedModel(body); got != top.model {
			t.Errorf("read %q, a decoder reads %q", top.model, got)
		}
	})
}

func decodedModel(body []byte) string {
	var b struct{ Model string }
	_ = json.Unmarshal(body, &b) // only the model matters
	return b.Model
}
