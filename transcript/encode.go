package transcript

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"conclave/internal/jsontext"
)

// The events of the log.
const (
	EventEntry              = "transcript.entry"
	EventStart              = "transcript.start"
	EventStop               = "transcript.stop"
	eventError              = "transcript.error"
	EventPathDiscovered     = "transcript.path_discovered"
	EventSubagentDiscovered = "transcript.subagent_discovered"
)

// eventPrefix begins the names of all of them.
const eventPrefix = "transcript."

// TimeLayout is how times stand in the log: ISO-8601 in UTC, offset written.
const TimeLayout = "2006-01-02T15:04:05.000000-07:00"

const logger = "conclave.transcript"

// A log line is an object with the keys timestamp, level, logger, event,
// message and context. raw is the last key of an entry's context, so that a
// stream that goes without it needs no second encoding.

// AppendEntry appends the log line of e, without a newline. The entry's
// detail must be JSON or nil; bytes of Raw that are no UTF-8 are kept under
// raw_base64 beside the readable raw.
func AppendEntry(dst []byte, e *Entry) []byte {
	f := frame{names: quoteNames(e.PromptName, e.Adapter)}
	f.stamp.set(e.Timestamp)
	if e.SessionID != "" {
		f.session = appendString(nil, e.SessionID)
	}
	dst, _ = f.append(dst, e, appendString(nil, e.Source))
	return dst
}

// frame holds the parts of a line that stay the same from entry to entry, in
// their quoted form: quoting them each time would cost as much as the rest.
type frame struct {
	names   []byte // prompt name and adapter
	stamp   stamp
	session []byte // nil when there is none
}

func quoteNames(prompt, adapter string) []byte {
	b := appendString([]byte(`","context":{"prompt_name":`), prompt)
	b = appendString(append(b, `,"adapter":`...), adapter)
	return append(b, `,"entry_type":"`...)
}

// append adds the line of e. rawAt is where `,"raw":` begins, 0 if there is
// none.
func (f *frame) append(dst []byte, e *Entry, source []byte) (line []byte, rawAt int) {
	dst = append(dst, `{"timestamp":"`...)
	dst = append(dst, f.stamp.text...)
	dst = append(dst, `","level":"DEBUG","logger":"`+logger+`","event":"`+EventEntry+`","message":"transcript entry: `...)
	dst = append(dst, e.Type...)
	dst = append(dst, f.names...)
	dst = append(dst, e.Type...)
	dst = append(dst, `","sequence_number":`...)
	dst = strconv.AppendInt(dst, e.Sequence, 10)
	dst = append(dst, `,"source":`...)
	dst = append(dst, source...)
	dst = append(dst, `,"timestamp":"`...)
	dst = append(dst, f.stamp.text...)
	dst = append(dst, '"')
	if f.session != nil {
		dst = append(dst, `,"session_id":`...)
		dst = append(dst, f.session...)
	}
	if e.Detail != nil {
		dst = append(dst, `,"detail":`...)
		dst = append(dst, e.Detail...)
	}
	if e.Raw != nil {
		rawAt = len(dst)
		dst = append(dst, `,"raw":`...)
		var exact bool
		if dst, exact = jsontext.AppendString(dst, e.Raw); !exact {
			dst = append(dst, `,"raw_base64":"`...)
			dst = base64.StdEncoding.AppendEncode(dst, e.Raw)
			dst = append(dst, '"')
		}
	}
	return append(dst, '}', '}'), rawAt
}

// stamp is a time in TimeLayout. Within one second only the fraction is
// written anew.
type stamp struct {
	second int64
	text   []byte
}

const fractionAt = len("2006-01-02T15:04:05.")

func (s *stamp) set(t time.Time) {
	if second := t.Unix(); s.text == nil || second != s.second {
		s.second = second
		s.text = t.UTC().AppendFormat(s.text[:0], TimeLayout)
		return
	}
	micros := t.Nanosecond() / 1000
	for i := fractionAt + 5; i >= fractionAt; i-- {
		s.text[i] = byte('0' + micros%10)
		micros /= 10
	}
}

func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendString(dst, []byte(s))
	return dst
}

// oneLine makes sure that detail is a JSON object on one line; checked says that
// it is known to be one, on however many lines. What is no JSON is kept as text;
// fault then says what was wrong with it.
func oneLine(detail json.RawMessage, checked bool) (_ json.RawMessage, fault error) {
	if detail == nil {
		return nil, nil
	}
	if !checked {
		if err := jsontext.Check(detail); err != nil {
			return keepAsText(detail), err
		}
		if i := firstNonSpace(detail); detail[i] != '{' {
			return keepAsText(detail), jsontext.ErrNotObject
		}
	}
	if bytes.IndexByte(detail, '\n') < 0 && bytes.IndexByte(detail, '\r') < 0 {
		return detail, nil
	}
	// Line breaks in JSON stand between values only: dropping white space
	// there changes nothing that was said.
	var b bytes.Buffer
	if err := json.Compact(&b, detail); err != nil {
		return keepAsText(detail), err
	}
	return b.Bytes(), nil
}

func firstNonSpace(b []byte) int {
	for i, c := range b {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return i
		}
	}
	return 0
}

func keepAsText(b []byte) json.RawMessage {
	out := append([]byte(nil), `{"undecodable":`...)
	out, exact := jsontext.AppendString(out, b)
	if !exact {
		out = append(out, `,"undecodable_base64":"`...)
		out = base64.StdEncoding.AppendEncode(out, b)
		out = append(out, '"')
	}
	return append(out, '}')
}

// appendEvent appends the log line of an event that is no entry. context is
// the inside of a JSON object, without braces.
func appendEvent(dst []byte, at time.Time, level, event, message string, context []byte) []byte {
	dst = append(dst, `{"timestamp":"`...)
	dst = at.UTC().AppendFormat(dst, TimeLayout)
	dst = append(dst, `","level":`...)
	dst = appendString(dst, level)
	dst = append(dst, `,"logger":"`+logger+`","event":`...)
	dst = appendString(dst, event)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, message)
	dst = append(dst, `,"context":{`...)
	dst = append(dst, context...)
	return append(dst, '}', '}')
}
