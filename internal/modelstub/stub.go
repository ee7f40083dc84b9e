package modelstub

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind says what a Block is.
type Kind int

// The kinds of blocks that a model answers with.
const (
	Text Kind = iota
	Thinking
	RedactedThinking
	ToolUse
	Refusal // the model says no; what it says of it is the text
)

// Block is one part of an answer.
type Block struct {
	Kind      Kind
	Text      string // Text, Thinking; the opaque data of RedactedThinking
	Signature string // Thinking; a default is given when empty
	Name, ID  string // ToolUse; an empty ID is given one
	Input     json.RawMessage
}

// Say is a text block.
func Say(text string) Block { return Block{Kind: Text, Text: text} }

// Think is a thinking block.
func Think(text string) Block { return Block{Kind: Thinking, Text: text} }

// Refuse is a model that says no.
func Refuse(text string) Block { return Block{Kind: Refusal, Text: text} }

// Call is a tool call; input is JSON.
func Call(name, id, input string) Block {
	return Block{Kind: ToolUse, Name: name, ID: id, Input: json.RawMessage(input)}
}

// Usage is what the answer claims to have cost. Input counts neither what was
// read from nor what was written to the cache. Thoughts are those tokens of the
// Output that were not said; Gemini alone tells them apart.
type Usage struct{ Input, Output, CacheRead, CacheWrite, Thoughts int64 }

// Reply is what the server answers. The zero Reply is an empty answer.
type Reply struct {
	Blocks     []Block
	Usage      Usage  // zero: 100 in, 10 out
	StopReason string // "": refusal or tool_use when a block is one, else end_turn; or max_tokens
	NoUsage    bool   // Chat and Gemini: it is not told

	// Status, when it is not 0 or 200, makes the answer an error of that
	// HTTP status. The type and message have defaults.
	Status       int
	ErrorType    string
	ErrorMessage string
	RetryAfter   time.Duration

	// CutAfter drops the connection after that many events of the stream;
	// CutBefore before a byte of the answer, the first being 1.
	CutAfter  int
	CutBefore int
	// Malformed sends an event that is no JSON before the last block ends, and
	// Endless repeats the event before that until the client goes away.
	Malformed, Endless bool
	// ContentType takes the place of the true one.
	ContentType string
	// MidStreamError sends an error event in place of the end (after CutAfter
	// events, when that is set too).
	MidStreamError bool
	// Hold keeps the stream open in the middle of its last block until the
	// channel is closed or the client goes away.
	Hold <-chan struct{}
}

// Answer is a Reply of blocks.
func Answer(blocks ...Block) Reply { return Reply{Blocks: blocks} }

// Fail is a Reply with an HTTP error.
func Fail(status int, message string) Reply {
	return Reply{Status: status, ErrorMessage: message}
}

func (r Reply) usage() Usage {
	if r.Usage == (Usage{}) {
		return Usage{Input: 100, Output: 10}
	}
	return r.Usage
}

func (r Reply) stopReason() string {
	if r.StopReason != "" {
		return r.StopReason
	}
	stop := "end_turn"
	for _, b := range r.Blocks {
		switch b.Kind {
		case Refusal:
			return "refusal"
		case ToolUse:
			stop = "tool_use"
		}
	}
	return stop
}

// The APIs that a Request may be of.
const (
	Messages  = "messages"
	Responses = "responses"
	Chat      = "chat"
	Gemini    = "gemini"
)

// Request is what a client asked.
type Request struct {
	API    string // Messages, Responses, Chat or Gemini
	Path   string // with the query
	Header http.Header
	Body   []byte
}

// ToolResult is what a client's tool gave back to the model.
type ToolResult struct {
	ID      string
	Text    string
	IsError bool
}

// view is what the helpers of Request read, the same for all APIs.
type view struct {
	model, system string
	tools         []string
	lastUser      string
	results       []ToolResult // those after the last answer of the model
	schema        json.RawMessage
	auxiliary     bool
	stream        bool
	usage         bool // Chat: it is asked for
}

func (r Request) view() view { return protocols[r.API].view(r) }

// Model is the model that was asked for.
func (r Request) Model() string { return r.view().model }

// System is the text of the instructions.
func (r Request) System() string { return r.view().system }

// LastUser is the text of the last user message that is not a tool result.
func (r Request) LastUser() string { return r.view().lastUser }

// ToolResults are those that the client gave back since the last answer.
func (r Request) ToolResults() []ToolResult { return r.view().results }

// Tools names the tools on offer.
func (r Request) Tools() []string { return r.view().tools }

// HasTool says whether a tool of that name is on offer.
func (r Request) HasTool(name string) bool {
	for _, t := range r.Tools() {
		if t == name {
			return true
		}
	}
	return false
}

// Schema is the JSON schema that the answer is to fit, where the API itself is
// asked to see to that; nil where it is not.
func (r Request) Schema() json.RawMessage { return r.view().schema }

// Images is how many pictures the conversation holds.
func (r Request) Images() int {
	var body any
	_ = json.Unmarshal(r.Body, &body) // what cannot be read has none
	return images(body)
}

func images(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += images(e)
		}
	case map[string]any:
		switch v["type"] {
		case "image", "input_image", "image_url":
			return 1
		}
		if v["inlineData"] != nil {
			return 1
		}
		for _, e := range v {
			n += images(e)
		}
	}
	return n
}

// Auxiliary says whether the client asked on its own behalf: to count tokens,
// to name the session, to see whether the key works. Such requests take no
// turn of a Script.
func (r Request) Auxiliary() bool { return r.view().auxiliary }

// Handler answers requests. It is never called by two goroutines at once.
type Handler func(Request) Reply

// Script answers with one reply after the other, and with an error that no
// client retries once they are used up. Auxiliary requests get a short answer
// and leave the script where it is.
func Script(replies ...Reply) Handler {
	var mu sync.Mutex
	next := 0
	return func(r Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		if r.Auxiliary() {
			return Answer(Say("ok"))
		}
		if next >= len(replies) {
			return Reply{Status: 400, ErrorType: "invalid_request_error", ErrorMessage: "the script has no further reply"}
		}
		next++
		return replies[next-1]
	}
}

// Named lets a handler call tools by their own names, or as Claude Code calls those
// of the room: each program puts the names of a server and of its tool together in
// a way of its own, and so does the answer. Who asks on its own behalf is answered
// here.
func Named(h Handler) Handler {
	return func(q Request) Reply {
		if q.Auxiliary() {
			return Answer(Say("ok"))
		}
		r := h(q)
		r.Blocks = slices.Clone(r.Blocks)
		for i, b := range r.Blocks {
			if b.Kind == ToolUse {
				r.Blocks[i].Name = q.offered(strings.TrimPrefix(b.Name, "mcp__room__"))
			}
		}
		return r
	}
}

// offered is a tool as it is on offer: by its name, or with its server's before it.
func (r Request) offered(name string) string {
	for _, tool := range r.Tools() {
		if tool == name || strings.HasSuffix(tool, "_"+name) || strings.HasSuffix(tool, "-"+name) {
			return tool
		}
	}
	return name
}
