package codex

import (
	"encoding/json"
	"slices"
	"strconv"

	"conclave/internal/jsontext"
)

// detail builds the payload of an entry. Parts of a source line go in as they
// came.
type detail struct{ b []byte }

func (d *detail) key(name string) {
	if d.b == nil {
		d.b = append(make([]byte, 0, 256), '{')
	}
	if len(d.b) > 1 {
		d.b = append(d.b, ',')
	}
	d.b = append(append(append(d.b, '"'), name...), '"', ':')
}

// text adds a string, unless it is empty.
func (d *detail) text(name, value string) *detail {
	if value != "" {
		d.key(name)
		d.b, _ = jsontext.AppendString(d.b, []byte(value))
	}
	return d
}

// raw adds a value as it is written, unless there is none.
func (d *detail) raw(name string, value []byte) *detail {
	if len(value) > 0 {
		d.key(name)
		d.b = append(slices.Grow(d.b, len(value)+1), value...)
	}
	return d
}

// call names a call where no item of the app-server does, twice: as every entry
// of ours, and as other readers of the format find it.
func (d *detail) call(id string, name []byte) *detail {
	return d.text("tool_use_id", id).raw("name", name).text("tool_call_id", id).raw("tool_name", name)
}

func (d *detail) flag(name string, value bool) *detail {
	if value {
		d.key(name)
		d.b = append(d.b, "true"...)
	}
	return d
}

func (d *detail) number(name string, n int64) *detail {
	d.key(name)
	d.b = strconv.AppendInt(d.b, n, 10)
	return d
}

func (d *detail) done() json.RawMessage {
	if d.b == nil {
		return json.RawMessage(`{}`)
	}
	return append(d.b, '}')
}

// want names a member of an object and where to put it.
type want struct {
	name string
	into *[]byte
}

// pick takes members out of an object in one pass. Of a repeated name the
// last counts (exec writes "id" twice in a web search).
func pick(obj []byte, wants ...want) error {
	return jsontext.Walk(obj, func(key, value []byte) error {
		for _, w := range wants {
			if w.name == string(key) {
				*w.into = value
			}
		}
		return nil
	})
}

// joinTexts joins the strings of an array of strings, or of an array of
// objects with a "text", by a blank line. A single one is passed on as it is
// written.
func joinTexts(array []byte) []byte {
	var parts [][]byte
	_ = jsontext.Elements(array, func(v []byte) error {
		if len(v) > 0 && v[0] == '{' {
			v = jsontext.Get(v, "text")
		}
		if len(v) > 2 && v[0] == '"' {
			parts = append(parts, v)
		}
		return nil
	}) // what is no array has no texts
	return joinStrings(parts, `\n\n`)
}

// joinStrings joins JSON strings without decoding them; sep is written as it
// stands inside a string.
func joinStrings(parts [][]byte, sep string) []byte {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	out := []byte{'"'}
	for i, p := range parts {
		if i > 0 {
			out = append(out, sep...)
		}
		out = append(out, p[1:len(p)-1]...)
	}
	return append(out, '"')
}
