package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Store is where an Emitter makes log records permanent. AppendLog takes one
// line of JSON without its newline, which it must not keep, and returns when
// the store has it in order; an error means that it does not and never will.
// It is called under the Emitter's lock.
type Store interface {
	AppendLog(line []byte) error
}

// Options configure an Emitter.
type Options struct {
	PromptName string // what is being evaluated
	Adapter    string // the registered name of whoever answers

	Store  Store   // nil: nothing is kept
	Stream *Stream // nil: the log stream is off

	// What the settings of the specification leave out of the stream. The
	// store has it all the same.
	StreamQuiet bool // the transcript itself: other events are streamed
	StreamNoRaw bool // raw

	// Continue takes up the numbers of an earlier part of the same run.
	Continue *Summary

	// Clean takes out what must be neither kept nor streamed, of details, raw
	// lines and events; what it returns in place of a JSON object is one. nil
	// leaves all as it is.
	Clean func([]byte) []byte

	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Emitter gives the entries of one run their numbers and their time, puts
// them into the store, and offers them to the stream. It is safe for
// concurrent use. Its errors are the store's and nobody else's: without a
// store it never fails.
type Emitter struct {
	opts Options

	mu      sync.Mutex
	tally   tally
	emitted bool // something since the last stop
	errs    int
	frame   frame
	session string // whose quoted form frame holds
	buf     []byte
}

// NewEmitter returns an emitter of entries that bear o's names.
func NewEmitter(o Options) (*Emitter, error) {
	if o.PromptName == "" || o.Adapter == "" {
		return nil, errors.New("an emitter needs a prompt name and an adapter")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &Emitter{opts: o, frame: frame{names: quoteNames(o.PromptName, o.Adapter)}}
	if o.Continue != nil {
		e.tally.take(o.Continue)
	}
	return e, nil
}

// Emit records one entry and returns it as it was recorded. The entry shares
// item's Detail and Raw.
//
// With a store, an error means that the entry is not on the record: no number
// was used up, and whoever drives the agent must stop. The stream cannot
// cause an error.
func (e *Emitter) Emit(item Item) (Entry, error) {
	if e.opts.Clean != nil {
		item.Detail, item.Raw = e.clean(item.Detail), e.clean(item.Raw)
		item.Fault = string(e.clean([]byte(item.Fault)))
	}
	entry := Entry{
		PromptName: e.opts.PromptName, Adapter: e.opts.Adapter,
		Type: item.Type, Source: item.Source, SessionID: item.SessionID, Raw: item.Raw,
	}
	if entry.Source == "" {
		entry.Source = Main
	}
	if !entry.Type.Valid() {
		entry.Type = Unknown
	}
	var fault error
	entry.Detail, fault = oneLine(item.Detail, item.Checked)

	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.append(&entry); err != nil {
		e.fail(entry.Source, err)
		return Entry{}, fmt.Errorf("record an entry of %s: %w", entry.Source, err)
	}
	if fault != nil {
		e.fail(entry.Source, fmt.Errorf("entry %d: detail kept as text: %w", entry.Sequence, fault))
	}
	if item.Fault != "" {
		e.fail(entry.Source, fmt.Errorf("entry %d: %s", entry.Sequence, item.Fault))
	}
	return entry, nil
}

// clean leaves what is not there as it is.
func (e *Emitter) clean(b []byte) []byte {
	if b == nil || e.opts.Clean == nil {
		return b
	}
	return e.opts.Clean(b)
}

// append is called with the lock held. Only what the store has taken counts.
func (e *Emitter) append(entry *Entry) error {
	source := e.tally.source(entry.Source)
	entry.Sequence = source.entries + 1
	entry.Timestamp = e.opts.Now().UTC().Truncate(time.Microsecond)

	e.frame.stamp.set(entry.Timestamp)
	if entry.SessionID != e.session {
		e.session, e.frame.session = entry.SessionID, nil
		if e.session != "" {
			e.frame.session = appendString(nil, e.session)
		}
	}
	line, rawAt := e.frame.append(e.buf[:0], entry, source.quoted)
	e.buf = line
	if e.opts.Store != nil {
		if err := e.opts.Store.AppendLog(line); err != nil {
			return err
		}
	}
	if e.opts.Stream != nil && !e.opts.StreamQuiet {
		took := e.opts.Stream.push(slog.LevelDebug, entry.Timestamp, EventEntry, line, rawAt, e.opts.StreamNoRaw)
		if !took && e.opts.Store == nil {
			// Nobody has it: it did not happen, and leaves no gap.
			return nil
		}
	}
	e.tally.add(source, entry)
	e.emitted = true
	if cap(e.buf) > 1<<20 {
		e.buf = nil // one huge line is no reason to hold its size for ever
	}
	return nil
}

// fail counts an error and says so in the log: in the store if it still
// takes anything, and in the stream. It is called with the lock held.
func (e *Emitter) fail(source string, err error) {
	e.errs++
	_ = e.event(slog.LevelWarn, eventError, "transcript error", struct {
		Source string `json:"source"`
		Error  string `json:"error"`
	}{source, err.Error()})
}

// Fault says in the log that something of a source could not be read: a file,
// a line. It never fails the run.
func (e *Emitter) Fault(source string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail(source, err)
}

// Event records a log record that is no entry: context is a struct or map
// whose JSON form is an object; the prompt name and the adapter are put in
// front of it.
func (e *Emitter) Event(level slog.Level, event, message string, context any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.event(level, event, message, context)
}

func (e *Emitter) event(level slog.Level, event, message string, context any) error {
	inside, err := e.eventContext(context)
	if err != nil {
		return fmt.Errorf("encode the event %s: %w", event, err)
	}
	now := e.opts.Now()
	line := appendEvent(nil, now, levelName(level), event, message, inside)
	if e.opts.Store != nil {
		if err := e.opts.Store.AppendLog(line); err != nil {
			return fmt.Errorf("record the event %s: %w", event, err)
		}
	}
	if e.opts.Stream != nil && !(e.opts.StreamQuiet && strings.HasPrefix(event, eventPrefix)) {
		e.opts.Stream.push(level, now, event, line, 0, false)
	}
	return nil
}

func (e *Emitter) eventContext(context any) ([]byte, error) {
	inside := append([]byte(nil), `"prompt_name":`...)
	inside = appendString(inside, e.opts.PromptName)
	inside = append(inside, `,"adapter":`...)
	inside = appendString(inside, e.opts.Adapter)
	if context == nil {
		return inside, nil
	}
	b, err := json.Marshal(context)
	if err != nil {
		return nil, err
	}
	b = e.clean(b)
	if len(b) < 2 || b[0] != '{' {
		return nil, errors.New("context is no object")
	}
	if len(b) > 2 {
		inside = append(append(inside, ','), b[1:len(b)-1]...)
	}
	return inside, nil
}

// Start says that the run begins.
func (e *Emitter) Start() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.emitted = true // a start is stopped
	return e.event(slog.LevelDebug, EventStart, "transcript emission started", nil)
}

// Stop says that the run has ended, with its summary.
func (e *Emitter) Stop() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stop()
}

// Pause is Stop for a run that may go on: it says nothing when nothing was
// emitted since the run began or was taken up again.
func (e *Emitter) Pause() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.emitted {
		return nil
	}
	return e.stop()
}

func (e *Emitter) stop() error {
	e.emitted = false
	return e.event(slog.LevelDebug, EventStop, "transcript emission stopped", struct {
		Summary
		Errors int `json:"errors"`
	}{e.tally.summary(), e.errs})
}

// PathDiscovered says that the main session file was found, and how.
func (e *Emitter) PathDiscovered(path, how string) error {
	return e.Event(slog.LevelDebug, EventPathDiscovered, "transcript file found", discovery{Main, path, how})
}

// SubagentDiscovered says that the file of a subagent was found, and how.
func (e *Emitter) SubagentDiscovered(source, path, how string) error {
	return e.Event(slog.LevelDebug, EventSubagentDiscovered, "subagent transcript file found", discovery{source, path, how})
}

type discovery struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	How    string `json:"how"`
}

func levelName(l slog.Level) string {
	if l == slog.LevelWarn {
		return "WARNING" // the word of the log format
	}
	return l.String()
}
