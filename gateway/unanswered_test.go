package gateway

import (
	"net/http"
	"testing"
	"time"
)

// An error that a stream tells of in its middle is known in every API.
func TestStreamsThatFail(t *testing.T) {
	events := map[Kind][]string{
		Anthropic: {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
		OpenAI: {`{"type":"error","code":"server_error","message":"x"}`,
			`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}`},
		Chat:   {`{"error":{"code":502,"message":"x"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`},
		Gemini: {`{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}`},
	}
	for _, kind := range Kinds() {
		if len(events[kind]) == 0 {
			t.Errorf("%s has no event that tells of an error", kind)
		}
		for _, e := range events[kind] {
			m := NewMeter(kind, 10)
			_, _ = m.Write([]byte("data: " + `{"error":null,"type":"ping"}` + "\n\n"))
			if kind != Gemini && m.meter.failed {
				t.Errorf("%s fails without an error", kind)
			}
			_, _ = m.Write([]byte("data: " + e + "\n\n"))
			if !m.meter.failed {
				t.Errorf("%s: %s is not seen to fail", kind, e)
			}
		}
	}
}

// The last that was asked decides, and only what was asked since.
func TestUnanswered(t *testing.T) {
	noon := time.Now()
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	whole := Exchange{Sent: at(2), Status: http.StatusOK}
	for name, c := range map[string]struct {
		s    Summary
		want bool
	}{
		"nothing":    {Summary{}, false},
		"before":     {Summary{Exchanges: []Exchange{{Sent: at(-1), Status: 500}}}, false},
		"answered":   {Summary{Exchanges: []Exchange{{Sent: at(1), Status: 500}, whole}}, false},
		"overload":   {Summary{Exchanges: []Exchange{whole, {Sent: at(3), Status: 529}}}, true},
		"no network": {Summary{Exchanges: []Exchange{{Sent: at(3), Error: "it could not be reached"}}}, true},
		"broken off": {Summary{Exchanges: []Exchange{{Sent: at(3), Status: 200, Error: "unexpected EOF"}}}, true},
		"failed":     {Summary{Exchanges: []Exchange{{Sent: at(3), Status: 200, Failed: true}}}, true},
		"hung up":    {Summary{Exchanges: []Exchange{{Sent: at(3), Status: 200, HungUp: true, Error: "it hung up"}}}, false},
		"too long":   {Summary{Exchanges: []Exchange{{Sent: at(3), Status: 413}}}, false},
		"budget":     {Summary{Exchanges: []Exchange{whole}, Refusals: []Refusal{{Rule: "budget", at: at(3)}}}, true},
		"old budget": {Summary{Exchanges: []Exchange{whole}, Refusals: []Refusal{{Rule: "budget", at: at(1)}}}, false},
		"path":       {Summary{Refusals: []Refusal{{Rule: "path", at: at(3)}}}, false},
	} {
		if got := c.s.Unanswered(noon); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
