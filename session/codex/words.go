package codex

import (
	"bytes"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// Time is that of the last line.
func (f *FileMapper) Time() int64 { return timeOf(f.line, f.format == FormatRollout) }

// Facts are what an item of the last line tells beside its words.
func (f *FileMapper) Facts(item int) kind.Facts {
	it := &f.items[item]
	d := jsontext.Members(it.Detail, "tool_use_id", "name", "is_error", "subtype", "usage", "item_id")
	if d[0] == nil {
		d[0] = d[5]
	}
	facts := kind.Facts{Subtype: jsontext.Text(d[3])}
	switch it.Type {
	case transcript.ToolUse, transcript.ToolResult:
		facts.ToolID, facts.Tool, facts.Failed = jsontext.Text(d[0]), jsontext.Text(d[1]), string(d[2]) == "true"
	case transcript.TokenUsage:
		if facts.Sum = SumOf(it.Detail); facts.Sum != nil {
			return facts
		}
		if u, ok := transcript.ReadUsage(d[4]); ok {
			facts.Usage, facts.Model, facts.Message = &u, f.model, Response(it.Detail)
		}
	}
	return facts
}

// Words appends the words of an item of the last line.
func (f *FileMapper) Words(dst []byte, item int) []byte {
	it := &f.items[item]
	return AppendWords(dst, it.Type, it.Detail)
}

// words are the members of an item that hold words, by type.
var words = map[transcript.Type][]string{
	transcript.ToolUse: {"arguments", "input", "command", "changes", "query", "action"},
	transcript.ToolResult: {"output", "aggregatedOutput", "aggregated_output", "result", "contentItems", "changes",
		"error"},
	transcript.Error: {"error", "message"},
}

// AppendWords appends the words of an entry of that type and detail: it looks
// where the program's several formats have them.
func AppendWords(dst []byte, typ transcript.Type, detail []byte) []byte {
	d := jsontext.Members(detail, "text", "notification", "error", "call", "result")
	if d[0] != nil {
		return bytes.TrimRight(jsontext.AppendText(dst, d[0]), "\n")
	}
	body := d[1]
	if item := jsontext.Get(body, "item"); item != nil {
		body = item
	}
	names, ok := words[typ]
	if !ok {
		names = []string{"text", "message", "content", "summary"}
	}
	found := jsontext.Members(body, names...)
	start := len(dst)
	for i := range names {
		v := found[i]
		if len(v) > 0 && v[0] == '"' && typ == transcript.ToolUse && names[i] == "arguments" {
			if inner := jsontext.AppendText(nil, v); jsontext.Valid(inner) {
				v = inner // arguments are JSON within a string
			}
		}
		if len(v) > 0 && string(v) != "null" {
			dst = jsontext.AppendTexts(dst, v)
		}
	}
	if len(dst) == start {
		for _, v := range d[2:5] {
			dst = jsontext.AppendTexts(dst, v)
		}
	}
	return bytes.TrimRight(dst, "\n")
}
