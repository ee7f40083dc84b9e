package claude

import (
	"bytes"
	"slices"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// Options configure a Mapper. The zero value maps a main session file.
type Options struct {
	// Source is the source that the items bear; "" means transcript.Main.
	Source string

	// Parent says where a subagent hangs. It is written into the detail of
	// each of its entries as "parent", "parent_tool_use_id" and "agent_type".
	Parent kind.Parent

	// NoRaw leaves the raw bytes off (the setting emit_raw = false).
	NoRaw bool

	// Reuse builds details in memory that the next call takes again: the items
	// are valid until then. For readers that pass items on at once.
	Reuse bool

	// Known says whether a line of this session and uuid is on the record
	// already. A fork copies the history of its parent, uuids included, under
	// its own session id; such a line becomes one system_event of the subtype
	// "repeated", so that nothing is lost and nothing counted twice.
	Known func(sessionID, uuid string) bool
}

// Stats counts what a Mapper has seen.
type Stats struct {
	Lines, Bytes, Entries int64
	// Unknown counts the lines that became entries of type unknown, by the
	// name of their type; "not JSON" and "no type" are such names.
	Unknown map[string]int64
	// Unrecognised is the part of it that no version of the program known to
	// this package writes, and subtypes and blocks of that kind.
	Unrecognised map[string]int64
}

// Mapper maps the lines of one session file, in order. It is not safe for
// concurrent use.
type Mapper struct {
	opts    Options
	tail    []byte // the members of detail that every item of a subagent has
	session string // the last session id, so that equal ones share memory
	usage   usageOnce
	scanner scanner
	told    []told // of the items of the last call
	buf     []byte // for details, with Reuse
	stats   Stats
}

// NewMapper returns a mapper for one file.
func NewMapper(o Options) *Mapper {
	m := &Mapper{opts: o}
	m.stats.Unknown = map[string]int64{}
	m.stats.Unrecognised = map[string]int64{}
	m.SetParent(o.Parent)
	return m
}

// SetParent says where the subagent hangs, when that is found out later than
// its file.
func (m *Mapper) SetParent(p kind.Parent) {
	m.opts.Parent, m.tail = p, nil
	if p.Source != "" {
		m.tail = appendMember(m.tail, "parent", p.Source)
	}
	if p.ToolUseID != "" {
		m.tail = appendMember(m.tail, "parent_tool_use_id", p.ToolUseID)
	}
	if p.Role != "" {
		m.tail = appendMember(m.tail, "agent_type", p.Role)
	}
}

// Stats returns the counts so far; its maps are the mapper's own.
func (m *Mapper) Stats() Stats { return m.stats }

// Map maps one line, given without its newline. The items share the line's
// memory.
func (m *Mapper) Map(line []byte) []transcript.Item { return m.Append(nil, line) }

// Append is Map into a slice that the caller has.
func (m *Mapper) Append(dst []transcript.Item, line []byte) []transcript.Item {
	l := lineOf{m: m, line: line, out: dst, first: len(dst), scanner: &m.scanner, block: -1}
	m.told = m.told[:0]
	if m.opts.Reuse {
		m.buf = m.buf[:0]
		if len(line) > mostReused {
			m.buf = nil
		} else if cap(m.buf) < len(line)+len(line)/4+1024 {
			m.buf = make([]byte, 0, 2*len(line)+4096)
		}
	}
	m.stats.Lines++
	m.stats.Bytes += int64(len(line)) + 1
	whole := m.scanner.scan(line)
	if !whole || !m.usage.goesOn(&m.scanner) {
		l.out = m.appendDue(l.out)
		l.first = len(l.out)
	}
	if !whole {
		name := "not JSON"
		if jsontext.Valid(line) {
			name = "not an object"
		}
		l.notJSON(name)
	} else {
		l.sessionID, l.shallow = m.intern(l.env.session()), jsontext.Shallow(line)
		l.dispatch()
	}
	m.stats.Entries += int64(len(l.out) - len(dst))
	return l.out
}

// UUID is that of the line that was mapped last, "" when it has none.
func (m *Mapper) UUID() string { return string(jsontext.Bare(m.scanner.env.uuid)) }

// Calls calls note with the id of each call on the line that was mapped last
// that starts a subagent.
func (m *Mapper) Calls(note func(id string)) {
	for i := range m.scanner.blocks {
		b := &m.scanner.blocks[i]
		if string(b.typ) == "tool_use" && len(b.id) > 2 && slices.Contains(starts, string(jsontext.Bare(b.name))) {
			note(string(jsontext.Bare(b.id)))
		}
	}
}

// Unknown counts the entries of type unknown by name.
func (m *Mapper) Unknown() map[string]int64 { return m.stats.Unknown }

// Flush returns what was held back for a line that did not come: the usage of
// a message. Call it at the end of the file and of a turn.
func (m *Mapper) Flush() []transcript.Item {
	m.told = m.told[:0]
	out := m.appendDue(nil)
	if u, ok := m.usage.take(); ok {
		out = append(out, m.usageItem(u))
	}
	m.stats.Entries += int64(len(out))
	return out
}

// Holding says that something is held back for its place alone.
func (m *Mapper) Holding() bool { return m.usage.held != nil }

// Due returns what is held back for its place alone: the usage of a message that
// has ended, and of which a further line may come. For who cannot wait for the
// next line.
func (m *Mapper) Due() []transcript.Item {
	m.told = m.told[:0]
	out := m.appendDue(nil)
	m.stats.Entries += int64(len(out))
	return out
}

func (m *Mapper) appendDue(out []transcript.Item) []transcript.Item {
	if u := m.usage.held; u != nil {
		m.usage.held = nil
		out = append(out, m.usageItem(*u))
	}
	return out
}

// intern returns the session id of a line; a line without one belongs to the
// session of those before it.
func (m *Mapper) intern(raw []byte) string {
	if raw = jsontext.Bare(raw); raw != nil && string(raw) != m.session {
		m.session = string(raw)
	}
	return m.session
}

func isTrue(b []byte) bool { return string(b) == "true" }

// startsWith says whether the JSON string b begins with prefix.
func startsWith(b []byte, prefix string) bool {
	text := jsontext.Bare(b)
	if bytes.IndexByte(text[:min(len(text), len(prefix))], '\\') >= 0 {
		s, _ := jsontext.String(b)
		return len(s) >= len(prefix) && s[:len(prefix)] == prefix
	}
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

func appendMember(dst []byte, key, value string) []byte {
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	dst, _ = jsontext.AppendString(dst, []byte(value))
	return dst
}

func appendRaw(dst []byte, key string, value []byte) []byte {
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return append(dst, value...)
}

// mostReused is the longest line whose memory is kept for the next.
const mostReused = 256 << 10

// space returns an empty slice for n bytes: new memory, or a part of what Reuse
// has left.
func (m *Mapper) space(n int) []byte {
	if m.opts.Reuse && cap(m.buf)-len(m.buf) >= n {
		start := len(m.buf)
		m.buf = m.buf[:start+n]
		return m.buf[start : start : start+n]
	}
	return make([]byte, 0, n)
}
