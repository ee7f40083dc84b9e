package bundle

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"conclave/audit"
	"conclave/bundle/redact"
	"conclave/internal/jsontext"
	"conclave/internal/pack"
	"conclave/record"
	"conclave/transcript"
)

// A run is poured in batches: some frames that one goroutine reads, one of
// several cleans and packs, and one tells, in order, to the files of the bundle.
// What of a log is an entry is packed once and stands in two files.
const (
	batchBytes  = 512 << 10 // of payloads; one that is longer is a batch of its own
	batchFrames = 4096
	mostWorkers = 8
)

// batch is some frames on their way.
type batch struct {
	frames   []record.Frame // in order; their payloads lie in raw
	raw      []byte
	redactor *redact.Redactor // nil: nothing is removed

	// By the worker.
	told          []told // one for each frame
	text          []byte // the log's lines, each with its newline
	entries       []byte // those that are entries; nil: all are, or none
	packed        []byte // text as a piece of a deflate stream
	packedEntries []byte
	lines, spoken int // how many lines there are, and how many are entries
	err           error
	ready         chan struct{}
}

// told is what became of a frame.
type told struct {
	kept  record.Kept
	found redact.Counts
	line  []byte // of the log, without its newline
	logLine
}

// take adds a frame if there is room for it.
func (b *batch) take(f record.Frame) bool {
	if len(b.frames) > 0 && (len(b.raw)+len(f.Payload) > batchBytes || len(b.frames) == batchFrames) {
		return false
	}
	at := len(b.raw)
	b.raw = append(b.raw, f.Payload...)
	if f.Payload != nil {
		f.Payload = b.raw[at:len(b.raw):len(b.raw)]
	}
	b.frames = append(b.frames, f)
	return true
}

// empty makes a batch that was told ready for other frames.
func (b *batch) empty() *batch {
	if cap(b.raw)+cap(b.text) > 8*batchBytes { // a giant has passed
		*b = batch{}
	}
	if b.raw == nil {
		// take never grows what it has given out: but for a giant, which is
		// alone, all fits.
		b.raw = make([]byte, 0, batchBytes)
	}
	b.frames, b.raw, b.told, b.text = b.frames[:0], b.raw[:0], b.told[:0], b.text[:0]
	b.entries, b.packed, b.packedEntries = b.entries[:0], b.packed[:0], b.packedEntries[:0]
	b.lines, b.spoken, b.err, b.ready = 0, 0, nil, make(chan struct{})
	return b
}

// washer cleans and packs batches. It is for one goroutine.
type washer struct {
	deflate pack.Deflater
	scan    lineScanner
	room    []byte
}

func (w *washer) wash(b *batch) {
	b.told = slices.Grow(b.told, len(b.frames))
	b.text = slices.Grow(b.text, len(b.raw)+len(b.frames))
	for i := range b.frames {
		var t told
		switch f := &b.frames[i]; {
		case f.Withheld:
		case f.Kind == record.KindLog:
			t = w.log(b, f.Payload)
		case f.Kind == record.KindBlob:
			t.kept.Withheld, t.found = w.hideBlob(b.redactor, *f)
		}
		b.told = append(b.told, t)
	}
	if len(b.text) > 0 {
		b.packed, b.err = w.deflate.Append(b.packed, b.text)
	}
	if b.spoken == 0 || b.spoken == b.lines || b.err != nil {
		return
	}
	for i := range b.told {
		if t := &b.told[i]; t.isEntry() {
			b.entries = append(append(b.entries, t.line...), '\n')
		}
	}
	b.packedEntries, b.err = w.deflate.Append(b.packedEntries, b.entries)
}

func (t *told) isEntry() bool { return t.kept.Line && t.event == transcript.EventEntry }

// log adds a log line as it may be seen. A line that is no JSON object is told
// in one that is: readers take a log line by line.
func (w *washer) log(b *batch, payload []byte) (t told) {
	start := len(b.text)
	t.found = b.clean(payload)
	l, ok := w.scan.line(b.text[start:])
	if !ok {
		b.text = b.text[:start]
		t.found = b.clean(undecodable(payload))
		l, _ = w.scan.line(b.text[start:])
	}
	t.line, t.logLine = b.text[start:], l
	t.kept = record.Kept{Withheld: t.found != nil, Line: true, Same: bytes.Equal(t.line, payload)}
	b.text = append(b.text, '\n')
	b.lines++
	if t.isEntry() {
		b.spoken++
	}
	return t
}

// clean adds a line to the text, without what must not be seen.
func (b *batch) clean(payload []byte) (found redact.Counts) {
	if b.redactor == nil {
		b.text = append(b.text, payload...)
		return nil
	}
	b.text, found = b.redactor.JSON(b.text, payload)
	return found
}

