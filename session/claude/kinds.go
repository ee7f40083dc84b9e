package claude

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// lineOf is one line while it is being mapped.
type lineOf struct {
	m    *Mapper
	line []byte
	*scanner
	sessionID string
	out       []transcript.Item
	first     int // index in out of the line's first item
	block     int // the block at hand, -1 where there is none
	shallow   bool
}

// told is what the mapper remembers of an item beside its detail.
type told struct {
	typ     transcript.Type
	subtype string
	block   int // -1: the line has none, or the item is of all of it
	usage   *usage
}

// add appends an item. extra are further members of its detail, each with a
// comma in front. The first item of a line has the line itself in
// detail.sdk_entry; later ones have the uuid of their line, by which the first
// is found, and, in extra, the block that they stand for as their sdk_entry.
func (l *lineOf) add(t transcript.Type, extra []byte) {
	item := transcript.Item{Type: t, Source: l.m.opts.Source, SessionID: l.sessionID, Checked: l.shallow}
	tail := l.m.tail
	var d []byte
	if len(l.out) == l.first {
		if !l.m.opts.NoRaw {
			item.Raw = l.line
		}
		lacking := l.lacking(t)
		d = l.m.space(len(`{"sdk_entry":}`) + len(l.line) + len(lacking) + len(extra) + len(tail))
		d = append(d, `{"sdk_entry":`...)
		if line := bytes.TrimLeft(l.line, " \t\r"); lacking != nil {
			d = append(append(append(d, '{'), lacking...), line[1:]...)
		} else {
			d = append(d, l.line...)
		}
	} else {
		of := l.name()
		d = l.m.space(len(`{"of":}`) + len(of) + len(extra) + len(tail))
		d = append(append(d, `{"of":`...), of...)
	}
	d = append(append(d, extra...), tail...)
	item.Detail = append(d, '}')
	l.out = append(l.out, item)
	l.m.told = append(l.m.told, told{typ: t, block: l.block})
}

// name is what the further items of a line call it: its uuid, or for a line
// without one the beginning of the SHA-256 of its bytes, which are the raw of
// its first item.
func (l *lineOf) name() []byte {
	if l.env.uuid != nil {
		return l.env.uuid
	}
	sum := sha256.Sum256(l.line)
	return fmt.Appendf(nil, `"sha256:%x"`, sum[:8])
}

// lacking are members, each with a comma behind it, that the line lacks whose
// first item is of a tool: the other readers of the format look for them in front
// of the line and not in its blocks, and without them they do not know which call
// a result answers. nil: nothing is lacking.
func (l *lineOf) lacking(t transcript.Type) []byte {
	if l.block < 0 || l.env.toolUseID != nil {
		return nil
	}
	_, blocks := l.said()
	switch b := &blocks[l.block]; {
	case t == transcript.ToolResult && b.toolUseID != nil:
		return append(append([]byte(`"tool_use_id":`), b.toolUseID...), ',')
	case t == transcript.ToolUse && b.id != nil && b.name != nil && string(b.typ) != "tool_use":
		return slices.Concat([]byte(`"tool_call_id":`), b.id, []byte(`,"tool_name":`), b.name, []byte(","))
	}
	return nil
}

// event adds an item with a subtype and no more.
func (l *lineOf) event(t transcript.Type, subtype string) { l.addEvent(t, nil, subtype) }

func (l *lineOf) addEvent(t transcript.Type, extra []byte, subtype string) {
	l.add(t, appendMember(extra, "subtype", subtype))
	l.m.told[len(l.m.told)-1].subtype = subtype
}

func (l *lineOf) unknown(name string, recognised bool) {
	l.m.stats.Unknown[name]++
	if !recognised {
		l.m.stats.Unrecognised[name]++
	}
	l.event(transcript.Unknown, name)
}

func (l *lineOf) unrecognised(name string) { l.m.stats.Unrecognised[name]++ }

// notJSON keeps a line that has no detail to embed it in.
func (l *lineOf) notJSON(name string) {
	l.m.stats.Unknown[name]++
	l.m.stats.Unrecognised[name]++
	item := transcript.Item{Type: transcript.Unknown, Source: l.m.opts.Source, SessionID: l.m.session}
	if !l.m.opts.NoRaw {
		item.Raw = l.line
		if item.Raw == nil {
			item.Raw = []byte{} // an empty line is there, too
		}
	}
	if len(bytes.TrimSpace(l.line)) > 0 {
		item.Fault = "a line that is " + name
	}
	item.Detail = append(append(appendMember([]byte(`{"bytes":`+itoa(len(l.line))), "subtype", name), l.m.tail...), '}')
	l.out = append(l.out, item)
	l.m.told = append(l.m.told, told{typ: transcript.Unknown, subtype: name, block: -1})
}

