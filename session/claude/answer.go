package claude

import (
	"bytes"
	"strconv"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

func itoa(n int) string { return strconv.Itoa(n) }

// assistant maps a line of what the model said. The programs of today write
// one block per line; older ones and other writers may put several.
func (l *lineOf) assistant() {
	if isTrue(l.env.isAPIError) {
		// The program words the error as an answer of the model
		// "<synthetic>"; its usage is zero and nobody's.
		l.apiError(false)
		return
	}
	_, blocks := l.said()
	for l.block = range blocks {
		l.answerBlock(&blocks[l.block])
	}
	l.block = -1
	if len(l.out) == l.first {
		l.add(transcript.AssistantMessage, l.partial(nil))
	}
	l.tokens(l.msg)
}

// apiError adds an error of the model's server.
func (l *lineOf) apiError(transient bool) {
	l.add(transcript.Error, append([]byte(`,"subtype":"api_error","transient":`), strconv.FormatBool(transient)...))
	l.m.told[len(l.m.told)-1].subtype = "api_error"
}

func (l *lineOf) answerBlock(b *block) {
	extra := l.blockExtra(b)
	switch string(b.typ) {
	case "text":
		l.add(transcript.AssistantMessage, l.partial(extra))
	case "thinking":
		l.add(transcript.Thinking, l.partial(extra))
	case "redacted_thinking":
		l.add(transcript.Thinking, append(extra, `,"redacted":true`...))
	case "tool_use", "server_tool_use", "mcp_tool_use":
		l.add(transcript.ToolUse, toolUseExtra(l.partial(extra), b))
	case "tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_result":
		l.add(transcript.ToolResult, toolResultExtra(extra, b.toolUseID, b.isError))
	default:
		name := "assistant block " + string(b.typ)
		l.m.stats.Unknown[name]++
		l.unrecognised(name)
		l.addEvent(transcript.Unknown, extra, name)
	}
}

func toolUseExtra(extra []byte, b *block) []byte {
	if b.id != nil {
		extra = appendRaw(extra, "tool_use_id", b.id)
	}
	if b.name != nil {
		extra = appendRaw(extra, "name", b.name)
	}
	return extra
}

func (l *lineOf) partial(extra []byte) []byte {
	if isTrue(l.env.isAborted) {
		return append(extra, `,"partial":true`...)
	}
	return extra
}

// tokens adds the usage of a message once. All lines of a message repeat it,
// and those written while the message still streamed hold less than the whole:
// the line with a stop reason has the final figures.
func (l *lineOf) tokens(msg message) {
	if isTrue(l.env.isAborted) {
		// Cut off before its end: the program itself does not count it.
		l.m.usage.forget(msg.id)
		return
	}
	if len(msg.usage) == 0 || msg.usage[0] != '{' || string(jsontext.Bare(msg.model)) == "<synthetic>" {
		return
	}
	for _, u := range l.m.usage.see(msg, &l.env, l.sessionID, l.m.stats.Lines) {
		l.out = append(l.out, l.m.usageItem(u))
	}
}

// usage is the usage of one message, as it was written.
type usage struct {
	id, model, figures, uuid, request []byte
	session                           string
	written                           []byte // when its line was
	line                              int64  // the number of its line; 0: it comes behind the last
}

// usageOnce gives each message's usage out once, behind the last line of the
// message. Messages of one file follow each other, so that it need only remember
// the last few ids.
type usageOnce struct {
	done    [32]string
	next    int
	pending *usage // of a message that has not ended
	held    *usage // of one that has, until it is clear that no further line of it comes
}

// goesOn says whether a line may be one more of the message whose usage is held.
func (o *usageOnce) goesOn(s *scanner) bool {
	return o.held == nil || string(s.env.typ) == "assistant" && string(s.msg.id) == string(o.held.id)
}

// own makes a usage outlive its line, whose memory may be used again.
func (u usage) own() *usage {
	return &usage{bytes.Clone(u.id), bytes.Clone(u.model), bytes.Clone(u.figures),
		bytes.Clone(u.uuid), bytes.Clone(u.request), u.session, bytes.Clone(u.written), u.line}
}

// see returns the usages that are due now that msg was seen.
func (o *usageOnce) see(msg message, env *envelope, session string, line int64) (due []usage) {
	u := usage{msg.id, msg.model, msg.usage, env.uuid, env.requestID, session, env.timestamp, line}
	if o.pending != nil && string(o.pending.id) != string(msg.id) {
		// A message whose end was never written: what is known of it.
		due = append(due, *o.pending)
		o.mark(o.pending.id)
		o.pending = nil
	}
	if len(jsontext.Bare(msg.id)) == 0 {
		return append(due, u) // each line is a message of its own
	}
	if o.isDone(msg.id) {
		return due
	}
	if ended := len(msg.stopReason) > 0 && msg.stopReason[0] == '"'; !ended {
		o.pending = u.own()
		return due
	}
	u.line = 0
	o.pending, o.held = nil, u.own()
	o.mark(msg.id)
	return due
}

func (o *usageOnce) forget(id []byte) {
	if o.held != nil && string(o.held.id) == string(id) {
		o.held = nil
	}
	if o.pending != nil && string(o.pending.id) == string(id) {
		o.pending = nil
	}
}

func (o *usageOnce) take() (usage, bool) {
	if o.pending == nil {
		return usage{}, false
	}
	u := *o.pending
	o.mark(u.id)
	o.pending = nil
	return u, true
}

func (o *usageOnce) mark(id []byte) {
	o.done[o.next%len(o.done)] = string(id)
	o.next++
}

func (o *usageOnce) isDone(id []byte) bool {
	for _, d := range o.done {
		if d == string(id) {
			return true
		}
	}
	return false
}

func (m *Mapper) usageItem(u usage) transcript.Item {
	d := []byte(`{"of":null`)
	if u.uuid != nil {
		d = append([]byte(`{"of":`), u.uuid...)
	}
	if u.id != nil {
		d = appendRaw(d, "message_id", u.id)
	}
	if u.model != nil {
		d = appendRaw(d, "model", u.model)
	}
	d = append(appendRaw(d, "usage", u.figures), m.tail...)
	m.told = append(m.told, told{typ: transcript.TokenUsage, block: -1, usage: &u})
	return transcript.Item{Type: transcript.TokenUsage, Source: m.opts.Source,
		SessionID: u.session, Detail: append(d, '}')}
}
