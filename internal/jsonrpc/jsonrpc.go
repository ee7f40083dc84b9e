// Package jsonrpc speaks JSON-RPC as agent programs speak it over their pipes:
// one object per line, requests and notifications in both directions. What is
// built has no "jsonrpc" member; Versioned adds it for programs that want it.
//
// It frames on the newline byte alone, with no limit on a line's length, and
// keeps the exact bytes of every message: what is read is handed out as it
// came, what is to be written is built first and can be recorded before it is
// sent. It refuses a line that is no JSON object, and says so without losing
// the line. It stores nothing and starts no goroutine; whoever reads decides
// what happens with a request, a notification or an answer.
package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strconv"

	"conclave/internal/jsontext"
)

// Kind says what a message is.
type Kind int

// The kinds of messages.
const (
	invalid      Kind = iota // an object that is none of the others
	Request                  // wants an answer
	Notification             // wants none
	Response                 // is one
)

func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Response:
		return "response"
	}
	return "invalid"
}

// Message is one line. The raw fields are parts of the line as it came and
// nil when it has none of that name.
type Message struct {
	Kind   Kind
	ID     json.RawMessage // a number or a string
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// Parse reads a line without its newline. The message refers to the line's
// bytes. An "id" of null counts as none.
func Parse(line []byte) (Message, error) {
	var m Message
	err := jsontext.Walk(line, func(key, value []byte) error {
		switch string(key) {
		case "id":
			if m.ID = value; string(value) == "null" {
				m.ID = nil
			}
		case "method":
			m.Method, _ = jsontext.String(value)
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
		return nil
	})
	if err != nil {
		return Message{}, fmt.Errorf("read JSON-RPC message: %w", err)
	}
	m.Kind = m.kind()
	return m, nil
}

func (m Message) kind() Kind {
	switch {
	case m.Method != "" && m.ID != nil:
		return Request
	case m.Method != "":
		return Notification
	case m.ID != nil && (m.Result != nil || m.Error != nil):
		return Response
	}
	return invalid
}

// Err is the error that a response carries, or nil.
func (m Message) Err() error {
	if m.Error == nil {
		return nil
	}
	e := new(Error)
	if json.Unmarshal(m.Error, e) != nil || e.Message == "" {
		e.Message = string(m.Error)
	}
	return e
}

// Error is the other side's refusal.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string {
	if e.Code == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// CodeMethodNotFound answers a request for a method that one does not have.
const CodeMethodNotFound = -32601

// NewRequest builds the line of a request.
func NewRequest(id int64, method string, params any) ([]byte, error) {
	return build(strconv.AppendInt(nil, id, 10), "method", method, "params", params)
}

// NewNotification builds the line of a notification; nil params are left out.
func NewNotification(method string, params any) ([]byte, error) {
	return build(nil, "method", method, "params", params)
}

// NewResult builds the line of an answer to the request of that id.
func NewResult(id json.RawMessage, result any) ([]byte, error) {
	return build(id, "result", result)
}

// NewFailure builds the line of a refusal.
func NewFailure(id json.RawMessage, e *Error) ([]byte, error) {
	return build(id, "error", e)
}

// Versioned is a built line with the member that says which version of JSON-RPC
// it is.
func Versioned(line []byte) []byte {
	return append([]byte(`{"jsonrpc":"2.0",`), line[1:]...)
}

func build(id json.RawMessage, pairs ...any) ([]byte, error) {
	out := []byte{'{'}
	if id != nil {
		out = append(append(out, `"id":`...), id...)
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			continue
		}
		value, err := json.Marshal(pairs[i+1])
		if err != nil {
			return nil, fmt.Errorf("build JSON-RPC message: %w", err)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, pairs[i].(string)), ':')
		out = append(out, value...)
	}
	return append(out, '}'), nil
}
