package archive

import (
	"database/sql/driver"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/internal/jsontext"
	"conclave/internal/price"
	"conclave/transcript"
)

// register gives connections the functions that the views are made with. What
// is long stands in the blocks, and is read only when a query asks for it.
func (a *Archive) register(d *sqlite.Driver) {
	// conclave_part(what, source's kind, adapter, type, block, off, size, part)
	d.MustRegisterScalarFunction("conclave_part", 8, a.partFunc)
	d.MustRegisterDeterministicScalarFunction("conclave_time", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		if at, ok := args[0].(int64); ok {
			return time.UnixMicro(at).UTC().Format(transcript.TimeLayout), nil
		}
		return nil, nil
	})
	d.MustRegisterDeterministicScalarFunction("cost_usd", 5, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		model, _ := args[0].(string)
		p, ok := price.Of(model)
		if !ok {
			return nil, nil
		}
		var n [4]int64
		for i := range n {
			n[i], _ = args[i+1].(int64)
		}
		return p.Cost(n[0], n[1], n[2], n[3]), nil
	})
}

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

func (a *Archive) partFunc(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	what, _ := args[0].(string)
	var r ref
	r.sourceKind, _ = args[1].(string)
	r.adapter, _ = args[2].(string)
	typ, _ := args[3].(string)
	r.typ = transcript.Type(typ)
	for i, to := range []*int64{&r.block, &r.off, &r.size, &r.part} {
		n, ok := args[i+4].(int64)
		if !ok {
			return nil, nil // the other side of an outer join
		}
		*to = n
	}
	e, err := a.entry(r)
	if err != nil {
		return nil, err
	}
	if out := e.get(what); out != nil {
		return string(out), nil
	}
	return nil, nil
}

// ref says where an entry is.
type ref struct {
	sourceKind, adapter    string
	typ                    transcript.Type
	block, off, size, part int64
}

// stored is an entry as it can be shown: the line is redacted.
type stored struct {
	a       *Archive
	log     bool // the line is a log record
	adapter string
	typ     transcript.Type
	line    []byte
	detail  []byte
	raw     []byte // JSON string of a log line, or the line itself
	part    int
}

// entry reads an entry from its block.
func (a *Archive) entry(r ref) (*stored, error) {
	line, err := a.line(r.block, int(r.off), int(r.size))
	if err != nil {
		return nil, err
	}
	return a.makeStored(r.sourceKind, r.adapter, r.typ, line, int(r.part)), nil
}

func (a *Archive) makeStored(sourceKind, adapter string, typ transcript.Type, line []byte, part int) *stored {
	e := &stored{a: a, adapter: adapter, typ: typ, part: part, line: a.cleanJSON(line)}
	switch sourceKind {
	case kindClaude, kindCodex:
		e.detail = mapAgain(adapter, e.line, part)
		if part == 0 {
			e.raw = e.line
		}
	default:
		e.log = true
		c := members(jsontext.Get(e.line, "context"), "detail", "raw")
		e.detail = c[0]
		if c[1] != nil {
			e.raw = appendString(nil, c[1])
		}
	}
	return e
}

// mapAgain gives the detail of the nth item of a line of a session file.
func mapAgain(adapter string, line []byte, part int) []byte {
	var items []transcript.Item
	if adapter == transcript.AdapterCodex {
		items = new(codex.Rollout).Map(line)
		if f := new(codex.File); codex.Sniff(line) != codex.FormatRollout {
			items = append(f.Map(line), f.Flush()...)
		}
	} else {
		m := claude.NewMapper(claude.Options{})
		items = append(m.Append(nil, line), m.Flush()...)
	}
	if len(items) == 0 {
		return nil
	}
	return items[min(part, len(items)-1)].Detail
}

// get returns a column, nil for NULL.
func (e *stored) get(what string) []byte {
	switch what {
	case "content":
		return e.content()
	case "raw":
		return e.raw
	case "line":
		return e.line
	case "detail":
		return e.detail
	case "parsed":
		if p := jsontext.Get(e.detail, "sdk_entry"); p != nil {
			return p
		}
		return e.detail
	case "context":
		if e.log {
			return jsontext.Get(e.line, "context")
		}
		return nil
	case "message":
		if m := jsontext.Get(e.line, "message"); e.log && m != nil {
			return appendString([]byte{}, m)
		}
		return nil
	case "input":
		return e.input()
	}
	return nil
}

// content is what the entry says, redacted once more: what was apart in the
// line may stand together in the text.
func (e *stored) content() []byte {
	if e.typ == "" {
		return nil
	}
	text := textOf(nil, e.adapter, e.typ, e.detail)
	if len(text) == 0 {
		if e.typ == transcript.TokenUsage {
			return jsontext.Get(e.detail, "usage")
		}
		if e.typ != transcript.Unknown && e.typ != transcript.SystemEvent {
			return []byte{}
		}
		return e.raw
	}
	return e.a.clean(text)
}

// input is what a tool was called with, as JSON.
func (e *stored) input() []byte {
	for _, path := range [][]string{{"block", "input"}, {"input"}, {"sdk_entry", "input"}, {"notification", "item", "arguments"},
		{"notification", "arguments"}, {"notification", "item"}, {"notification"}, {"context"}} {
		if v := jsontext.Get(e.detail, path...); v != nil {
			return unwrapJSON(v)
		}
	}
	content := jsontext.Get(e.detail, "sdk_entry", "message", "content")
	at, _ := strconv.Atoi(string(jsontext.Get(e.detail, "block_index")))
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
		if inner := appendString(nil, v); jsontext.Valid(inner) {
			return inner
		}
	}
	return v
}
