package archive

import (
	"bytes"
	"strconv"

	"conclave/internal/jsontext"
	"conclave/session"
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

	of *collected // nil: it is the log of a run
}

// requests remembers the request ids of the messages seen last and when each had
// its last line, because a token_usage entry has its message's id only, and may
// come after lines of others.
type requests struct {
	ids  [16]asked
	next int
}

type asked struct {
	message, request string
	at               int64
}

func (r *requests) note(message, request string, at int64) {
	if message == "" {
		return
	}
	for i := range r.ids {
		if e := &r.ids[i]; e.message == message && e.request == request {
			e.at = at
			return
		}
	}
	r.ids[r.next%len(r.ids)] = asked{message, request, at}
	r.next++
}

func (r *requests) of(message string) asked {
	for _, e := range r.ids {
		if e.message == message {
			return e
		}
	}
	return asked{}
}

// add appends the item of a line, which stands at off in its block.
func (f *logFeed) add(dst []item, line []byte, off int) []item {
	it := item{off: off, size: len(line)}
	l := &f.line
	l.parse(line)
	it.at = transcript.ParseTime(jsontext.Bare(l.timestamp))
	it.level, it.event = intern(jsontext.Bare(l.level)), intern(jsontext.Bare(l.event))
	it.logger = f.sameLogger(jsontext.Bare(l.logger))
	if !l.entry {
		it.message = f.clean(jsontext.Text(l.message))
		it.origin = f.eventOrigin(l.context)
		it.tool = f.toolEvent(it.event, l.context)
		return append(dst, it)
	}
	if f.of != nil {
		f.of.meet(jsontext.Text(l.source), l.detail)
	}
	it.origin = f.origin(l.prompt, l.adapter, l.source, l.session)
	if it.typ = transcript.Type(intern(jsontext.Bare(l.typ))); it.typ != "" && !it.typ.Valid() {
		it.typ = transcript.Unknown
	}
	it.seq, _ = strconv.ParseInt(string(l.seq), 10, 64)
	if it.at == 0 { // a record without a time of its own
		it.at = transcript.ParseTime(jsontext.Bare(l.at))
	}
	var kept *keptSource
	if f.of != nil {
		kept = f.of.entry(l, it.origin.source, it.typ)
		if it.part = kept.Part; kept.At != 0 {
			it.at = kept.At
		}
	}
	f.facts(&it, l.detail, l.inside, kept)
	sum := uint32(0)
	if kept != nil {
		it.setLine(kept.sum, kept.size)
		sum = kept.sum
	}
	if searchable(it.typ) && !f.index.off {
		f.index.text = f.index.said.Append(f.index.text[:0], it.origin.adapter, it.typ, l.detail)
		if kept == nil {
			sum = lineSum(line)
		}
		f.index.index(&it, sum)
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

// facts takes from an entry's detail what stands in columns. Other writers' logs
// have no token_usage entries: the usage of a message counts when nobody counts it.
func (f *logFeed) facts(it *item, detail []byte, d [8][]byte, kept *keptSource) {
	told := session.FactsOf(it.typ, detail, d)
	if kept != nil && told.Usage != nil && told.Model == "" {
		told.Model = kept.Model
	}
	if it.typ == transcript.TokenUsage {
		f.counted = true
		of := f.request.of(told.Message)
		if told.Request = of.request; kept != nil && of.at != 0 {
			it.at = of.at
		}
	} else {
		if f.request.note(told.Message, told.Request, it.at); f.counted {
			told.Usage = nil
		}
	}
	it.take(told)
}

// toolEvent is the tool that a log record of another writer speaks of.
func (f *logFeed) toolEvent(event string, context []byte) string {
	if !isToolEvent(event) {
		return ""
	}
	c := jsontext.Members(context, "tool_name", "tool")
	if name := jsontext.Text(c[0]); name != "" {
		return name
	}
	return jsontext.Text(c[1])
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
	c := jsontext.Members(context, "prompt_name", "adapter")
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
	o := origin{prompt: jsontext.Text(prompt), adapter: jsontext.Text(adapter), source: jsontext.Text(source),
		session: jsontext.Text(session), project: f.project}
	if o.seat = seatOf(o.prompt); f.of != nil {
		f.of.name(&o)
	}
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
