package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"conclave/internal/jsontext"
)

// Stream carries log records to a slog.Handler without ever making the
// emitter wait. It holds a bounded number of records and bytes; what does not
// fit is dropped and counted, and can be read again from the record. A handler
// that errors or panics costs a counted error; one that hangs costs what
// follows, and nothing else.
//
// The handler is called directly, because slog.Logger swallows errors.
type Stream struct {
	handler slog.Handler
	opts    StreamOptions

	mu      sync.Mutex
	queue   []*logged
	bytes   int
	flying  int // taken from the queue and not yet handled
	stats   StreamStats
	missing int // dropped since the log last said so
	closed  bool
	// abandoned: Close gave up, and counted what was left.
	abandoned bool
	wake      chan struct{} // one waiting signal at most
	done      chan struct{}
}

// StreamOptions bound a stream. The zero value works.
type StreamOptions struct {
	records int // how many records may wait; 0 means 8192
	bytes   int // how many bytes may wait; 0 means 32 MiB
}

// StreamStats says what became of the records.
type StreamStats struct {
	Delivered int `json:"delivered"`
	Dropped   int `json:"dropped"` // there was no room
	Failed    int `json:"failed"`  // the handler erred or panicked
}

// NewStream starts a stream. Close ends it.
func NewStream(h slog.Handler, o StreamOptions) *Stream {
	if o.records == 0 {
		o.records = 8192
	}
	if o.bytes == 0 {
		o.bytes = 32 << 20
	}
	s := &Stream{handler: h, opts: o, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go s.run()
	return s
}

// Stats returns the counts so far.
func (s *Stream) Stats() StreamStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close delivers what waits and ends the stream. When ctx ends first, what
// still waits is counted as dropped and Close returns ctx's error; a handler
// that hangs is left behind. Close is idempotent.
func (s *Stream) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.poke()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	left := len(s.queue) + s.flying
	s.stats.Dropped += left
	s.queue, s.bytes, s.flying = nil, 0, 0
	s.abandoned = true
	return fmt.Errorf("close the log stream: %d records undelivered: %w", left, ctx.Err())
}

// push offers a record and says whether it was taken. It copies line; raw, which
// begins at rawAt where there is any, can be left out.
func (s *Stream) push(level slog.Level, at time.Time, event string, line []byte, rawAt int, noRaw bool) bool {
	if !s.handler.Enabled(context.Background(), level) {
		return false
	}
	l := &logged{level: level, at: at, event: event}
	if rawAt > 0 && noRaw {
		l.line = append(append(make([]byte, 0, rawAt+2), line[:rawAt]...), '}', '}')
	} else {
		l.line = append(make([]byte, 0, len(line)+1), line...) // room for a newline
	}

	s.mu.Lock()
	full := s.closed || len(s.queue) >= s.opts.records ||
		len(s.queue) > 0 && s.bytes+len(l.line) > s.opts.bytes
	if full {
		s.stats.Dropped++
		s.missing++
		s.mu.Unlock()
		return false
	}
	s.queue = append(s.queue, l)
	s.bytes += len(l.line)
	first := len(s.queue) == 1
	s.mu.Unlock()
	if first {
		s.poke()
	}
	return true
}

func (s *Stream) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Stream) run() {
	defer close(s.done)
	for {
		batch, missing, closed := s.take()
		if missing > 0 {
			s.complain(fmt.Errorf("%d records dropped, to be read from the record", missing))
		}
		for _, l := range batch {
			s.deliver(l)
		}
		if len(batch) > 0 {
			continue
		}
		if closed {
			return
		}
		<-s.wake
	}
}

func (s *Stream) take() (batch []*logged, missing int, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch, s.queue, s.bytes = s.queue, nil, 0
	s.flying = len(batch)
	missing, s.missing = s.missing, 0
	return batch, missing, s.closed
}

func (s *Stream) deliver(l *logged) {
	err := s.call(l)
	s.mu.Lock()
	switch {
	case s.abandoned: // counted as dropped already
	case err == nil:
		s.stats.Delivered++
		s.flying--
	default:
		s.stats.Failed++
		s.flying--
	}
	s.mu.Unlock()
	if err != nil {
		s.complain(fmt.Errorf("deliver a log record: %w", err))
	}
}

// complain tells the handler of an error. If it cannot take that either,
// there is nobody left to tell: the counts have it.
func (s *Stream) complain(err error) {
	inside := appendString([]byte(`"error":`), err.Error())
	now := time.Now()
	_ = s.call(&logged{level: slog.LevelWarn, at: now, event: eventError,
		line: appendEvent(nil, now, "WARNING", eventError, "transcript error", inside)})
}

func (s *Stream) call(l *logged) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return s.handler.Handle(context.Background(), l.record())
}

// logged is one record on its way to a handler. Our own handler writes the
// line as it is; any other sees a time, the event as the message, and the
// context as a group.
type logged struct {
	level slog.Level
	at    time.Time
	event string
	line  []byte
}

const contextKey = "context"

func (l *logged) record() slog.Record {
	r := slog.NewRecord(l.at, l.level, l.event, 0)
	r.AddAttrs(slog.Any(contextKey, l))
	return r
}

// LogValue shows the context to handlers that do not know the type.
func (l *logged) LogValue() slog.Value {
	var attrs []slog.Attr
	err := jsontext.Walk(jsontext.Get(l.line, contextKey), func(key, value []byte) error {
		if text, ok := jsontext.String(value); ok {
			attrs = append(attrs, slog.String(string(key), text))
		} else {
			attrs = append(attrs, slog.Any(string(key), json.RawMessage(value)))
		}
		return nil
	})
	if err != nil {
		return slog.StringValue(string(l.line))
	}
	return slog.GroupValue(attrs...)
}
