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
type reading struct {
	role, content, tool, toolID string

	calls bool // a block of its message calls a tool: the first one counts
}

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
		m := membersOf(parsed)
		r.message(object(m["message"]))
		r.ofTool(typ, m)
		if r.content == "" {
			r.content = elsewhere(typ, parsed, m)
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
	got := jsontext.Members(m, "role", "content")
	r.role, _ = jsontext.String(got[0])
	content := got[1]
	if len(content) == 0 || content[0] != '[' {
		r.content = readable(content)
		r.called(membersOf(object(content)))
		return
	}
	var parts []string
	_ = jsontext.Elements(content, func(e []byte) error {
		block := membersOf(object(e))
		if part := readableOf(e, block); part != "" {
			parts = append(parts, part)
		}
		r.called(block)
		return nil
	}) // it was valid as a part of the line
	r.content = strings.Join(parts, "\n")
}

// called takes the tool of a block that calls one, if none was called before.
func (r *reading) called(block members) {
	if !r.calls && jsontext.Text(block["type"]) == "tool_use" {
		r.calls, r.tool = true, jsontext.Text(block["name"])
		r.toolID = block.first("id", "tool_use_id", "tool_call_id")
	}
}

// members are those of an object, read once: a line may be long, and much is
// asked of it.
type members map[string][]byte

func membersOf(obj []byte) members {
	m := members{}
	_ = jsontext.Walk(obj, func(key, value []byte) error {
		m[string(key)] = value
		return nil
	}) // it was valid as a part of the line
	return m
}

// first is the first of the members that is a text with something in it.
func (m members) first(names ...string) string {
	for _, name := range names {
		if s, _ := jsontext.String(m[name]); s != "" {
			return s
		}
	}
	return ""
}

func firstOf(obj []byte, names ...string) string { return membersOf(obj).first(names...) }

func or(s *string, other string) {
	if *s == "" {
		*s = other
	}
}

// ofTool finds the tool and its call where the message does not have them.
func (r *reading) ofTool(typ transcript.Type, m members) {
	use, result := typ == transcript.ToolUse, typ == transcript.ToolResult
	if result {
		or(&r.toolID, m.first("tool_use_id", "tool_call_id"))
		or(&r.tool, m.first("tool_name"))
		if r.content == "" {
			r.content = readable(m["content"])
		}
	}
	if r.toolID == "" && (use || result) {
		r.ofNotification(m)
	}
	if use && r.tool == "" && m.first("type") == "tool_use" {
		r.tool = m.first("name")
		r.toolID = m.first("id", "tool_use_id", "tool_call_id")
	}
	or(&r.toolID, m.first("tool_call_id"))
	or(&r.tool, m.first("tool_name"))
}

// ofNotification looks into a notification: at its item, or at a call that the
// client was asked for.
func (r *reading) ofNotification(m members) {
	n := object(m["notification"])
	item := object(jsontext.Get(n, "item"))
	switch {
	case n == nil:
	case item == nil:
		or(&r.toolID, firstOf(n, "callId"))
		or(&r.tool, firstOf(n, "tool"))
		if out := m["result"]; r.content == "" && len(out) > 0 && string(out) != "null" {
			if r.content = m.first("result"); r.content == "" {
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
func elsewhere(typ transcript.Type, parsed []byte, m members) string {
	name := "content"
	if typ == transcript.Thinking {
		name = "thinking"
	}
	content := readable(m[name])
	if content == "" {
		content = firstOf(jsontext.Get(m["notification"], "item"), "text")
	}
	if content == "" {
		content = readable(parsed)
	}
	return content
}

// readable makes a text of content, whatever form it has.
func readable(v []byte) string {
	if len(v) == 0 || string(v) == "null" {
		return ""
	}
	switch v[0] {
	case '"':
		return string(jsontext.AppendText(nil, v))
	case '[':
		var parts []string
		_ = jsontext.Elements(v, func(e []byte) error {
			parts = append(parts, readable(e))
			return nil
		}) // it was valid as a part of the line
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
	case '{':
		return readableOf(v, membersOf(v))
	case 't':
		return "True"
	case 'f':
		return "False"
	}
	return string(appendSpaced(nil, v))
}

// readableOf is readable where the members of an object are known.
func readableOf(v []byte, m members) string {
	if object(v) == nil {
		return readable(v)
	}
	for _, name := range []string{"text", "content", "thinking", "summary"} {
		if s := readable(m[name]); s != "" {
			return s
		}
	}
	if m.first("type") == "tool_use" {
		return calledWith(m)
	}
	return string(appendSpaced(nil, v))
}

// calledWith is a call of a tool in one line.
func calledWith(m members) string {
	parts := []string{"[tool_use]"}
	for _, s := range []string{m.first("name"), m.first("id", "tool_use_id")} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if in := m["input"]; len(in) > 0 && string(in) != "null" {
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
	dst = append(dst, '"')
	from := 0 // what is not yet copied begins there
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if short := strings.IndexByte("\"\\\n\r\t\b\f", c); short >= 0 {
			dst = append(dst, '\\', `"\nrtbf`[short])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
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
