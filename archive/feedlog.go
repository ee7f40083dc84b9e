package archive

import (
	"bytes"
	"strconv"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// logFeed makes items of log lines: those of records, of bundles, of log files.
type logFeed struct {
	index   indexer
	project string
	origins map[origin]*origin
	last    *origin
	lastKey [5][]byte // what last was made of
	request requests
	line    logLine
	logger  string
	counted bool // the log has token_usage entries of its own
}

// requests remembers the request ids of the messages seen last, because a
// token_usage entry has its message's id only.
type requests struct {
	ids  [16]struct{ message, request string }
	next int
}

func (r *requests) note(message, request string) {
	if message == "" || r.of(message) == request {
		return
	}
	r.ids[r.next%len(r.ids)] = struct{ message, request string }{message, request}
	r.next++
}

func (r *requests) of(message string) string {
	for _, e := range r.ids {
		if e.message == message {
			return e.request
		}
	}
	return ""
}

// add appends the item of a line, which stands at off in its block.
func (f *logFeed) add(dst []item, line []byte, off int) []item {
	it := item{off: off, size: len(line)}
	l := &f.line
	l.parse(line)
	it.at = transcript.ParseTime(bare(l.timestamp))
	it.level, it.logger, it.event = intern(bare(l.level)), f.sameLogger(bare(l.logger)), intern(bare(l.event))
	if !l.entry {
		it.message = f.clean(str(l.message))
		it.origin = f.eventOrigin(l.context)
		it.tool = f.toolEvent(it.event, l.context)
		return append(dst, it)
	}
	it.origin = f.origin(l.prompt, l.adapter, l.source, l.session)
	if it.typ = transcript.Type(intern(bare(l.typ))); it.typ != "" && !it.typ.Valid() {
		it.typ = transcript.Unknown
	}
	it.seq, _ = strconv.ParseInt(string(l.seq), 10, 64)
	if at := transcript.ParseTime(bare(l.at)); at != 0 {
		it.at = at
	}
	f.detail(&it, l.detail, l.inside)
	if searchable(it.typ) && !f.index.off {
		f.index.text = textOf(f.index.text[:0], it.origin.adapter, it.typ, l.detail)
		f.index.index(&it, lineSum(line))
	}
	return append(dst, it)
}

// sameLogger lets records share the memory of their logger's name.
func (f *logFeed) sameLogger(name []byte) string {
	if string(name) != f.logger {
		f.logger = string(name)
	}
	return f.logger
}

// detail takes from an entry's detail what stands in columns.
func (f *logFeed) detail(it *item, detail []byte, d [8][]byte) {
	it.toolID, it.tool, it.subtype = str(d[0]), str(d[1]), intern(bare(d[3]))
	it.failed = string(d[2]) == "true"
	typ := it.typ
	if typ == transcript.TokenUsage {
		f.counted = true
		usage := d[4]
		if usage == nil {
			usage = jsontext.Get(detail, "notification", "tokenUsage", "last")
		}
		if u, ok := readFigures(usage); ok {
			u.model = str(d[5])
			u.key = transcript.ResponseKey(str(d[6]), f.request.of(str(d[6])), it.origin.session, it.at, u.Usage)
			it.usage = &u
		}
		return
	}
	entry := d[7]
	if entry != nil && bytes.Contains(entry, []byte(`"usage"`)) {
		f.message(it, entry)
	}
	if it.toolID != "" {
		return
	}
	switch {
	case entry != nil && bytes.Contains(entry, []byte(`tool_`)):
		findTool(it, entry)
		if it.tool == "" {
			it.tool = str(jsontext.Get(detail, "tool_name"))
		}
	case typ == transcript.ToolUse || typ == transcript.ToolResult:
		f := members(jsontext.Get(detail, "notification", "item"), "id", "tool", "type", "status")
		it.toolID, it.tool, it.failed = str(f[0]), str(f[1]), string(bare(f[3])) == "failed"
		if it.tool == "" {
			it.tool = str(f[2])
		}
	}
}

// message notes the ids of a message, and its usage when nobody counts it:
// other writers' logs have no token_usage entries.
func (f *logFeed) message(it *item, entry []byte) {
	e := members(entry, "message", "requestId")
	m := members(e[0], "id", "usage", "model")
	id, request := str(m[0]), str(e[1])
	f.request.note(id, request)
	if m[1] == nil || f.counted || str(m[2]) == "<synthetic>" {
		return
	}
	if u, ok := readFigures(m[1]); ok {
		u.model, u.key = str(m[2]), transcript.ResponseKey(id, request, it.origin.session, it.at, u.Usage)
		it.usage = &u
	}
}

// findTool looks into another writer's entry for a tool call or its result: it
// is such a block, or a message that has one.
func findTool(it *item, entry []byte) {
	take := func(v []byte) error {
		b := members(v, "type", "id", "name", "tool_use_id", "is_error")
		switch typ := string(bare(b[0])); {
		case it.toolID != "":
		case typ == "tool_use":
			it.toolID, it.tool = str(b[1]), str(b[2])
		case typ == "tool_result":
			it.toolID, it.failed = str(b[3]), string(b[4]) == "true"
		}
		return nil
	}
	_ = take(entry)
	if content := jsontext.Get(entry, "message", "content"); len(content) > 0 && content[0] == '[' {
		_ = jsontext.Elements(content, take)
	}
}

// toolEvent is the tool that a log record of another writer speaks of.
func (f *logFeed) toolEvent(event string, context []byte) string {
	if !isToolEvent(event) {
		return ""
	}
	c := members(context, "tool_name", "tool")
	if name := str(c[0]); name != "" {
		return name
	}
	return str(c[1])
}

func isToolEvent(event string) bool {
	e := bytes.ToLower([]byte(event))
	return bytes.Contains(e, []byte("tool")) && (bytes.Contains(e, []byte("call")) ||
		bytes.Contains(e, []byte("result")) || bytes.Contains(e, []byte("execut")))
}

func (f *logFeed) clean(text string) string {
	if f.index.redactor == nil || text == "" {
		return text
	}
	out, _ := f.index.redactor.Bytes(nil, []byte(text))
	return string(out)
}

func (f *logFeed) eventOrigin(context []byte) *origin {
	c := members(context, "prompt_name", "adapter")
	return f.origin(c[0], c[1], nil, nil)
}

// origin interns what the entries of one agent share; mostly it is that of the
// entry before.
func (f *logFeed) origin(prompt, adapter, source, session []byte) *origin {
	key := [...][]byte{prompt, adapter, source, session}
	if f.last != nil {
		same := true
		for i, k := range key {
			same = same && bytes.Equal(k, f.lastKey[i])
		}
		if same {
			return f.last
		}
	}
	o := origin{prompt: str(prompt), adapter: str(adapter), source: str(source), session: str(session), project: f.project}
	o.seat = seatOf(o.prompt)
	if f.origins == nil {
		f.origins = map[origin]*origin{}
	}
	if f.origins[o] == nil {
		f.origins[o] = &o
	}
	f.last = f.origins[o]
	for i, k := range key {
		f.lastKey[i] = append(f.lastKey[i][:0], k...)
	}
	return f.last
}

// intern returns one string for the few words that stand on most lines.
func intern(b []byte) string {
	switch string(b) {
	case "transcript.entry":
		return "transcript.entry"
	case "DEBUG":
		return "DEBUG"
	case "INFO":
		return "INFO"
	case "":
		return ""
	}
	for _, t := range entryTypes {
		if string(b) == string(t) {
			return string(t)
		}
	}
	return string(b)
}

var entryTypes = transcript.Types()