func (w *washer) hideBlob(r *redact.Redactor, f record.Frame) (bool, redact.Counts) {
	channel, data := f.Blob()
	if r == nil || channel == audit.FingerprintChannel {
		return false, nil
	}
	if channel == audit.HeardChannel {
		return true, nil // a secret in pieces is found in none of them
	}
	var found redact.Counts
	w.room, found = r.Bytes(w.room[:0], data)
	return found != nil, found
}

func undecodable(payload []byte) []byte {
	line := []byte(`{"timestamp":"` + stamp(time.Time{}) +
		`","level":"WARNING","logger":"conclave.bundle","event":"log.undecodable","message":"a log record that is no JSON","context":{"text":`)
	line, _ = jsontext.AppendString(line, payload)
	return append(line, "}}"...)
}

// batches reads a record to its end and gives its frames, cleaned and packed, to
// tell, in order. Whoever ends first, no goroutine is left.
func batches(ctx context.Context, s *survey, tell func(*batch) error) error {
	workers := min(runtime.GOMAXPROCS(0), mostWorkers)
	most := workers + 2
	jobs, order, free := make(chan *batch, most), make(chan *batch, most), make(chan *batch, most)
	for range most {
		free <- new(batch)
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			var w washer
			for b := range jobs {
				w.wash(b)
				close(b.ready)
			}
		})
	}
	var failed error
	group.Go(func() {
		for b := range order {
			<-b.ready
			if failed == nil {
				failed = b.err
			}
			if failed == nil {
				failed = tell(b)
			}
			free <- b
		}
	})
	b := (<-free).empty()
	send := func() {
		b.redactor = s.redactor
		order <- b
		jobs <- b
	}
	for more := true; more && ctx.Err() == nil; more = s.next() {
		if f := s.r.Frame(); !b.take(f) {
			send()
			b = (<-free).empty()
			b.take(f)
		}
	}
	send()
	close(jobs)
	close(order)
	group.Wait()
	if err := cmp.Or(ctx.Err(), s.r.Err()); err != nil {
		return err
	}
	return failed
}

// logLine is the envelope of a log record, and what an entry's context says
// first.
type logLine struct {
	level, event string
	context      []byte
	kind, source string // of an entry
	detail       []byte
}

// lineScanner reads envelope and context of a line in one pass.
type lineScanner struct {
	b                 []byte
	l                 logLine
	onLine, onContext func(key []byte, at int) int
}

// line reads a line; one that is no JSON object has no envelope.
func (s *lineScanner) line(line []byte) (logLine, bool) {
	if s.onLine == nil {
		s.onLine, s.onContext = s.noteLine, s.noteContext
	}
	s.b, s.l = line, logLine{}
	if !jsontext.Object(line, s.onLine) {
		return logLine{}, false
	}
	return s.l, true
}

func (s *lineScanner) noteLine(key []byte, at int) (end int) {
	if string(key) == "context" {
		s.l.kind, s.l.source, s.l.detail = "", "", nil
		if at < len(s.b) && s.b[at] == '{' {
			end = jsontext.Enter(s.b, at, 1, s.onContext)
		} else {
			end = jsontext.Skip(s.b, at, 1)
		}
		if end >= 0 {
			s.l.context = s.b[at:end]
		}
		return end
	}
	if end = jsontext.Skip(s.b, at, 1); end < 0 {
		return end
	}
	switch string(key) {
	case "level":
		s.l.level = word(s.b[at:end])
	case "event":
		s.l.event = word(s.b[at:end])
	}
	return end
}

func (s *lineScanner) noteContext(key []byte, at int) int {
	end := jsontext.Skip(s.b, at, 2)
	if end < 0 {
		return end
	}
	switch string(key) {
	case "entry_type":
		s.l.kind = word(s.b[at:end])
	case "source":
		s.l.source = word(s.b[at:end])
	case "detail":
		s.l.detail = s.b[at:end]
	}
	return end
}

// words are those that nearly every line has: they need no memory of their own.
var words = func() map[string]string {
	m := map[string]string{}
	for _, w := range []string{"DEBUG", "INFO", transcript.EventEntry, transcript.Main,
		string(transcript.UserMessage), string(transcript.AssistantMessage), string(transcript.ToolUse),
		string(transcript.ToolResult), string(transcript.Thinking), string(transcript.SystemEvent),
		string(transcript.TokenUsage), string(transcript.Unknown)} {
		m[`"`+w+`"`] = w
	}
	return m
}()

func word(v []byte) string {
	if w, ok := words[string(v)]; ok {
		return w
	}
	s, _ := jsontext.String(v)
	return s
}
