package archive

import (
	"bytes"
	"strconv"

	"conclave/internal/jsontext"
	"conclave/session"
	"conclave/transcript"
)

// Clean takes secrets out of a text that was made of what is shown.
func (a *Archive) Clean(text []byte) []byte { return a.clean(text) }

// clean takes secrets out of what is shown.
func (a *Archive) clean(text []byte) []byte {
	if a.plain == nil || !a.plain.Has(text) {
		return text
	}
	out, _ := a.plain.Bytes(nil, text)
	return out
}

func (a *Archive) cleanJSON(text []byte) []byte {
	if a.plain == nil || !a.plain.Has(text) {
		return text
	}
	out, _ := a.plain.JSON(nil, text)
	return out
}

// Ref says where an entry is: the columns of its row that Show needs.
type Ref struct {
	Kind    string // of its source
	Adapter string
	Type    transcript.Type
	// Its line in the raw store, and which of the line's entries it is.
	Block, Off, Size, Part int64
}

// Shown is an entry as it can be shown: the line is redacted before anything is
// taken from it.
type Shown struct {
	Log    bool   // the line is a log record
	Line   []byte // as it stands in its source
	Detail []byte
	Raw    []byte // what the agent's program wrote; nil where another entry has it

	a      *Archive
	ref    Ref
	mapper session.Mapper // of its line; nil where other lines had a part in what it is
}

// Show reads an entry from its block.
func (a *Archive) Show(r Ref) (*Shown, error) {
	line, err := a.line(r.Block, int(r.Off), int(r.Size))
	if err != nil {
		return nil, err
	}
	e := &Shown{a: a, ref: r, Line: a.cleanJSON(line)}
	if k := session.OfName(r.Kind); k != nil {
		e.mapAgain(session.Unnamed("", k))
		if r.Part == 0 {
			e.Raw = e.Line
		}
		return e, nil
	}
	e.Log = true
	c := jsontext.Members(jsontext.Get(e.Line, "context"), "detail", "raw")
	e.Detail = c[0]
	if c[1] != nil {
		e.Raw = jsontext.AppendText(nil, c[1])
	}
	return e, nil
}

// mapAgain finds the entry among those of its line.
func (e *Shown) mapAgain(f session.File) {
	m := f.Kind.NewMapper(f, session.Options{})
	if said := e.ref.Type == transcript.AssistantMessage || e.ref.Type == transcript.Thinking; said && f.Kind.Gathers {
		e.before(m)
	}
	items, part := m.Append(nil, e.Line), int(e.ref.Part)
	if part < len(items) && items[part].Type == e.ref.Type {
		e.mapper = m
	} else if part >= len(items) {
		items = append(items, m.Flush()...)
	}
	if len(items) > 0 && part < partElsewhere {
		e.Detail = items[min(part, len(items)-1)].Detail
	}
}

// before maps the lines before the entry's, of which it may be the last piece.
// Those of another block are not asked: of a message that is longer than a block
// the end is shown.
func (e *Shown) before(m session.Mapper) {
	raw, err := e.a.block(e.ref.Block)
	if err != nil {
		return // nor would there be the line
	}
	for line := range bytes.Lines(raw[:e.ref.Off]) {
		m.Append(nil, e.a.cleanJSON(bytes.TrimSuffix(line, []byte("\n"))))
	}
}

// Text is what the entry says, redacted once more: what was apart in the line may
// stand together in the text. It is nil for a log record that is no entry.
func (e *Shown) Text() []byte {
	typ := e.ref.Type
	if typ == "" {
		return nil
	}
	text := e.words()
	if len(text) == 0 {
		if typ == transcript.TokenUsage {
			return jsontext.Get(e.Detail, "usage")
		}
		if typ != transcript.Unknown && typ != transcript.SystemEvent {
			return []byte{}
		}
		return e.Raw
	}
	return e.a.clean(text)
}

// words are those that were indexed.
func (e *Shown) words() []byte {
	if e.mapper != nil && searchable(e.ref.Type) {
		return e.mapper.Words(nil, int(e.ref.Part))
	}
	var words session.Words
	return words.Append(nil, e.ref.Adapter, e.ref.Type, e.Detail)
}

// Message is that of a log record; nil where there is none.
func (e *Shown) Message() []byte {
	if m := jsontext.Get(e.Line, "message"); e.Log && m != nil {
		return jsontext.AppendText([]byte{}, m)
	}
	return nil
}

// Input is what a tool was called with, as JSON; nil where there is none.
func (e *Shown) Input() []byte {
	for _, path := range [][]string{{"block", "input"}, {"input"}, {"sdk_entry", "input"},
		{"notification", "item", "arguments"}, {"notification", "arguments"}, {"notification", "item"}, {"notification"}, {"context"}} {
		if v := jsontext.Get(e.Detail, path...); v != nil {
			return unwrapJSON(v)
		}
	}
	content := jsontext.Get(e.Detail, "sdk_entry", "message", "content")
	at, _ := strconv.Atoi(string(jsontext.Get(e.Detail, "block_index")))
	var found []byte
	if len(content) > 0 && content[0] == '[' {
		_ = jsontext.Elements(content, func(v []byte) error {
			in := jsontext.Get(v, "input")
			if in != nil && (at == 0 || found == nil) {
				found = in
			}
			at--
			return nil
		})
	}
	return found
}

// unwrapJSON returns the JSON within a string, where there is some.
func unwrapJSON(v []byte) []byte {
	if len(v) > 0 && v[0] == '"' {
		if inner := jsontext.AppendText(nil, v); jsontext.Valid(inner) {
			return inner
		}
	}
	return v
}
