package transcript

import (
	"strconv"
	"strings"

	"conclave/internal/jsontext"
)

// Usage is what a model consumed, in a response, a turn or a session. Input
// counts neither what was read from the cache nor what was written to it,
// whichever program counted. CacheWrite1h is the part of CacheWrite that is kept
// for an hour, Searches how often the provider searched the web: both have prices
// of their own. A zero CostUSD means that the cost is not known.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int64
	CacheWrite1h, Searches               int64
	CostUSD                              float64
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead,
		u.CacheWrite + v.CacheWrite, u.CacheWrite1h + v.CacheWrite1h, u.Searches + v.Searches, u.CostUSD + v.CostUSD}
}

// Sub returns what u has more than v.
func (u Usage) Sub(v Usage) Usage {
	return Usage{u.Input - v.Input, u.Output - v.Output, u.CacheRead - v.CacheRead,
		u.CacheWrite - v.CacheWrite, u.CacheWrite1h - v.CacheWrite1h, u.Searches - v.Searches, u.CostUSD - v.CostUSD}
}

// Beyond is what a program's own total u has more than v, the sum of what is known
// of its parts. Not every total tells what was kept for an hour, or of searches:
// that it lacks them is nothing that was used less.
func (u Usage) Beyond(v Usage) Usage {
	d := u.Sub(v)
	d.CacheWrite1h, d.Searches = max(d.CacheWrite1h, 0), max(d.Searches, 0)
	return d
}

// Total is the number of all tokens.
func (u Usage) Total() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Most has of each figure the larger one.
func (u Usage) Most(v Usage) Usage {
	return Usage{max(u.Input, v.Input), max(u.Output, v.Output), max(u.CacheRead, v.CacheRead),
		max(u.CacheWrite, v.CacheWrite), max(u.CacheWrite1h, v.CacheWrite1h), max(u.Searches, v.Searches),
		max(u.CostUSD, v.CostUSD)}
}

// Natural says that none of the figures is negative.
func (u Usage) Natural() bool { return u.Most(Usage{}) == u }

// Tokens is u without its cost.
func (u Usage) Tokens() Usage { u.CostUSD = 0; return u }

// ReadUsage reads a usage object in the words that all adapters use in the
// detail of a token_usage entry, and in those of the programs themselves. What
// is below nothing or beyond all bounds is somebody's mistake, or mischief: it
// must not turn the sums of others around. It is false when b is no object.
func ReadUsage(b []byte) (u Usage, ok bool) {
	var shared int64
	err := jsontext.Walk(b, func(key, value []byte) error {
		var to *int64
		switch string(key) {
		case "input_tokens", "inputTokens":
			to = &u.Input
		case "output_tokens", "outputTokens":
			to = &u.Output
		case "cache_read_input_tokens", "cacheReadInputTokens":
			to = &u.CacheRead
		case "cache_creation_input_tokens", "cacheCreationInputTokens", "cacheWriteInputTokens":
			to = &u.CacheWrite
		case "cachedInputTokens": // which that program counts as input, too
			to = &shared
		case "cache_creation_1h_input_tokens", "cacheCreationEphemeral1hInputTokens":
			to = &u.CacheWrite1h
		case "cache_creation":
			to, value = &u.CacheWrite1h, jsontext.Get(value, "ephemeral_1h_input_tokens")
		case "web_search_requests", "webSearchRequests":
			to = &u.Searches
		case "server_tool_use":
			to, value = &u.Searches, jsontext.Get(value, "web_search_requests")
		case "costUSD":
			u.CostUSD, _ = strconv.ParseFloat(string(value), 64)
			return nil
		default:
			return nil
		}
		n, _ := strconv.ParseInt(string(value), 10, 64)
		*to = min(max(n, 0), mostTokens)
		return nil
	})
	if shared > 0 {
		u.CacheRead, u.Input = shared, max(u.Input-shared-u.CacheWrite, 0)
	}
	u.CacheWrite1h = min(u.CacheWrite1h, u.CacheWrite)
	return u, err == nil
}

// UsageOf is the usage that the detail of a token_usage entry tells of.
func UsageOf(detail []byte) Usage {
	u, _ := ReadUsage(jsontext.Get(detail, "usage"))
	return u
}

// mostTokens is more than one response can have.
const mostTokens = 1 << 40

// AppendJSON appends what was consumed as a JSON object, in the words of a detail.
func (u Usage) AppendJSON(dst []byte) []byte {
	for i, m := range [...]struct {
		name  string
		count int64
	}{{`{"input_tokens":`, u.Input}, {`,"output_tokens":`, u.Output},
		{`,"cache_read_input_tokens":`, u.CacheRead}, {`,"cache_creation_input_tokens":`, u.CacheWrite},
		{`,"cache_creation_1h_input_tokens":`, u.CacheWrite1h}, {`,"web_search_requests":`, u.Searches}} {
		if i < 4 || m.count != 0 {
			dst = strconv.AppendInt(append(dst, m.name...), m.count, 10)
		}
	}
	return append(dst, '}')
}

// ResponseKey names a response of a model: the same response has the same key in
// every file that tells of it. Message ids of one provider are unique in the
// world, and not every file has the request's id beside them; others' are told
// apart by it. What has no id goes by its session, time and figures.
func ResponseKey(message, request, session string, at int64, u Usage) string {
	switch {
	case strings.HasPrefix(message, "msg_"):
		return message
	case message != "":
		return message + "/" + request
	}
	if at != 0 {
		session = "" // a copy of the file may have another
	}
	return session + "/" + strconv.FormatInt(at, 36) + "/" + strconv.FormatInt(u.Input+u.CacheRead, 36) + "/" + strconv.FormatInt(u.Output, 36)
}
