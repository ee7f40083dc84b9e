package archive

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// appendString appends the text of the JSON string b, which must be valid.
func appendString(dst, b []byte) []byte {
	if len(b) < 2 || b[0] != '"' {
		return dst
	}
	b = b[1 : len(b)-1]
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 >= len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			var r rune
			r, b = unicodeEscape(b)
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}

// unicodeEscape reads the four digits of an escape, and of a surrogate its
// other half.
func unicodeEscape(b []byte) (rune, []byte) {
	hex4 := func(b []byte) (rune, bool) {
		if len(b) < 4 {
			return utf8.RuneError, false
		}
		n, err := strconv.ParseUint(string(b[:4]), 16, 32)
		return rune(n), err == nil
	}
	r, ok := hex4(b)
	if !ok {
		return utf8.RuneError, b[min(4, len(b)):]
	}
	b = b[4:]
	if utf16.IsSurrogate(r) {
		if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
			if low, ok := hex4(b[2:]); ok {
				if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
					return whole, b[6:]
				}
			}
		}
		return utf8.RuneError, b
	}
	return r, b
}

// appendStrings appends the text of every string in a JSON value, each on
// lines of its own; members are named.
func appendStrings(dst, v []byte, depth int) []byte {
	if len(v) == 0 || depth > 40 {
		return dst
	}
	switch v[0] {
	case '"':
		dst = append(appendString(dst, v), '\n')
	case '{':
		_ = jsontext.Walk(v, func(key, value []byte) error {
			if len(value) > 0 && value[0] != '{' && value[0] != '[' {
				dst = append(append(dst, key...), ": "...)
			}
			dst = appendStrings(dst, value, depth+1)
			return nil
		})
	case '[':
		_ = jsontext.Elements(v, func(value []byte) error {
			dst = appendStrings(dst, value, depth+1)
			return nil
		})
	case 'n':
		dst = append(dst, '\n')
	default:
		dst = append(append(dst, v...), '\n')
	}
	return dst
}

// textOf appends what an entry says, in words: what was said or thought, what
// a tool was called with, what it gave back. detail is that of the entry.
func textOf(dst []byte, adapter string, typ transcript.Type, detail []byte) []byte {
	switch typ {
	case transcript.TokenUsage, transcript.Unknown:
		return dst
	}
	var out []byte
	switch adapter {
	case transcript.AdapterClaude:
		out = claudeText(dst, typ, detail)
	case transcript.AdapterCodex:
		out = codexText(dst, typ, detail)
	default:
		out = plainText(dst, typ, detail)
	}
	return bytes.TrimRight(out, "\n")
}

// members finds several members of an object in one walk.
func members(object []byte, names ...string) (found [8][]byte) {
	_ = jsontext.Walk(object, func(key, value []byte) error {
		for i, n := range names {
			if string(key) == n {
				found[i] = value
			}
		}
		return nil
	})
	return found
}

// membersAt is members of the object that begins at i in b.
func membersAt(b []byte, i int, names ...string) (found [8][]byte) {
	_, _ = jsontext.Enter(b, i, func(key []byte, at int) (int, error) {
		end, err := jsontext.Skip(b, at)
		for i, n := range names {
			if err == nil && string(key) == n {
				found[i] = b[at:end]
			}
		}
		return end, err
	})
	return found
}

// resultText appends the texts of a tool result: a string, or blocks of which
// those that are no text (images) say nothing.
func resultText(dst, content []byte) []byte {
	if len(content) == 0 || content[0] == '"' {
		return appendString(dst, content)
	}
	_ = jsontext.Elements(content, func(v []byte) error {
		if t := jsontext.Get(v, "text"); t != nil {
			dst = append(appendString(dst, t), '\n')
		}
		return nil
	})
	return dst
}

// codexText looks where the program's several formats have their words.
func codexText(dst []byte, typ transcript.Type, detail []byte) []byte {
	d := members(detail, "text", "notification", "error", "call", "result")
	if d[0] != nil {
		return appendString(dst, d[0])
	}
	body := d[1]
	if item := jsontext.Get(body, "item"); item != nil {
		body = item
	}
	var names []string
	switch typ {
	case transcript.ToolUse:
		names = []string{"arguments", "input", "command", "changes", "query", "action"}
	case transcript.ToolResult:
		names = []string{"output", "aggregatedOutput", "aggregated_output", "result", "contentItems", "changes", "error"}
	case transcript.Error:
		names = []string{"error", "message"}
	default:
		names = []string{"text", "message", "content", "summary"}
	}
	found := members(body, names...)
	start := len(dst)
	for i := range names {
		v := found[i]
		if len(v) > 0 && v[0] == '"' && typ == transcript.ToolUse && names[i] == "arguments" {
			if inner := appendString(nil, v); jsontext.Valid(inner) {
				v = inner // arguments are JSON within a string
			}
		}
		if len(v) > 0 && string(v) != "null" {
			dst = appendStrings(dst, v, 0)
		}
	}
	if len(dst) == start {
		for _, v := range d[2:5] {
			dst = appendStrings(dst, v, 0)
		}
	}
	return dst
}

// plainText serves the adapters that speak for themselves: their details have
// the text under its own name.
func plainText(dst []byte, typ transcript.Type, detail []byte) []byte {
	d := members(detail, "text", "content", "message", "thinking", "input", "output", "error")
	order := []int{0, 1, 3, 2, 6}
	switch typ {
	case transcript.ToolUse:
		order = []int{4, 0, 1}
	case transcript.ToolResult:
		order = []int{5, 1, 0, 6}
	}
	for _, i := range order {
		if v := d[i]; len(v) > 0 && string(v) != "null" {
			return appendStrings(dst, v, 0)
		}
	}
	return dst
}
