package gateway

import (
	"bytes"
	"strconv"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Usage is transcript.Usage as it stands in events. Input counts neither what was read from the
// cache nor what was written to it, whichever API was asked.
type Usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`

	CacheWrite1h int64 `json:"cache_creation_1h_input_tokens,omitempty"` // of CacheWrite
	Searches     int64 `json:"web_search_requests,omitempty"`

	CostUSD float64 `json:"-"` // it is reckoned from these, by the model
}

// Total is the number of all tokens.
func (u Usage) Total() int64 { return transcript.Usage(u).Total() }

func (u Usage) plus(v Usage) Usage { return Usage(transcript.Usage(u).Add(transcript.Usage(v))) }

// atLeast fills in what is unknown from a guess.
func (u Usage) atLeast(guess Usage) Usage {
	if u.Input+u.CacheRead+u.CacheWrite == 0 {
		u.Input = guess.Input
	}
	u.Output = max(u.Output, guess.Output)
	return u
}

// guessTokens is the usual rule of thumb for text.
func guessTokens(bytes int64) int64 { return (bytes + 3) / 4 }

// guessInput is the rule of thumb for a request, of which pictures and files
// are not text: a picture counts as one, and a long file as many.
func guessInput(body []byte) int64 {
	blobs, tokens := int64(0), int64(0)
	for _, mark := range blobMarks {
		for rest := body; ; {
			i := bytes.Index(rest, mark)
			if i < 0 {
				break
			}
			rest = rest[i+len(mark):]
			if n := int64(max(bytes.IndexByte(rest, '"'), 0)); n >= leastBlob {
				blobs += n
				tokens += min(picture+n/blobBytes, guessTokens(n))
			}
		}
	}
	return guessTokens(int64(len(body))-blobs) + tokens
}

// blobMarks are what stands before base64 in these APIs. A blank may stand
// before the quote; who writes that pays by the letter.
var blobMarks = [][]byte{[]byte(`;base64,`), []byte(`"data":"`)}

const (
	leastBlob = 4 << 10
	picture   = 1600 // tokens
	blobBytes = 64   // for a token, of a file beside that
)

// maxLine bounds what the meter keeps of one line, or of one whole answer.
const maxLine = 32 << 20

// meter reads the usage from an answer that passes by, in pieces of any size.
// It never holds up a byte, and what it cannot read it does not know.
type meter struct {
	api   *api
	sse   bool
	part  []byte // the beginning of a line whose end has not come
	lost  bool   // that line is too long to keep
	usage Usage
	said  int64 // bytes of words, and of what could not be read
	final bool  // the answer's last word on usage was read
	ended bool  // the answer has ended, whether or not it told its usage

	failed bool // a stream tells that something went wrong

	// Of the APIs that tell usage on the way.
	told, finished bool
	gemini         geminiCounts
}

func (m *meter) write(p []byte) {
	if !m.sse {
		m.said += int64(len(p))
		m.keep(p)
		return
	}
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			m.keep(p)
			return
		}
		line := p[:i]
		if len(m.part) > 0 || m.lost {
			m.keep(line)
			line = m.part
		}
		if !m.lost {
			m.line(line)
		}
		m.part, m.lost = m.part[:0], false
		p = p[i+1:]
	}
}

func (m *meter) keep(p []byte) {
	if m.lost || len(m.part)+len(p) > maxLine {
		if m.sse {
			m.said += int64(len(m.part) + len(p))
		}
		m.part, m.lost = nil, true
		return
	}
	m.part = append(m.part, p...)
}

// end reads what stands at the end without a newline.
func (m *meter) end() {
	if m.lost || len(m.part) == 0 {
		return
	}
	switch {
	case !m.sse:
		m.api.whole(m, m.part)
	case jsontext.Valid(bytes.TrimPrefix(m.part, dataField)):
		m.line(m.part)
	default: // an event that was cut: part of it are words, and nobody knows which
		m.said += int64(len(m.part))
	}
	m.part = nil
}

var (
	dataField = []byte("data:")
	usageKey  = []byte(`"usage"`)
)

// line reads one line of a stream. What is none of the API's events is counted
// as it is: somebody may have to pay for it.
func (m *meter) line(b []byte) {
	b = bytes.TrimRight(b, "\r")
	data, ok := bytes.CutPrefix(b, dataField)
	switch {
	case !ok && (len(b) == 0 || b[0] == ':' || bytes.HasPrefix(b, []byte("event:")) || bytes.HasPrefix(b, []byte("id:"))):
	case !ok || !m.api.event(m, bytes.TrimPrefix(data, []byte(" "))):
		m.said += int64(len(b))
	}
}

// sayOf counts the words of some members of an object, in one pass, and says
// whether it is one.
func (m *meter) sayOf(obj []byte, names ...string) bool {
	return jsontext.Walk(obj, func(key, value []byte) error {
		for _, name := range names {
			if string(key) == name {
				m.say(value)
			}
		}
		return nil
	}) == nil
}

// say counts words, as they are written.
func (m *meter) say(texts ...[]byte) {
	for _, t := range texts {
		if len(t) > 2 && string(t) != "null" {
			m.said += int64(len(t)) - 2
		}
	}
}

// read takes over the counts that an object has, and keeps the others: the
// first event of a stream knows the input, the last one the output.
func (m *meter) read(obj []byte) bool {
	u, found := m.usage, false
	whole, cached := int64(-1), int64(0)
	err := jsontext.Walk(obj, func(key, value []byte) error {
		switch string(key) {
		case "input_tokens_details":
			cached = max(count(jsontext.Get(value, "cached_tokens")), 0)
			whole = max(whole, 0)
			return nil
		case "input_tokens":
			set(&u.Input, value, &found)
		case "output_tokens":
			set(&u.Output, value, &found)
		case "cache_read_input_tokens":
			set(&u.CacheRead, value, &found)
		case "cache_creation_input_tokens":
			set(&u.CacheWrite, value, &found)
		case "cache_creation":
			set(&u.CacheWrite1h, jsontext.Get(value, "ephemeral_1h_input_tokens"), &found)
		case "server_tool_use":
			set(&u.Searches, jsontext.Get(value, "web_search_requests"), &found)
		}
		return nil
	})
	if err != nil || !found {
		return false
	}
	if whole >= 0 { // Responses: the input includes what came from the cache
		u.CacheRead = min(cached, u.Input)
		u.Input -= u.CacheRead
	}
	u.CacheWrite1h = min(u.CacheWrite1h, u.CacheWrite)
	m.usage = u
	return true
}

func set(to *int64, value []byte, found *bool) {
	if n := count(value); n >= 0 {
		*to, *found = n, true
	}
}

// count reads a number of tokens; -1 means that it is none. A number beyond
// any real one is none either, so that sums stay sums.
func count(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return -1
	}
	return n
}
