// Package transcript is one chronological account of what happens while an
// agent works, in one schema whatever the agent: the entry, its nine types,
// the Emitter that numbers and records entries, the summary, and the way back
// from log records to entries.
//
// It refuses to guess: a source line that it does not know is an entry of type
// Unknown, never an error and never lost. It stores nothing itself. What an
// Emitter is given goes to two places: the Store, which is synchronous and
// fails closed, and the Stream, which is derived from it, bounded, and neither
// blocks nor fails the caller.
//
// It promises that sequence numbers are gapless per source, that they are
// given under the store's lock and on success only, and that detail and raw
// carry the source's own bytes: nothing is decoded and encoded again on the
// way.
package transcript

import (
	"encoding/json"
	"strings"
	"time"
)

// Type is the canonical type of an entry. The vocabulary is closed.
type Type string

// The nine types.
const (
	UserMessage      Type = "user_message"      // a prompt delivered to the model
	AssistantMessage Type = "assistant_message" // text the model answered
	ToolUse          Type = "tool_use"          // the model asks for a tool
	ToolResult       Type = "tool_result"       // what the tool gave back
	Thinking         Type = "thinking"          // reasoning
	SystemEvent      Type = "system_event"      // compaction, interruption, life cycle
	TokenUsage       Type = "token_usage"       // consumption, once per model response
	Error            Type = "error"             // an error during the run
	Unknown          Type = "unknown"           // not recognised; kept as it came
)

// Types lists the vocabulary in the order of the specification.
func Types() []Type {
	return []Type{UserMessage, AssistantMessage, ToolUse, ToolResult, Thinking,
		SystemEvent, TokenUsage, Error, Unknown}
}

// Valid says whether t is one of the nine types.
func (t Type) Valid() bool {
	switch t {
	case UserMessage, AssistantMessage, ToolUse, ToolResult, Thinking,
		SystemEvent, TokenUsage, Error, Unknown:
		return true
	}
	return false
}

// The registered adapter names. An entry bears the name of the adapter that
// made it, and no other.
const (
	AdapterClaude   = "claude_agent_sdk"
	AdapterCodex    = "codex_app_server"
	AdapterOffline  = "offline"
	AdapterScripted = "scripted"
	AdapterHuman    = "human"
	AdapterACP      = "agent_client_protocol"
	AdapterModel    = "model"
	AdapterUnknown  = "unknown" // of files that no program is known to write
)

// onlyRead are the adapters of programs that are not driven: their names are
// given where their files are read (session/…).
var onlyRead = []string{"cline", "copilot_cli", "gemini_cli", "kilo", "opencode", "qwen_code"}

// Adapters lists the registered names.
func Adapters() []string {
	driven := []string{
		AdapterClaude, AdapterCodex, AdapterOffline, AdapterScripted, AdapterHuman, AdapterACP, AdapterModel,
	}
	return append(append(driven, onlyRead...), AdapterUnknown)
}

// Main is the source of an agent's own session.
const Main = "main"

const subagentPrefix = "subagent:"

// Subagent names the source of a subagent.
func Subagent(id string) string { return subagentPrefix + id }

// ValidSource says whether s is "main" or "subagent:{id}".
func ValidSource(s string) bool {
	return s == Main || strings.HasPrefix(s, subagentPrefix) && len(s) > len(subagentPrefix)
}

// Item is what an adapter knows of an entry before it is emitted: the
// envelope less what the Emitter adds (prompt name, adapter, number, time).
type Item struct {
	Type      Type
	Source    string // "" means Main
	SessionID string // "" when the source has none

	// Detail is a JSON object, the adapter's own payload. Bytes that stand
	// in it as they came from the source stay as they came. A detail that is
	// no JSON is kept as text under "undecodable" and costs an error event.
	Detail json.RawMessage

	// Checked says that Detail is known to be a JSON object, because whoever
	// made it has read every byte of what it is made of: it is not read again.
	Checked bool

	// Raw is the source line or notification, on the first entry that it
	// gave rise to; nil on the others.
	Raw []byte

	// Fault says why the source could not be read as what it should be, such
	// as a line that is no JSON. The entry is kept, and the log is told.
	Fault string
}

// Entry is one entry as it was emitted.
type Entry struct {
	PromptName string
	Adapter    string
	Type       Type
	Sequence   int64 // from 1, per source, without gaps
	Source     string
	Timestamp  time.Time // when the entry was captured, UTC
	SessionID  string
	Detail     json.RawMessage
	Raw        []byte
}
