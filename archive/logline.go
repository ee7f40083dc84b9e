package archive

import (
	"bytes"
	"encoding/base64"

	"conclave/internal/jsontext"
	"conclave/session"
)

// logLine is a log record taken apart: its own members, and those of its
// context if it is an entry.
type logLine struct {
	timestamp, level, logger, event, message, context []byte

	prompt, adapter, source, session, typ, seq, at, detail []byte
	behind                                                 []byte    // what follows the detail: raw, if it is there
	inside                                                 [8][]byte // of the detail: session.FactNames
	entry                                                  bool
	buf                                                    []byte
}

var (
	contextMarks = [][]byte{[]byte(`"context":{`), []byte(`"context": {`)}
	detailMarks  = [][]byte{[]byte(`"detail":{`), []byte(`"detail": {`)}
	entryMark    = []byte(`transcript.entry"`)
)

// parse takes a line apart.
func (l *logLine) parse(line []byte) {
	*l = logLine{buf: l.buf}
	if bytes.Contains(line[:min(len(line), 400)], entryMark) && l.parseEntry(line) {
		return
	}
	m := jsontext.Members(line, "timestamp", "level", "logger", "event", "message", "context")
	l.timestamp, l.level, l.logger, l.event, l.message, l.context = m[0], m[1], m[2], m[3], m[4], m[5]
	if l.entry = string(jsontext.Bare(l.event)) == "transcript.entry" && l.context != nil; l.entry {
		l.envelope(jsontext.Members(l.context, envelopeNames...))
		l.behind = l.context
		l.inside = jsontext.Members(l.detail, session.FactNames...)
	}
}

var envelopeNames = []string{"prompt_name", "adapter", "source", "session_id", "entry_type", "sequence_number", "timestamp", "detail"}

func (l *logLine) envelope(c [8][]byte) {
	l.prompt, l.adapter, l.source, l.session, l.typ, l.seq, l.at, l.detail = c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
}

// parseEntry is the quick way for entries as all writers write them: short
// members, then the context, in it short members, the detail, and last the raw
// line, which is as long as the detail and need not be looked at. It is false
// when a line is not so.
func (l *logLine) parseEntry(line []byte) bool {
	at, skip := firstOf(line, contextMarks)
	if at < 0 || at > 1000 {
		return false
	}
	head := jsontext.Members(l.object(line[:at]), "timestamp", "level", "logger", "event", "message")
	if string(jsontext.Bare(head[3])) != "transcript.entry" {
		return false
	}
	l.timestamp, l.level, l.logger, l.event = line2(line, head[0]), line2(line, head[1]), line2(line, head[2]), line2(line, head[3])
	context := line[at+skip-1:]
	at, skip = firstOf(context, detailMarks)
	if at < 0 || at > 4000 {
		return false
	}
	c := jsontext.Members(l.object(context[:at]), envelopeNames...)
	rest := context[at+skip-1:]
	inside, end := openMembers(rest, session.FactNames)
	if end < 0 || c[4] == nil || c[5] == nil || c[3] == nil && bytes.Contains(rest[end:], []byte(`"session_id":`)) {
		return false
	}
	for i := range c {
		c[i] = line2(context, c[i])
	}
	c[7], l.behind = rest[:end], rest[end:]
	l.envelope(c)
	l.inside = inside
	l.entry = true
	return true
}

// rawMark is how raw begins behind the detail.
const rawMark = `,"raw":"`

// hasRaw says that raw stands where all writers put it.
func (l *logLine) hasRaw() bool { return bytes.HasPrefix(l.behind, []byte(rawMark)) }

// raw is the line that the entry was made of, perhaps in buf; nil when it is a
// further entry of the line before. It stands last, and need not be looked for;
// a log without it may have the line in the detail, but for what was added there.
func (l *logLine) raw(buf *[]byte) []byte {
	const ends = `"}}`
	quoted, mark := l.behind, rawMark
	switch {
	case len(quoted) == 0 || quoted[0] == '}':
		return l.entryLine()
	case l.hasRaw() && bytes.HasSuffix(quoted, []byte(ends)) &&
		!bytes.Contains(quoted, []byte(`","raw_base64":"`)):
		quoted = quoted[len(mark)-1 : len(quoted)-2]
	default:
		if quoted[0] == ',' {
			quoted = append([]byte{'{'}, quoted[1:len(quoted)-1]...)
		}
		m := jsontext.Members(quoted, "raw", "raw_base64")
		if b, err := base64.StdEncoding.DecodeString(jsontext.Text(m[1])); err == nil && m[1] != nil {
			return b
		}
		if quoted = m[0]; quoted == nil {
			return l.entryLine()
		}
	}
	line := jsontext.AppendText((*buf)[:0], quoted)
	if *buf = line; cap(line) > 1<<20 {
		*buf = nil
	}
	return line
}

// entryLine is the line in the detail, nil when it has none.
func (l *logLine) entryLine() []byte {
	if line := l.inside[len(session.FactNames)-1]; len(line) > 0 && line[0] == '{' {
		return line
	}
	return nil
}

// object makes an object of how one begins.
func (l *logLine) object(start []byte) []byte {
	l.buf = append(append(l.buf[:0], bytes.TrimRight(start, " ,")...), '}')
	return l.buf
}

// line2 finds value, which was found in a copy of how text begins, in text.
func line2(text, value []byte) []byte {
	if value == nil {
		return nil
	}
	if i := bytes.Index(text[:min(len(text), 5000)], value); i >= 0 {
		return text[i : i+len(value)]
	}
	return bytes.Clone(value)
}

// firstOf finds the first of marks in how b begins.
func firstOf(b []byte, marks [][]byte) (at, size int) {
	at, b = -1, b[:min(len(b), 5000)]
	for _, m := range marks {
		if i := bytes.Index(b, m); i >= 0 {
			at, size, b = i, len(m), b[:i]
		}
	}
	return at, size
}

// openMembers finds members of the object with which b begins, and where that
// ends; -1 if it does not.
func openMembers(b []byte, names []string) (found [8][]byte, end int) {
	end = 1
	err := jsontext.Walk(b, func(key, value []byte) error {
		end = cap(b) - cap(value) + len(value)
		for i, n := range names {
			if string(key) == n {
				found[i] = value
			}
		}
		return nil
	})
	if err == nil {
		return found, len(b)
	}
	for end < len(b) && (b[end] == ' ' || b[end] == '\t') {
		end++
	}
	if end >= len(b) || b[end] != '}' {
		return found, -1
	}
	return found, end + 1
}