// dispatch decides by the type of the line. The type comes first, always: a
// copy of a request has a message with a role too.
func (l *lineOf) dispatch() {
	typ := l.env.typ
	if known := l.m.opts.Known; known != nil && l.env.uuid != nil &&
		known(l.sessionID, string(jsontext.Bare(l.env.uuid))) {
		l.event(transcript.SystemEvent, "repeated")
		return
	}
	switch string(typ) {
	case "user":
		l.user()
	case "assistant":
		l.assistant()
	case "system":
		l.system()
	case "attachment":
		if l.env.queued() {
			l.add(transcript.UserMessage, nil)
			return
		}
		l.event(transcript.SystemEvent, "attachment/"+string(l.env.attachmentType))
	case "api-request", "api-request-blob", "api-request-shape":
		l.event(transcript.SystemEvent, "model_request")
	case "summary":
		l.event(transcript.SystemEvent, "compaction")
	case "tool_result":
		l.add(transcript.ToolResult, toolResultExtra(nil, l.env.toolUseID, l.env.isError))
	case resultFile:
		var extra []byte
		if l.env.call != nil {
			extra = appendRaw(nil, "call", l.env.call)
		}
		l.addEvent(transcript.ToolResult, extra, ResultFile)
	case "thinking":
		l.add(transcript.Thinking, nil)
	case "":
		l.unknown("no type", false)
	default:
		l.unknown(string(typ), housekeeping[string(typ)])
	}
}

// housekeeping are the types that the program is known to write for itself:
// nothing was said or done by them.
var housekeeping = setOf("queue-operation", "last-prompt", "mode", "permission-mode", "atis-latch",
	"tools-used", SumLine, "ai-title", "custom-title", "agent-name", "file-history-snapshot",
	"file-history-delta", "progress", "continued-in", "resume-head-vouch", "content-replacement",
	"data-flow-records", "data-flow-incomplete", "derived-from", "fork-context-ref", "frame-link",
	"ended-by-model", "tag", "relocated", "agent-color", "agent-setting", "pr-link", "bridge-session",
	"history-suppression", "attribution-snapshot", "isolation-latch", "session-owner", "dev-mods",
	"memory-mode", "worktree-state", "observer-ref")

func setOf(names ...string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}

func (l *lineOf) system() {
	switch sub := string(l.env.subtype); sub {
	case "compact_boundary":
		l.event(transcript.SystemEvent, "compaction")
	case "api_error":
		l.apiError(true)
	case "":
		l.event(transcript.SystemEvent, "system")
	default:
		l.event(transcript.SystemEvent, sub)
	}
}

// user maps a line of what the model was given: a prompt, what tools gave
// back, or what the program put there on its own. What was said is one entry,
// of however many texts and images it is made, and comes first; of what tools
// gave back each is one.
func (l *lineOf) user() {
	content, blocks := l.said()
	aside := l.aside(content, blocks)
	spoken := 0
	for i := range blocks {
		switch string(blocks[i].typ) {
		case "tool_result":
			continue
		case "text", "image", "document":
		default:
			l.unrecognised("user block " + string(blocks[i].typ))
		}
		spoken++
		l.block = i
	}
	var extra []byte
	if spoken == 1 {
		extra = l.blockExtra(&blocks[l.block])
	} else {
		l.block = -1
	}
	switch {
	case spoken == 0 && len(blocks) > 0:
	case aside != "":
		l.addEvent(transcript.SystemEvent, extra, aside)
	default:
		l.add(transcript.UserMessage, extra)
	}
	for l.block = range blocks {
		if b := &blocks[l.block]; string(b.typ) == "tool_result" {
			l.add(transcript.ToolResult, toolResultExtra(l.blockExtra(b), b.toolUseID, b.isError))
		}
	}
	l.block = -1
}

// said returns the content of the message and its blocks; in the simple form
// the line has its content without a message.
func (l *lineOf) said() (content []byte, blocks []block) {
	if l.msg.content != nil {
		return l.msg.content, l.blocks
	}
	return l.env.content, l.plainBlocks
}

// aside says what kind of remark of the program's own a user line is, "" when
// a person or a driver said it.
func (l *lineOf) aside(content []byte, blocks []block) string {
	e := &l.env
	switch {
	case isTrue(e.isCompactSummary):
		return "compaction_summary"
	case isTrue(e.isMeta):
		return "meta"
	case string(e.originKind) == "task-notification":
		return "task_notification"
	case e.promptSource != nil:
		return "" // typed or sent: whatever it looks like, it is a prompt
	}
	text := content
	if len(blocks) > 0 {
		text = blocks[0].text
	}
	if startsWith(text, promptCommand) {
		return "" // a command that is a prompt: the model was sent it
	}
	for _, tag := range commandTags {
		if startsWith(text, tag) {
			return "command"
		}
	}
	if startsWith(text, "[Request interrupted by user") {
		return "interrupt"
	}
	return ""
}

// promptCommand begins the line of a slash command that the model is to answer.
// One that the program carries out by itself begins with its name.
const promptCommand = "<command-message>"

var commandTags = []string{"<command-name>", "<local-command-stdout>",
	"<local-command-stderr>", "<local-command-caveat>", "<bash-input>", "<bash-stdout>", "<bash-stderr>"}

// blockExtra begins the detail of a block: its place in the line, and for all
// but the first item of a line the block itself.
func (l *lineOf) blockExtra(b *block) []byte {
	extra := append([]byte(`,"block_index":`), itoa(l.block)...)
	if len(l.out) > l.first {
		extra = appendRaw(extra, "sdk_entry", b.raw)
	}
	return extra
}

func toolResultExtra(extra, id, isError []byte) []byte {
	if id != nil {
		extra = appendRaw(extra, "tool_use_id", id)
	}
	if isTrue(isError) {
		extra = append(extra, `,"is_error":true`...)
	}
	return extra
}
