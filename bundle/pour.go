package bundle

import (
	"bytes"
	"encoding/json"

	"conclave/audit"
	"conclave/bundle/redact"
	"conclave/record"
	"conclave/transcript"
)

// pour takes the frames of a record, cleaned and in order, and gives each file
// of the bundle its part of them.
type pour struct {
	tally    *tally
	progress func(done int64)

	logs, transcript               *pieces
	receipts, input, output, after *spool
	stripper                       *record.Stripper

	seen     int64 // bytes
	inputs   int
	outputs  int
	firstAsk json.RawMessage // of a session that has no turns of ours
	lastSaid json.RawMessage
	metrics  metrics
	used     transcript.Usage // by the entries; receipts say it better where there are any
	outcome  transcript.Outcome
}

// metrics is metrics.json.
type metrics struct {
	InputTokens      int64            `json:"input_tokens"`
	OutputTokens     int64            `json:"output_tokens"`
	CacheReadTokens  int64            `json:"cache_read_tokens"`
	CacheWriteTokens int64            `json:"cache_write_tokens"`
	CacheWrite1h     int64            `json:"cache_write_1h_tokens"` // of those
	Searches         int64            `json:"web_searches"`
	CostUSD          float64          `json:"cost_usd"`
	DurationMS       int64            `json:"duration_ms"`
	Turns            int              `json:"turns"`
	Failed           int              `json:"failed_attempts"`
	ModelCalls       int              `json:"model_calls"`
	RefusedCalls     int              `json:"refused_calls"`
	Logs             int64            `json:"log_records"`
	Errors           int64            `json:"error_records"`
	Entries          int64            `json:"entries"`
	EntriesByType    map[string]int64 `json:"entries_by_type"`
	EntriesBySource  map[string]int64 `json:"entries_by_source"`
}

// tell takes a batch: it is the one place where frames are looked at in order.
func (p *pour) tell(b *batch) error {
	if len(b.text) > 0 {
		p.logs.add(b.text, b.packed)
	}
	switch {
	case b.spoken == 0:
	case b.spoken == b.lines:
		p.transcript.add(b.text, b.packed)
	default:
		p.transcript.add(b.entries, b.packedEntries)
	}
	if p.seen += int64(len(b.raw)); p.progress != nil {
		p.progress(p.seen)
	}
	for i := range b.told {
		t := &b.told[i]
		if b.frames[i].Kind == record.KindLog || b.frames[i].Kind == record.KindBlob {
			p.frame(t)
		}
		if err := p.stripper.Add(b.frames[i], t.kept); err != nil {
			return err
		}
	}
	return nil
}

// frame counts a log or blob frame and passes its line on.
func (p *pour) frame(t *told) {
	p.tally.add(RecordFile, t.found)
	if t.kept.Line {
		p.tally.add(logFile, t.found)
		p.log(t)
	}
}

// log gives a line to everyone who has a use for it.
func (p *pour) log(l *told) {
	found := l.found
	p.metrics.Logs++
	if l.level == "ERROR" || l.level == "CRITICAL" {
		p.metrics.Errors++
	}
	switch l.event {
	case transcript.EventEntry:
		p.tally.add(TranscriptFile, found)
		p.entry(l.kind, l.source, l.detail)
	case audit.EventMessage:
		p.member(p.input, &p.inputs, inputFile, l.context, found)
		p.item("turn", "message", l.context, found)
	case audit.EventReply:
		p.metrics.Turns++
		p.member(p.output, &p.outputs, outputFile, l.context, found)
		p.item("turn", "reply", l.context, found)
	case audit.EventFailed:
		p.metrics.Failed++
		p.item("turn", "failed", l.context, found)
	case audit.EventRoom:
		p.item("room", "", l.context, found)
	case audit.EventReceipt:
		writeLine(p.receipts, l.context)
		p.tally.add(receiptsFile, found)
		p.item("receipt", "", l.context, found)
		p.receipt(l.context)
	}
}

func writeLine(s *spool, line []byte) {
	_, _ = s.Write(line) // the spool's own done says what went wrong
	_, _ = s.Write([]byte{'\n'})
}

// member adds an element to the list of a request file.
func (p *pour) member(s *spool, n *int, file string, context []byte, found redact.Counts) {
	if *n > 0 {
		_, _ = s.Write([]byte(",\n    "))
	}
	*n++
	_, _ = s.Write(context)
	p.tally.add(file, found)
}

// item adds a state item: the context of an event with its type in front.
func (p *pour) item(kind, event string, context []byte, found redact.Counts) {
	inside := bytes.TrimSpace(context)
	if len(inside) < 2 || inside[0] != '{' {
		return
	}
	head := `{"__type__":"` + kind + `"`
	if event != "" {
		head += `,"event":"` + event + `"`
	}
	if len(bytes.TrimSpace(inside[1:len(inside)-1])) > 0 {
		head += ","
	}
	_, _ = p.after.Write([]byte(head))
	writeLine(p.after, inside[1:])
	p.tally.add(afterFile, found)
}

// entry counts an entry. Of a session that somebody else drove, the first
// message and the last answer are what was asked and what came back.
func (p *pour) entry(kind, source string, detail []byte) {
	p.metrics.Entries++
	p.metrics.EntriesByType[kind]++
	p.metrics.EntriesBySource[source]++
	p.outcome.See(transcript.Type(kind), source, detail)
	if transcript.Type(kind) == transcript.TokenUsage {
		p.used = p.used.Add(transcript.UsageOf(detail))
	}
	if source != transcript.Main {
		return
	}
	switch transcript.Type(kind) {
	case transcript.UserMessage:
		if p.firstAsk == nil {
			p.firstAsk = bytes.Clone(detail)
		}
	case transcript.AssistantMessage:
		p.lastSaid = append(p.lastSaid[:0], detail...)
	}
}

func (m *metrics) add(u transcript.Usage) {
	m.InputTokens, m.OutputTokens = m.InputTokens+u.Input, m.OutputTokens+u.Output
	m.CacheReadTokens, m.CacheWriteTokens = m.CacheReadTokens+u.CacheRead, m.CacheWriteTokens+u.CacheWrite
	m.CacheWrite1h, m.Searches = m.CacheWrite1h+u.CacheWrite1h, m.Searches+u.Searches
	m.CostUSD += u.CostUSD
}

func (p *pour) receipt(context []byte) {
	var r audit.Receipt
	if json.Unmarshal(context, &r) != nil {
		return
	}
	m := &p.metrics
	m.add(transcript.Usage(r.Usage))
	// A seat's gateway counts from its beginning.
	m.ModelCalls = max(m.ModelCalls, r.Calls)
	m.RefusedCalls = max(m.RefusedCalls, r.Refused)
}

// tally counts what was removed, by place.
type tally struct{ places map[string]redact.Counts }

func (t *tally) add(place string, found redact.Counts) {
	if len(found) == 0 {
		return
	}
	if t.places[place] == nil {
		t.places[place] = redact.Counts{}
	}
	t.places[place].Add(found)
}

func (t *tally) kinds() redact.Counts {
	all := redact.Counts{}
	for _, c := range t.places {
		all.Add(c)
	}
	return all
}
