package collect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"time"

	"conclave/internal/jsontext"
	"conclave/internal/tail"
	"conclave/record"
	"conclave/session"
	"conclave/transcript"
)

// eventPosition is the log event that says how far a file was read.
const eventPosition = "collect.position"

// position is its context. Within the format, members are only added.
type position struct {
	Source string `json:"source"`
	Beside string `json:"beside,omitempty"` // see session.File
	Path   string `json:"path"`
	tail.Position
	Lines      int64 `json:"lines"`
	Entries    int64 `json:"entries"`
	Generation int   `json:"generation"`
	// Kept is set where a generation begins: as many lines of the content
	// before it are its own first lines, too.
	Kept *int `json:"kept,omitempty"`
	// Stop is set where reading stopped: what stood behind the last newline
	// was delivered as a line, and what the mapping held back with it.
	Stop bool `json:"stop,omitempty"`
}

// past is what a record tells of the files that it was made from.
type past struct {
	sources  map[string]*pastSource // by place
	seen     map[[2]string]bool     // source and path: said to have been discovered
	summary  transcript.Summary
	first    string
	last     string
	started  bool
	attrs    map[string]string
	unstated int // entries since the last stop event
	text     []byte
}

type pastSource struct {
	ledger *ledger
	done   int // entries on the record of the last line
	at     position
	stops  []int64
}

func newPast() *past {
	return &past{sources: map[string]*pastSource{}, seen: map[[2]string]bool{},
		summary: transcript.Summary{EntriesByType: map[transcript.Type]int{}, EntriesBySource: map[string]int{}}}
}

func (p *past) source(name string) *pastSource {
	if p.sources[name] == nil {
		p.sources[name] = &pastSource{ledger: newLedger(), done: allOfIt}
	}
	return p.sources[name]
}

// visit takes one frame of the record.
func (p *past) visit(f record.Frame) error {
	switch f.Kind {
	case record.KindHeader:
		var h record.Header
		err := json.Unmarshal(f.Payload, &h)
		p.attrs = h.Attributes
		return err
	case record.KindLog:
		return p.line(f.Payload)
	}
	return nil
}

func (p *past) line(line []byte) error {
	event, context, err := split(line)
	if err != nil {
		return err
	}
	switch event {
	case transcript.EventEntry:
		return p.entry(context)
	case eventPosition:
		return p.position(context)
	case transcript.EventPathDiscovered, transcript.EventSubagentDiscovered:
		var d struct{ Source, Path string }
		if err := json.Unmarshal(context, &d); err != nil {
			return err
		}
		p.seen[[2]string{d.Source, d.Path}] = true
	case transcript.EventStart:
		p.started = true
	case transcript.EventStop:
		p.unstated = 0
	}
	return nil
}

// split takes a log record apart. An entry as the emitter writes it needs no
// walk through all of it: its context is what follows the first lines of it.
func split(line []byte) (event string, context []byte, err error) {
	const ours, mark = `"event":"` + transcript.EventEntry + `","message":"`, `","context":{`
	head := line[:min(len(line), 300)]
	if i := bytes.Index(head, []byte(ours)); i >= 0 {
		if j := bytes.Index(head[i+len(ours):], []byte(mark)); j >= 0 {
			return transcript.EventEntry, line[i+len(ours)+j+len(mark)-1 : len(line)-1], nil
		}
	}
	err = jsontext.Walk(line, func(key, value []byte) error {
		switch string(key) {
		case "event":
			event, _ = jsontext.String(value)
		case "context":
			context = value
		}
		return nil
	})
	return event, context, err
}

func (p *past) entry(context []byte) error {
	var source, kind, stamp string
	var raw, raw64 []byte
	err := jsontext.Walk(context, func(key, value []byte) error {
		switch string(key) {
		case "source":
			source, _ = jsontext.String(value)
		case "entry_type":
			kind, _ = jsontext.String(value)
		case "timestamp":
			stamp, _ = jsontext.String(value)
		case "raw":
			raw = value
		case "raw_base64":
			raw64 = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case raw64 != nil:
		b, err := base64.StdEncoding.DecodeString(string(raw64[1 : len(raw64)-1]))
		if err != nil {
			return err
		}
		s := p.source(session.Place(source, b))
		s.ledger.add(s.ledger.hash(b))
		s.done = 1
	case raw != nil:
		p.text = jsontext.AppendText(p.text[:0], raw)
		s := p.source(session.Place(source, p.text))
		s.ledger.add(s.ledger.hash(p.text))
		s.done = 1
		if cap(p.text) > 1<<20 {
			p.text = nil
		}
	default: // a further one of the last line, which what lies beside a session never has
		if s := p.source(source); s.done != allOfIt {
			s.done++
		}
	}
	p.count(source, transcript.Type(kind), stamp)
	return nil
}

func (p *past) count(source string, kind transcript.Type, stamp string) {
	p.summary.TotalEntries++
	p.summary.EntriesByType[kind]++
	if p.summary.EntriesBySource[source]++; p.summary.EntriesBySource[source] == 1 {
		p.summary.Sources = append(p.summary.Sources, source)
	}
	if p.first == "" {
		p.first = stamp
	}
	p.last = stamp
	p.unstated++
}

func (p *past) position(context []byte) error {
	var at position
	if err := json.Unmarshal(context, &at); err != nil {
		return err
	}
	s := p.source(session.File{Source: at.Source, Beside: at.Beside}.Place())
	if at.Kept != nil {
		s.ledger.truncate(*at.Kept)
		s.done, s.stops = allOfIt, nil
	}
	if at.Stop {
		s.stops = append(s.stops, at.Offset)
	}
	s.at = at
	return nil
}

// continued is the summary for the emitter that goes on.
func (p *past) continued() (*transcript.Summary, error) {
	if p.summary.TotalEntries == 0 {
		return nil, nil
	}
	first, err := time.Parse(time.RFC3339Nano, p.first)
	if err != nil {
		return nil, err
	}
	last, err := time.Parse(time.RFC3339Nano, p.last)
	if err != nil {
		return nil, err
	}
	p.summary.FirstTimestamp, p.summary.LastTimestamp = &first, &last
	return &p.summary, nil
}
