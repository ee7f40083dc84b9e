package transcript

import (
	"encoding/json"
	"testing"
)

// The words of all programs mean the same; figures that nobody can have
// consumed are cut off.
func TestReadUsage(t *testing.T) {
	for text, want := range map[string]Usage{
		`{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}`:                                                                                    {Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4},
		`{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4,"costUSD":0.5}`:                                                                              {Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CostUSD: 0.5},
		`{"inputTokens":10,"outputTokens":2,"cachedInputTokens":3,"cacheWriteInputTokens":4}`:                                                                                                 {Input: 3, Output: 2, CacheRead: 3, CacheWrite: 4},
		`{"input_tokens":-5,"output_tokens":9223372036854775807,"cache_read_input_tokens":"x","cache_creation_input_tokens":}`:                                                                {},
		`{"input_tokens":-5,"output_tokens":9223372036854775807,"cache_read_input_tokens":"x"}`:                                                                                               {Output: mostTokens},
		`{"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":4,"ephemeral_5m_input_tokens":5},"server_tool_use":{"web_search_requests":2,"web_fetch_requests":8}}`: {CacheWrite: 9, CacheWrite1h: 4, Searches: 2},
		`{"cacheCreationInputTokens":9,"cacheCreationEphemeral1hInputTokens":4,"webSearchRequests":2}`:                                                                                        {CacheWrite: 9, CacheWrite1h: 4, Searches: 2},
		`{"cache_creation_input_tokens":1,"cache_creation":{"ephemeral_1h_input_tokens":4},"server_tool_use":null}`:                                                                           {CacheWrite: 1, CacheWrite1h: 1}, // a part is no more than the whole
		`{}`: {},
	} {
		u, ok := ReadUsage([]byte(text))
		if valid := json.Valid([]byte(text)); ok != valid || valid && u != want {
			t.Errorf("%s: %+v, %v, want %+v", text, u, ok, want)
		}
	}
	u := Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CacheWrite1h: 3, Searches: 7, CostUSD: 0.5}
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
