package codex

import (
	"strconv"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// tokens are counts as Codex keeps them: input includes what came from the
// cache and what was written to it.
type tokens struct {
	total, input, cached, cacheWrite, output, reasoning int64
}

func (t tokens) minus(u tokens) tokens {
	return tokens{t.total - u.total, t.input - u.input, t.cached - u.cached,
		t.cacheWrite - u.cacheWrite, t.output - u.output, t.reasoning - u.reasoning}
}

func (t tokens) zero() bool { return t == tokens{} }

func (t tokens) negative() bool { return t.input < 0 || t.output < 0 }

// readTokens reads a breakdown in either of its spellings: camelCase on the
// wire, snake_case in files.
func readTokens(obj []byte) (t tokens, ok bool) {
	err := jsontext.Walk(obj, func(key, value []byte) error {
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return nil // not a count
		}
		switch string(key) {
		case "totalTokens", "total_tokens":
			t.total = n
		case "inputTokens", "input_tokens":
			t.input = n
		case "cachedInputTokens", "cached_input_tokens":
			t.cached = n
		case "cacheWriteInputTokens", "cache_write_input_tokens":
			t.cacheWrite = n
		case "outputTokens", "output_tokens":
			t.output = n
		case "reasoningOutputTokens", "reasoning_output_tokens":
			t.reasoning = n
		}
		return nil
	})
	if t.total == 0 {
		t.total = t.input + t.output
	}
	return t, err == nil
}

// usage puts counts into the words that all adapters share.
func (t tokens) usage() transcript.Usage {
	return transcript.Usage{Input: t.input - t.cached - t.cacheWrite, Output: t.output,
		CacheRead: t.cached, CacheWrite: t.cacheWrite}
}

// detail is the usage of one response: input without the cache, as the other
// adapters count it.
func (t tokens) detail() []byte {
	u := t.usage()
	var d detail
	d.number("input_tokens", u.Input).number("output_tokens", u.Output).
		number("cache_read_input_tokens", u.CacheRead).
		number("cache_creation_input_tokens", u.CacheWrite).
		number("reasoning_output_tokens", t.reasoning).
		number("total_tokens", t.total)
	return d.done()
}

// Response names the response that the detail of a token_usage entry tells of,
// "" where it does not say which: its thread, and how many tokens that had used
// when it was complete. The program gives responses no id that all of its
// formats have, and two of them may come within a millisecond and cost the same;
// but the total of a thread only grows.
func Response(detail []byte) string {
	d := jsontext.Members(detail, "thread_id", "notification")
	n := jsontext.Members(d[1], "threadId", "tokenUsage", "info", "thread_token_usage")
	thread := jsontext.Text(d[0])
	if thread == "" {
		thread = jsontext.Text(n[0])
	}
	total := n[3]
	if inner := jsontext.Get(n[1], "total"); inner != nil {
		total = inner
	} else if inner := jsontext.Get(n[2], "total_token_usage"); inner != nil {
		total = inner
	}
	t, ok := readTokens(total)
	if thread == "" || total == nil || !ok {
		return ""
	}
	return thread + "@" + strconv.FormatInt(t.input, 36) + "." + strconv.FormatInt(t.cached, 36) + "." +
		strconv.FormatInt(t.output, 36)
}

// SumOf is what the detail of a token_usage entry of codex exec --json tells: what
// its thread has used since it began, and no response. It names no model. Other
// entries tell of no sum.
func SumOf(detail []byte) *kind.Sum {
	d := jsontext.Members(detail, "method", "thread_id", "usage")
	u, ok := transcript.ReadUsage(d[2])
	if string(d[0]) != `"turn.completed"` || !ok {
		return nil
	}
	thread := jsontext.Text(d[1])
	return &kind.Sum{Session: thread, Started: begun(thread), Models: []kind.ModelSum{{Usage: u}}}
}

// begun is when a thread began, in milliseconds since 1970: its id says so, if it
// is one of those that can be ordered by time (version 7); else 0.
func begun(thread string) int64 {
	if len(thread) != 36 || thread[14] != '7' {
		return 0
	}
	at, _ := strconv.ParseInt(thread[:8]+thread[9:13], 16, 64) // what is no number began nowhere
	return at
}

// meter turns the running totals of one thread into the usage of each
// response. Totals are repeated (around a compaction, after a failure, after a
// resume), so a difference counts, never "last".
type meter struct {
	known bool
	total tokens
}

// replay takes a total that was reached before this connection began.
func (m *meter) replay(total tokens) { m.known, m.total = true, total }

// add returns what total adds to what was known. For the first total of a
// thread that is what the program calls the last response: what came before
// it happened elsewhere.
func (m *meter) add(total, last tokens) (used tokens, fresh bool) {
	used = total.minus(m.total)
	if !m.known && !last.zero() && last.input > 0 {
		used = last
	}
	m.known, m.total = true, total
	if used.negative() { // the count was started again
		used = last
	}
	used.total = used.input + used.output
	return used, used.input != 0 || used.output != 0
}
