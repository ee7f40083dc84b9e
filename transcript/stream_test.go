package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
)

// failing is a handler that takes nothing.
type failing struct{}

func (failing) Enabled(context.Context, slog.Level) bool  { return true }
func (failing) Handle(context.Context, slog.Record) error { return errors.New("no") }
func (f failing) WithAttrs([]slog.Attr) slog.Handler      { return f }
func (f failing) WithGroup(string) slog.Handler           { return f }

// sink is a handler made of a function.
type sink struct {
	failing
	handle func(slog.Record) error
}

func (s sink) Handle(_ context.Context, r slog.Record) error { return s.handle(r) }

func TestStreamDeliversWhatTheRecordHolds(t *testing.T) {
	store := &lineStore{}
	var out bytes.Buffer
	stream := NewStream(NewHandler(&out, "x", nil), StreamOptions{})
	e := newEmitter(t, Options{Store: store, Stream: stream})
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		emit(t, e, Item{Type: ToolResult, Detail: json.RawMessage(`{"z":1,"a":[ 2 ]}`), Raw: []byte("raw \u2028 bytes")})
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := append(bytes.Join(store.lines, []byte("\n")), '\n'); !bytes.Equal(out.Bytes(), want) {
		t.Error("the stream differs from the record")
	}
}

func TestStreamSurvivesAPanickingSink(t *testing.T) {
	stream := NewStream(sink{handle: func(slog.Record) error { panic("boom") }}, StreamOptions{})
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store, Stream: stream})
	emit(t, e, Item{Type: Error})
	if err := stream.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := stream.Stats(); s.Failed != 1 || len(store.lines) != 1 {
		t.Errorf("stats %+v, %d lines recorded", s, len(store.lines))
	}
}

func TestStreamDoesNotWaitForAHangingSink(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	stream := NewStream(sink{handle: func(slog.Record) error { <-hang; return nil }}, StreamOptions{records: 4})
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store, Stream: stream})
	for range 1000 {
		emit(t, e, Item{Type: Thinking})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stream.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close = %v, want the context's error", err)
	}
	if len(store.lines) != 1000 {
		t.Errorf("%d entries recorded, want all 1000", len(store.lines))
	}
	if s := stream.Stats(); s.Dropped < 900 {
		t.Errorf("stats = %+v, most should be counted as dropped", s)
	}
}

// TestStreamSaysWhatItDropped: once there is room again, the log itself says
// that something is missing.
func TestStreamSaysWhatItDropped(t *testing.T) {
	var mu sync.Mutex
	var events []string
	block, entered := make(chan struct{}), make(chan struct{}, 100)
	stream := NewStream(sink{handle: func(r slog.Record) error {
		entered <- struct{}{}
		<-block
		mu.Lock()
		defer mu.Unlock()
		r.Attrs(func(a slog.Attr) bool {
			events = append(events, r.Message+" "+a.Value.Resolve().String())
			return true
		})
		return nil
	}}, StreamOptions{bytes: 500})
	e := newEmitter(t, Options{Store: &lineStore{}, Stream: stream})
	emit(t, e, Item{Type: Thinking})
	<-entered // the first is being handled; the queue is empty
	for range 50 {
		emit(t, e, Item{Type: Thinking})
	}
	close(block)
	if err := stream.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := stream.Stats()
	if s.Delivered+s.Dropped != 51 || s.Dropped == 0 {
		t.Errorf("stats = %+v, want 51 in all and some dropped", s)
	}
	if !slices.ContainsFunc(events, func(e string) bool {
		return strings.HasPrefix(e, eventError) && strings.Contains(e, "dropped, to be read from the record")
	}) {
		t.Errorf("nothing in the log says that records are missing: %q", events)
	}
}

func TestStreamWithoutRaw(t *testing.T) {
	var out bytes.Buffer
	stream := NewStream(NewHandler(&out, "x", nil), StreamOptions{})
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store, Stream: stream, StreamNoRaw: true})
	emit(t, e, Item{Type: Thinking, Detail: json.RawMessage(`{"k":",\"raw\":"}`), Raw: []byte("secret bytes")})
	if err := stream.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	streamed, err := ParseEntry(bytes.TrimSpace(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := ParseEntry(store.lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if streamed.Raw != nil || string(recorded.Raw) != "secret bytes" {
		t.Errorf("stream raw %q, record raw %q; only the record keeps it", streamed.Raw, recorded.Raw)
	}
	if string(streamed.Detail) != string(recorded.Detail) {
		t.Errorf("detail %s, want %s", streamed.Detail, recorded.Detail)
	}
}

func TestStreamTurnedDownByLevel(t *testing.T) {
	var out bytes.Buffer
	stream := NewStream(NewHandler(&out, "x", slog.LevelInfo), StreamOptions{})
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store, Stream: stream})
	emit(t, e, Item{Type: Thinking})
	if err := stream.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 || len(store.lines) != 1 {
		t.Errorf("stream %q, record %d lines; a level silences the stream, never the record", out.String(), len(store.lines))
	}
}

func TestOtherHandlersSeeOrdinaryAttributes(t *testing.T) {
	var out bytes.Buffer
	stream := NewStream(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}), StreamOptions{})
	e := newEmitter(t, Options{Stream: stream})
	emit(t, e, Item{Type: ToolUse, Detail: json.RawMessage(`{"name":"Read"}`)})
	if err := stream.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var r struct {
		Level, Msg string
		Context    struct {
			EntryType string `json:"entry_type"`
			Sequence  int    `json:"sequence_number"`
			Detail    struct{ Name string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Level != "DEBUG" || r.Msg != EventEntry || r.Context.EntryType != "tool_use" || r.Context.Sequence != 1 || r.Context.Detail.Name != "Read" {
		t.Errorf("slog's JSON handler wrote %s", out.String())
	}
}

func TestHandlerWritesOtherPeoplesRecords(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewHandler(&out, "conclave.room", nil)).With("run", "r1").WithGroup("probe").With("name", "read")
	log.Warn("control failed", "event", "room.probe", "err", errors.New("a <b>"), slog.Group("", slog.Int("n", 1)))
	var r map[string]any
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r["level"] != "WARNING" || r["logger"] != "conclave.room" || r["message"] != "control failed" || r["event"] != "control failed" {
		t.Errorf("record = %v", r)
	}
	context, _ := json.Marshal(r["context"])
	if want := `{"probe":{"err":"a \u003cb\u003e","event":"room.probe","n":1,"name":"read"},"run":"r1"}`; string(context) != want {
		t.Errorf("context = %s, want %s", context, want)
	}
	out.Reset()
	slog.New(NewHandler(&out, "x", nil)).Info("m", "event", "some.event")
	if !strings.Contains(out.String(), `"event":"some.event"`) {
		t.Errorf("the event is not taken from its attribute: %s", out.String())
	}
}

// TestQuietStream: without the transcript, other events are streamed; the store
// has everything.
func TestQuietStream(t *testing.T) {
	var out bytes.Buffer
	stream := NewStream(NewHandler(&out, "x", nil), StreamOptions{})
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store, Stream: stream, StreamQuiet: true})
	emit(t, e, Item{Type: Thinking})
	if err := errors.Join(e.Start(), e.Event(slog.LevelInfo, "room.opened", "room", nil), e.Stop(), stream.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if log := out.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, `"room.opened"`) {
		t.Errorf("streamed:\n%s", log)
	}
	if len(store.lines) != 4 {
		t.Errorf("%d lines are stored, want 4", len(store.lines))
	}
}
