// Package plain is what the readers of most programs have in common: a Mapper
// that does everything but say what a line means, and details of one form.
//
// A program's own package gives a Reader. It is shown each line that is a JSON
// object, adds the entries that it finds (Line.Add), and is done: raw bytes,
// counts, facts, words and what was told before are the Mapper's affair. A line
// of which the Reader says nothing, and one that is no object, is an entry of
// type unknown, whole.
//
// Many programs write a thing again when there is more of it: a message when its
// tools have ended, a row of a database. Entries bear a key for that. What was told
// under a key is not told again; where it stands between news it is a
// system_event of the subtype "repeated", so that the entries of a line keep
// their places, whatever was told before it. What is not finished is held back
// (Line.Hold) until it is, or no line comes any more.
//
// The members of a detail: subtype; text of messages, thinking and errors, with
// partial when it never ended; tool_use_id, name, input, output and is_error of
// tools; usage, model and message_id of a response; and on the first entry of a
// line the line itself, as line.
package plain

import (
	"bytes"
	"encoding/json"
	"slices"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// Reader says what the lines of one file mean, in order.
type Reader interface{ Read(l *Line) }

// Rester is a Reader that adds up what several lines say: Rest adds what it has at
// the end.
type Rester interface{ Rest(l *Line) }

// Entry is what a Reader finds on a line. Values are JSON as it is written.
type Entry struct {
	Type          transcript.Type
	Key           string // of what is told once; "" is told always
	Subtype       string
	Text          []byte // what was said or thought, or what went wrong
	ToolID, Tool  string
	Input, Output []byte // of a tool
	Failed        bool
	Usage         *transcript.Usage
	Model         string
	Message       string // id of the response
	partial       bool
}

// Line is a line that is being read.
type Line struct {
	Raw []byte // a JSON object
	// Time is when it was written, in microseconds since 1970; 0 is not known.
	Time int64
	// Session is whose it is; "" is that of the lines before it.
	Session string

	entries []Entry
	name    string
}

// Add adds an entry.
func (l *Line) Add(e Entry) { l.entries = append(l.entries, e) }

// Event adds a system_event.
func (l *Line) Event(subtype string) { l.Add(Entry{Type: transcript.SystemEvent, Subtype: subtype}) }

// Hold adds an entry that is not finished: it needs a key.
func (l *Line) Hold(e Entry) {
	e.partial = true
	l.Add(e)
}

// Entries are those that were added.
func (l *Line) Entries() []Entry { return l.entries }

// Unknown says under which name the line is counted, if nothing is added.
func (l *Line) Unknown(name string) { l.name = name }

// notJSON is the name of lines that are none.
const notJSON = "not JSON"

// Mapper is a kind.Mapper.
type Mapper struct {
	reader  Reader
	options kind.Options
	source  string
	session string
	told    map[string]bool
	held    []Entry // in their order, each key once
	unknown map[string]int64
	last    Line
	items   []transcript.Item
	facts   []kind.Facts
}

// NewMapper returns the mapping of a file's lines by r.
func NewMapper(f kind.File, o kind.Options, r Reader) *Mapper {
	return &Mapper{reader: r, options: o, source: f.Source, session: f.Session,
		told: map[string]bool{}, unknown: map[string]int64{}}
}

// Append implements kind.Mapper.
func (m *Mapper) Append(dst []transcript.Item, line []byte) []transcript.Item {
	m.items, m.facts = m.items[:0], m.facts[:0]
	m.last = Line{Raw: line, entries: m.last.entries[:0]}
	switch {
	case !jsontext.Valid(line):
		m.last.name = notJSON
	case bytes.TrimSpace(line)[0] != '{':
		m.last.name = "not an object"
	default:
		m.reader.Read(&m.last)
		if m.last.Session != "" {
			m.session = m.last.Session
		}
	}
	entries := m.last.entries
	if len(entries) == 0 {
		name := m.last.name
		if name == "" {
			name = "no name"
		}
		m.unknown[name]++
		entries = append(entries, Entry{Type: transcript.Unknown, Subtype: name})
	}
	news := m.news(entries)
	for i := range news {
		m.add(&news[i], i == 0)
	}
	return append(dst, m.items...)
}

// news puts something else in the place of what was told before.
func (m *Mapper) news(entries []Entry) []Entry {
	last := 0
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Key == "":
		case m.told[e.Key]:
			*e = Entry{Type: transcript.SystemEvent, Subtype: "repeated"}
			continue
		case e.partial:
			m.hold(*e)
			*e = Entry{Type: transcript.SystemEvent, Subtype: "unfinished"}
		default:
			m.told[e.Key] = true
			m.held = slices.DeleteFunc(m.held, func(h Entry) bool { return h.Key == e.Key })
		}
		last = i
	}
	return entries[:last+1]
}

