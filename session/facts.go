package session

import (
	"bytes"
	"cmp"

	"conclave/internal/jsontext"
	"conclave/session/claude"
	"conclave/session/codex"
	"conclave/transcript"
)

// FactNames are the members of a detail that FactsOf needs.
var FactNames = []string{"tool_use_id", "name", "is_error", "subtype", "usage", "model", "message_id", "sdk_entry"}

// FactsOf are what an entry on a record tells beside its words; d are the
// members of its detail by FactNames. Other writers' entries have them elsewhere:
// those of tools in the line or the notification, the ids of a message and its
// usage in the line.
func FactsOf(typ transcript.Type, detail []byte, d [8][]byte) Facts {
	f := Facts{ToolID: jsontext.Text(d[0]), Tool: jsontext.Text(d[1]), Failed: string(d[2]) == "true"}
	f.Subtype = string(jsontext.Bare(d[3]))
	if typ == transcript.TokenUsage {
		if f.Subtype == "turn_completed" {
			if f.Sum = codex.SumOf(detail); f.Sum != nil {
				return f
			}
		}
		usage := d[4]
		if usage == nil {
			usage = jsontext.Get(detail, "notification", "tokenUsage", "last")
		}
		if u, ok := transcript.ReadUsage(usage); ok {
			f.Usage, f.Model, f.Message = &u, jsontext.Text(d[5]), jsontext.Text(d[6])
			if f.Message == "" {
				f.Message = codex.Response(detail)
			}
		}
		return f
	}
	line := d[7]
	if typ == transcript.Unknown && f.Subtype == claude.SumLine {
		f.Sum = claude.SumOf(line)
		return f
	}
	if line != nil && bytes.Contains(line, []byte(`"usage"`)) {
		findUsage(&f, line)
	}
	if f.ToolID != "" {
		return f
	}
	switch {
	case line != nil && bytes.Contains(line, []byte(`tool_`)):
		if findTool(&f, line); f.Tool == "" {
			f.Tool = jsontext.Text(jsontext.Get(detail, "tool_name"))
		}
	case typ == transcript.ToolUse || typ == transcript.ToolResult:
		m := jsontext.Members(jsontext.Get(detail, "notification", "item"), "id", "tool", "type", "status")
		f.ToolID, f.Failed = jsontext.Text(m[0]), f.Failed || string(m[3]) == `"failed"`
		f.Tool = cmp.Or(f.Tool, jsontext.Text(m[1]), jsontext.Text(m[2]))
	}
	return f
}

// findUsage takes the ids of the message on a line, and its usage if it is
// somebody's.
func findUsage(f *Facts, line []byte) {
	e := jsontext.Members(line, "message", "requestId")
	m := jsontext.Members(e[0], "id", "usage", "model")
	f.Message, f.Request, f.Model = jsontext.Text(m[0]), jsontext.Text(e[1]), jsontext.Text(m[2])
	if u, ok := transcript.ReadUsage(m[1]); ok && f.Model != "<synthetic>" {
		f.Usage = &u
	}
}

// findTool looks into another writer's entry for a tool call or its result: it
// is such a block, or a message that has one.
func findTool(f *Facts, line []byte) {
	take := func(v []byte) error {
		b := jsontext.Members(v, "type", "id", "name", "tool_use_id", "is_error")
		switch {
		case f.ToolID != "":
		case string(b[0]) == `"tool_use"`:
			f.ToolID, f.Tool = jsontext.Text(b[1]), jsontext.Text(b[2])
		case string(b[0]) == `"tool_result"`:
			f.ToolID, f.Failed = jsontext.Text(b[3]), string(b[4]) == "true"
		}
		return nil
	}
	_ = take(line)
	if content := jsontext.Get(line, "message", "content"); len(content) > 0 && content[0] == '[' {
		_ = jsontext.Elements(content, take)
	}
}
