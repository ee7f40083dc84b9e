package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxKept    = 10_000   // events
	maxKeptMem = 16 << 20 // bytes of them
	maxBatch   = 256      // that a reader holds at once
	maxStreams = 256
	pulse      = 15 * time.Second
)

// event is what the stream tells: "kind", and what belongs to it.
type event map[string]any

// stream keeps the last events for everybody who listens. Nobody has a queue: each
// reader goes through what is kept by itself, so a slow one is in nobody's way.
type stream struct {
	start string // of this process: ids of another one mean nothing

	mu      sync.Mutex
	kept    [][]byte // as they are sent, without the id
	first   int      // the number of kept[0]
	size    int
	changed chan struct{} // closed, and made anew, with every event
	readers int
}

func newStream() *stream {
	return &stream{start: newSecret()[:8], first: 1, changed: make(chan struct{})}
}

// publish tells something to everybody.
func (s *stream) publish(e event) {
	data, err := json.Marshal(e)
	if err != nil {
		return // events are made here, of what can be told
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, data)
	s.size += len(data)
	drop := 0
	for len(s.kept)-drop > maxKept || s.size > maxKeptMem && len(s.kept)-drop > 1 {
		s.size -= len(s.kept[drop])
		s.kept[drop] = nil
		drop++
	}
	s.kept, s.first = s.kept[drop:], s.first+drop
	close(s.changed)
	s.changed = make(chan struct{})
}

// from are some events from a number on, the number after them, and what is closed
// when there are more; lost says that some before them are gone.
func (s *stream) from(n int) (events [][]byte, next int, more <-chan struct{}, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.first + len(s.kept)
	if n < s.first {
		n, lost = s.first, true
	}
	if n > end {
		n, lost = end, true
	}
	events = slices.Clone(s.kept[n-s.first:][:min(end-n, maxBatch)])
	if more = s.changed; n+len(events) < end {
		more = always
	}
	return events, n + len(events), more, lost
}

// always is closed: there is more at once.
var always = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// now is the number of the next event.
func (s *stream) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first + len(s.kept)
}

func (s *stream) join() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers >= maxStreams {
		return false
	}
	s.readers++
	return true
}

func (s *stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers--
}

func (s *stream) id(n int) string { return s.start + "-" + strconv.Itoa(n) }

// after is the number from which somebody goes on who has seen the event of an id;
// lost where that was of another process.
func (s *stream) after(id string) (n int, lost bool) {
	if id == "" {
		return s.now(), false
	}
	start, number, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(number)
	if err != nil || start != s.start || n < 0 {
		return s.now(), true
	}
	return n + 1, false
}

// serveStream tells everything that happens, for as long as somebody reads.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) (any, error) {
	if r.Method == http.MethodHead {
		return event{}, nil
	}
	if !s.stream.join() {
		return nil, &problem{http.StatusServiceUnavailable, "environment", "too many pages are open"}
	}
	defer s.stream.leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	n, lost := s.stream.after(r.Header.Get("Last-Event-ID"))
	t := teller{w, http.NewResponseController(w)}
	hello, _ := json.Marshal(s.hello())
	if t.tell(s.stream.id(n-1), hello) != nil {
		return nil, nil
	}
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	for {
		events, next, more, gap := s.stream.from(n)
		if lost || gap {
			if t.tell(s.stream.id(next-len(events)-1), []byte(`{"kind":"lost"}`)) != nil {
				return nil, nil
			}
			lost = false
		}
		for i, data := range events {
			if t.tell(s.stream.id(next-len(events)+i), data) != nil {
				return nil, nil
			}
		}
		n = next
		if t.flush() != nil {
			return nil, nil
		}
		select {
		case <-more:
		case <-beat.C:
			if _, err := t.w.Write([]byte(":\n\n")); err != nil {
				return nil, nil
			}
		case <-r.Context().Done():
			return nil, nil
		case <-s.ending:
			if events, _, _, _ := s.stream.from(n); len(events) == 0 {
				return nil, nil
			}
		}
	}
}

// teller writes events.
type teller struct {
	w      http.ResponseWriter
	limits *http.ResponseController
}

func (t teller) tell(id string, data []byte) error {
	_, err := fmt.Fprintf(t.w, "id: %s\ndata: %s\n\n", id, data)
	return err
}

func (t teller) flush() error { return t.limits.Flush() }
