package collect

import (
	"bytes"

	"conclave/internal/jsontext"
	"conclave/session/claude"
	"conclave/session/codex"
	"conclave/transcript"
)

// mapper is what the adapters' mappings have in common.
type mapper interface {
	// Append maps a line into items, which share its memory.
	Append(dst []transcript.Item, line []byte) []transcript.Item
	// Flush gives what was held back for a line that did not come.
	Flush() []transcript.Item
	// Unknown counts the entries of type unknown by name.
	Unknown() map[string]int64
}

type codexMapper struct {
	file    codex.File
	unknown map[string]int64
}

func (m *codexMapper) Append(dst []transcript.Item, line []byte) []transcript.Item {
	return append(dst, m.count(m.file.Map(line))...)
}

func (m *codexMapper) Flush() []transcript.Item { return m.count(m.file.Flush()) }

func (m *codexMapper) Unknown() map[string]int64 { return m.unknown }

func (m *codexMapper) count(items []transcript.Item) []transcript.Item {
	for i := range items {
		if items[i].Type == transcript.Unknown {
			m.unknown[unknownName(&items[i])]++
		}
	}
	return items
}

type claudeMapper struct{ *claude.Mapper }

func (m claudeMapper) Unknown() map[string]int64 { return m.Stats().Unknown }

// newMapper returns the mapper for a file of t. With reuse, items are valid
// until the next call.
func newMapper(t target, o claude.Options) mapper {
	if t.adapter == transcript.AdapterCodex {
		return &codexMapper{unknown: map[string]int64{}}
	}
	o.Source = t.source
	return claudeMapper{claude.NewMapper(o)}
}

// sniff says which adapter's a line is; "" when it is nobody's.
func sniff(line []byte) string {
	if codex.Sniff(line) != codex.FormatUnknown {
		return transcript.AdapterCodex
	}
	var typed, marked bool
	err := jsontext.Walk(line, func(key, value []byte) error {
		switch string(key) {
		case "type":
			typed = len(value) > 2 && value[0] == '"'
			marked = marked || simpleTypes[string(value)]
		case "sessionId", "session_id", "uuid", "parentUuid", "leafUuid":
			marked = true
		}
		return nil
	})
	if err == nil && typed && marked {
		return transcript.AdapterClaude
	}
	return ""
}

// simpleTypes are those of the specification's own table, and those that open a
// conversation over pipes.
var simpleTypes = map[string]bool{`"user"`: true, `"assistant"`: true, `"tool_result"`: true,
	`"thinking"`: true, `"summary"`: true, `"system"`: true, `"control_request"`: true, `"control_response"`: true}

// unknownName is what an entry of type unknown is counted under.
func unknownName(it *transcript.Item) string {
	for _, key := range []string{"subtype", "method", "rollout"} {
		if name, ok := jsontext.String(jsontext.Get(it.Detail, key)); ok && name != "" {
			return name
		}
	}
	return "no name"
}

// agentCalls calls note with the id of each call in items that starts a
// subagent.
func agentCalls(line []byte, items []transcript.Item, note func(id string)) {
	for i := range items {
		if items[i].Type != transcript.ToolUse ||
			!bytes.Contains(line, []byte(`"Agent"`)) && !bytes.Contains(line, []byte(`"Task"`)) {
			continue
		}
		name, _ := jsontext.String(jsontext.Get(items[i].Detail, "name"))
		id, _ := jsontext.String(jsontext.Get(items[i].Detail, "tool_use_id"))
		if (name == "Agent" || name == "Task") && id != "" {
			note(id)
		}
	}
}