func (m *Mapper) hold(e Entry) {
	e.Text, e.Input, e.Output = bytes.Clone(e.Text), bytes.Clone(e.Input), bytes.Clone(e.Output)
	if i := slices.IndexFunc(m.held, func(h Entry) bool { return h.Key == e.Key }); i >= 0 {
		m.held[i] = e
		return
	}
	m.held = append(m.held, e)
}

func (m *Mapper) add(e *Entry, first bool) {
	it := transcript.Item{Type: e.Type, Source: m.source, SessionID: m.session}
	d := detail{b: []byte{'{'}}
	d.text("subtype", e.Subtype)
	d.flag("partial", e.partial)
	d.text("message_id", e.Message)
	d.text("tool_use_id", e.ToolID)
	d.text("name", e.Tool)
	d.flag("is_error", e.Failed)
	d.raw("text", e.Text)
	d.raw("input", e.Input)
	d.raw("output", e.Output)
	if e.Usage != nil {
		d.raw("usage", e.Usage.AppendJSON(nil))
	}
	d.text("model", e.Model)
	if first {
		if !m.options.NoRaw {
			it.Raw = m.last.Raw
			if it.Raw == nil {
				it.Raw = []byte{} // an empty line is there, too
			}
		}
		if text := bytes.TrimSpace(m.last.Raw); m.last.name == notJSON && len(text) > 0 {
			it.Fault = "the line is no JSON"
		} else {
			d.raw("line", text)
		}
	}
	it.Detail = d.done()
	m.items = append(m.items, it)
	m.facts = append(m.facts, kind.Facts{Subtype: e.Subtype, Tool: e.Tool, ToolID: e.ToolID, Failed: e.Failed,
		Usage: e.Usage, Model: e.Model, Message: e.Message})
}

// Flush implements kind.Mapper: it gives what never ended.
func (m *Mapper) Flush() []transcript.Item {
	m.items, m.facts, m.last = m.items[:0], m.facts[:0], Line{Time: m.last.Time}
	if r, ok := m.reader.(Rester); ok {
		r.Rest(&m.last)
	}
	for i := range m.held {
		m.told[m.held[i].Key] = true
	}
	for _, e := range append(m.held, m.last.entries...) {
		m.add(&e, false)
	}
	m.held = nil
	return slices.Clone(m.items)
}

// Unknown implements kind.Mapper.
func (m *Mapper) Unknown() map[string]int64 { return m.unknown }

// Time implements kind.Mapper.
func (m *Mapper) Time() int64 { return m.last.Time }

// Facts implements kind.Mapper.
func (m *Mapper) Facts(item int) kind.Facts { return m.facts[item] }

// Words implements kind.Mapper.
func (m *Mapper) Words(dst []byte, item int) []byte {
	return AppendWords(dst, m.items[item].Type, m.items[item].Detail)
}

// NewWords is that of a kind whose mappers are of this package.
func NewWords() func([]byte, transcript.Type, []byte) []byte { return AppendWords }

// AppendWords appends the words of an entry whose detail has the text under its
// own name, as the details of this package and of the adapters have that speak
// for themselves.
func AppendWords(dst []byte, typ transcript.Type, detail []byte) []byte {
	d := jsontext.Members(detail, "text", "content", "message", "thinking", "input", "output", "error")
	order := []int{0, 1, 3, 2, 6}
	switch typ {
	case transcript.ToolUse:
		order = []int{4, 0, 1}
	case transcript.ToolResult:
		order = []int{5, 1, 0, 6}
	}
	for _, i := range order {
		if v := d[i]; len(v) > 0 && string(v) != "null" {
			return bytes.TrimRight(jsontext.AppendTexts(dst, v), "\n")
		}
	}
	return dst
}

// detail builds the payload of an entry.
type detail struct{ b []byte }

func (d *detail) key(name string) {
	if len(d.b) > 1 {
		d.b = append(d.b, ',')
	}
	d.b = append(append(append(d.b, '"'), name...), '"', ':')
}

func (d *detail) text(name, value string) {
	if value != "" {
		d.key(name)
		d.b, _ = jsontext.AppendString(d.b, []byte(value))
	}
}

func (d *detail) raw(name string, value []byte) {
	if len(value) > 0 {
		d.key(name)
		d.b = append(slices.Grow(d.b, len(value)+1), value...)
	}
}

func (d *detail) flag(name string, value bool) {
	if value {
		d.key(name)
		d.b = append(d.b, "true"...)
	}
}

func (d *detail) done() json.RawMessage { return append(d.b, '}') }
