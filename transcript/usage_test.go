package transcript

import (
	"encoding/json"
	"testing"
)

// The words of all programs mean the same; figures that nobody can have
// consumed are cut off.
func TestReadUsage(t *testing.T) {
	for text, want := range map[string]Usage{
		`{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}`:                     {1, 2, 3, 4, 0},
		`{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4,"costUSD":0.5}`:               {1, 2, 3, 4, 0.5},
		`{"inputTokens":10,"outputTokens":2,"cachedInputTokens":3,"cacheWriteInputTokens":4}`:                                  {3, 2, 3, 4, 0},
		`{"input_tokens":-5,"output_tokens":9223372036854775807,"cache_read_input_tokens":"x","cache_creation_input_tokens":}`: {},
		`{"input_tokens":-5,"output_tokens":9223372036854775807,"cache_read_input_tokens":"x"}`:                                {0, mostTokens, 0, 0, 0},
		`{}`: {},
	} {
		u, ok := ReadUsage([]byte(text))
		if valid := json.Valid([]byte(text)); ok != valid || valid && u != want {
			t.Errorf("%s: %+v, %v, want %+v", text, u, ok, want)
		}
	}
	u := Usage{1, 2, 3, 4, 0.5}
	if back, ok := ReadUsage(u.AppendJSON(nil)); !ok || back != u.Tokens() || u.Total() != 10 {
		t.Errorf("%s comes back as %+v", u.AppendJSON(nil), back)
	}
	if got := UsageOf([]byte(`{"usage":{"output_tokens":7}}`)).Add(u).Sub(u.Tokens()); got != (Usage{Output: 7, CostUSD: 0.5}) {
		t.Errorf("%+v", got)
	}
}

// TestUsageIsBounded: no line turns the sums of others around.
func TestUsageIsBounded(t *testing.T) {
	for usage, want := range map[string]Usage{
		`{"input_tokens":-5,"output_tokens":3}`:                               {Output: 3},
		`{"input_tokens":9223372036854775807,"output_tokens":99999999999999}`: {Input: mostTokens, Output: mostTokens},
		`{"input_tokens":99999999999999999999999}`:                            {Input: mostTokens},
		`{"inputTokens":2,"cachedInputTokens":7}`:                             {CacheRead: 7},
		`{"input_tokens":"7","output_tokens":1.5}`:                            {},
	} {
		if got, ok := ReadUsage([]byte(usage)); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", usage, got, want)
		}
	}
}
