package claude

import (
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Response is what a line tells of one response of the model. Names and ids are
// as they are written, and share the line's memory.
type Response struct {
	Message, Request, Model, Session []byte
	At                               int64 // microseconds since 1970
	transcript.Usage
	Whole   bool // the message had ended: these are its last figures
	Aborted bool // it was cut off, and is not counted
}

// Responses reads responses from lines, for who wants nothing else of them. It
// keeps its memory from one to the next, and is not safe for concurrent use.
type Responses struct{ scanner scanner }

// Read is false for a line that tells of none. As in the mapping, errors of the
// program, which it words as answers, are none.
func (r *Responses) Read(line []byte) (out Response, ok bool) {
	s := &r.scanner
	if !s.scan(line) || string(s.env.typ) != "assistant" || isTrue(s.env.isAPIError) {
		return out, false
	}
	out = Response{Message: jsontext.Bare(s.msg.id), Request: jsontext.Bare(s.env.requestID),
		Model: jsontext.Bare(s.msg.model), Session: jsontext.Bare(s.env.sessionID)}
	if out.Usage, ok = transcript.ReadUsage(s.msg.usage); !ok || string(out.Model) == "<synthetic>" {
		return out, false
	}
	out.At = transcript.ParseTime(jsontext.Bare(s.env.timestamp))
	out.Whole, out.Aborted = len(jsontext.Bare(s.msg.stopReason)) > 0, isTrue(s.env.isAborted)
	return out, true
}
