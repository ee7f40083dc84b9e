package modelstub

import (
	"encoding/json"
	"net/http"
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

// Call is a tool call; input is JSON.
func Call(name, id, input string) Block {
	return Block{Kind: ToolUse, Name: name, ID: id, Input: json.RawMessage(input)}
}

// Usage is what the answer claims to have cost. Input counts neither what was
// read from nor what was written to the cache.
type Usage struct{ Input, Output, CacheRead, CacheWrite int64 }

// Reply is what the server answers. The zero Reply is an empty answer.
type Reply struct {
	Blocks     []Block
	Usage      Usage  // zero: 100 in, 10 out
	StopReason string // "": tool_use when a block calls a tool, else end_turn

	// Status, when it is not 0 or 200, makes the answer an error of that
	// HTTP status. The type and message have defaults.
	Status       int
	ErrorType    string
	ErrorMessage string
	RetryAfter   time.Duration

	// CutAfter drops the connection after that many events of the stream.
	CutAfter int
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
	for _, b := range r.Blocks {
		if b.Kind == ToolUse {
			return "tool_use"
		}
	}
	return "end_turn"
}

// The APIs that a Request may be of.
const (
	Messages  = "messages"
	Responses = "responses"
)

// Request is what a client asked.
type Request struct {
	API    string // Messages or Responses
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

// view is what the helpers of Request read, the same for both APIs.
type view struct {
	model, system string
	tools         []string
	lastUser      string
	results       []ToolResult // those after the last answer of the model
	auxiliary     bool
	stream        bool
}

func (r Request) view() view {
	if r.API == Responses {
		return responsesView(r)
	}
	return messagesView(r)
}

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
