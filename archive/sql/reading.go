package sql

import (
	"slices"
	"strconv"
	"strings"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// reading is what the system that the transcript format comes from tells of an
// entry in its own tables: who speaks, what is said, which tool. It looks at the
// detail, and at the source line where there is none. The views that bear its
// names give its answers, whoever wrote the bundle.
type reading struct{ role, content, tool, toolID string }

// readAs reads an entry by those rules.
func readAs(typ transcript.Type, detail, raw []byte) (r reading) {
	parsed := object(jsontext.Get(detail, "sdk_entry"))
	if parsed == nil {
		parsed = object(detail)
	}
	if parsed == nil && jsontext.Valid(raw) {
		parsed = object(raw)
	}
	if parsed != nil {
		r.message(object(jsontext.Get(parsed, "message")))
		r.ofTool(typ, parsed)
		if r.content == "" {
			r.content = elsewhere(typ, parsed)
		}
	}
	if r.content == "" {
		r.content = string(raw)
	}
	return r
}

func object(v []byte) []byte {
	if len(v) > 0 && v[0] == '{' {
		return v
	}
	return nil
}

// message takes what a message of the model's own form says.
func (r *reading) message(m []byte) {
	if m == nil {
		return
	}
	content := jsontext.Get(m, "content")
	r.role, _ = jsontext.String(jsontext.Get(m, "role"))
	r.content = readable(content)
	for _, block := range elements(content) {
		if jsontext.Text(jsontext.Get(block, "type")) == "tool_use" {
			r.tool = jsontext.Text(jsontext.Get(block, "name"))
			r.toolID = firstOf(block, "id", "tool_use_id", "tool_call_id")
			return
		}
	}
}

// elements are those of an array, or the one value that is there instead.
func elements(v []byte) (list [][]byte) {
	if len(v) == 0 || v[0] != '[' {
		return [][]byte{object(v)}
	}
	_ = jsontext.Elements(v, func(e []byte) error {
		list = append(list, object(e))
		return nil
	}) // it was valid as a part of the line
	return list
}

// firstOf is the first of the members that is a text with something in it.
func firstOf(obj []byte, names ...string) string {
	for _, name := range names {
		if s, _ := jsontext.String(jsontext.Get(obj, name)); s != "" {
			return s
		}
	}
	return ""
}

func or(s *string, other string) {
	if *s == "" {
		*s = other
	}
}

// ofTool finds the tool and its call where the message does not have them.
func (r *reading) ofTool(typ transcript.Type, parsed []byte) {
	use, result := typ == transcript.ToolUse, typ == transcript.ToolResult
	if result {
		or(&r.toolID, firstOf(parsed, "tool_use_id", "tool_call_id"))
		or(&r.tool, firstOf(parsed, "tool_name"))
		or(&r.content, readable(jsontext.Get(parsed, "content")))
	}
	if r.toolID == "" && (use || result) {
		r.ofNotification(parsed)
	}
	if use && r.tool == "" && firstOf(parsed, "type") == "tool_use" {
		r.tool = firstOf(parsed, "name")
		r.toolID = firstOf(parsed, "id", "tool_use_id", "tool_call_id")
	}
	or(&r.toolID, firstOf(parsed, "tool_call_id"))
	or(&r.tool, firstOf(parsed, "tool_name"))
}

// ofNotification looks into a notification: at its item, or at a call that the
// client was asked for.
func (r *reading) ofNotification(parsed []byte) {
	n := object(jsontext.Get(parsed, "notification"))
	item := object(jsontext.Get(n, "item"))
	switch {
	case n == nil:
	case item == nil:
		or(&r.toolID, firstOf(n, "callId"))
		or(&r.tool, firstOf(n, "tool"))
		if out := jsontext.Get(parsed, "result"); r.content == "" && len(out) > 0 && string(out) != "null" {
			if r.content = firstOf(parsed, "result"); r.content == "" {
				r.content = string(appendSpaced(nil, out))
			}
		}
	default:
		or(&r.toolID, firstOf(item, "id"))
		if command, ok := jsontext.String(jsontext.Get(item, "command")); ok {
			or(&r.tool, command)
		} else {
			or(&r.tool, jsontext.Text(jsontext.Get(item, "type")))
		}
		or(&r.content, firstOf(item, "aggregatedOutput"))
	}
}

// elsewhere is the content of an entry without a message.
func elsewhere(typ transcript.Type, parsed []byte) string {
	name := "content"
	if typ == transcript.Thinking {
		name = "thinking"
	}
	content := readable(jsontext.Get(parsed, name))
	or(&content, firstOf(jsontext.Get(parsed, "notification", "item"), "text"))
	or(&content, readable(parsed))
	return content
}

// readable makes a text of content, whatever form it has.
func readable(v []byte) string {
	if len(v) == 0 || string(v) == "null" {
		return ""
	}
	switch v[0] {
	case '"':
		return jsontext.Text(v)
	case '[':
		var parts []string
		_ = jsontext.Elements(v, func(e []byte) error {
			parts = append(parts, readable(e))
			return nil
		}) // it was valid as a part of the line
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
	case '{':
		for _, name := range []string{"text", "content", "thinking", "summary"} {
			if s := readable(jsontext.Get(v, name)); s != "" {
				return s
			}
		}
		if firstOf(v, "type") == "tool_use" {
			return calledWith(v)
		}
		return string(appendSpaced(nil, v))
	case 't':
		return "True"
	case 'f':
		return "False"
	}
	return string(appendSpaced(nil, v))
}

// calledWith is a call of a tool in one line.
func calledWith(v []byte) string {
	parts := []string{"[tool_use]"}
	for _, s := range []string{firstOf(v, "name"), firstOf(v, "id", "tool_use_id")} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if in := jsontext.Get(v, "input"); len(in) > 0 && string(in) != "null" {
		parts = append(parts, string(appendSpaced(nil, in)))
	}
	return strings.Join(parts, " ")
}

// appendSpaced appends JSON as that system writes it: a blank behind commas and
// colons, nothing escaped that need not be, fractions with their point.
func appendSpaced(dst, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		first := true
		_ = jsontext.Walk(v, func(key, value []byte) error {
			if !first {
				dst = append(dst, ", "...)
			}
			first = false
			dst = append(appendSpaced(dst, append(append([]byte{'"'}, key...), '"')), ": "...)
			dst = appendSpaced(dst, value)
			return nil
		}) // it was valid as a part of the line
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		first := true
		_ = jsontext.Elements(v, func(e []byte) error {
			if !first {
				dst = append(dst, ", "...)
			}
			first = false
			dst = appendSpaced(dst, e)
			return nil
		})
		return append(dst, ']')
	case '"':
		return appendPlainString(dst, jsontext.Text(v))
	}
	if f, err := strconv.ParseFloat(string(v), 64); err == nil && strings.ContainsAny(string(v), ".eE") {
		return appendFraction(dst, f)
	}
	return append(dst, v...)
}

func appendPlainString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	short := map[byte]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
	dst = append(dst, '"')
	for i := range len(s) {
		c := s[i]
		if e := short[c]; e != "" {
			dst = append(dst, e...)
		} else if c < 0x20 {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func appendFraction(dst []byte, f float64) []byte {
	if abs := max(f, -f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	at := len(dst)
	if dst = strconv.AppendFloat(dst, f, 'f', -1, 64); !strings.Contains(string(dst[at:]), ".") {
		dst = append(dst, ".0"...)
	}
	return dst
}
