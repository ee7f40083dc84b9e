package transcript_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

// sinkFunc is a stream sink made of a function.
type sinkFunc func(slog.Record) error

func (sinkFunc) Enabled(context.Context, slog.Level) bool        { return true }
func (f sinkFunc) Handle(_ context.Context, r slog.Record) error { return f(r) }
func (f sinkFunc) WithAttrs([]slog.Attr) slog.Handler            { return f }
func (f sinkFunc) WithGroup(string) slog.Handler                 { return f }

// TestLoad: eight goroutines emit over five sources, to a record and to a
// stream whose sink works, fails every 17th time, or hangs. The record is
// gapless, ordered and complete whatever the sink does.
func TestLoad(t *testing.T) {
	each := sample.Count(1_000, 3_000, 100_000)
	hang := make(chan struct{})
	defer close(hang)
	calls := 0
	for name, sink := range map[string]slog.Handler{
		"a sink that works": transcript.NewHandler(io.Discard, "x", nil),
		"a sink that fails every 17th time": sinkFunc(func(slog.Record) error {
			if calls++; calls%17 == 0 {
				return errors.New("seventeen")
			}
			return nil
		}),
		"a sink that hangs": sinkFunc(func(slog.Record) error { <-hang; return nil }),
	} {
		t.Run(name, func(t *testing.T) { load(t, sink, each) })
	}
}

func load(t *testing.T, sink slog.Handler, each int) {
	const writers = 8
	sources := []string{transcript.Main, "subagent:a", "subagent:agent_1", "subagent:agent_10", "subagent:b"}
	w, err := record.Create(filepath.Join(t.TempDir(), "load.record"), record.Header{Run: "load"})
	if err != nil {
		t.Fatal(err)
	}
	stream := transcript.NewStream(sink, transcript.StreamOptions{})
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "load", Adapter: transcript.AdapterClaude, Store: w, Stream: stream})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range writers {
		wg.Go(func() {
			for i := range each {
				item := transcript.Item{Type: transcript.Thinking, Source: sources[(g+i)%len(sources)], Raw: fmt.Appendf(nil, "%d %d", g, i)}
				if _, err := e.Emit(item); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_ = stream.Close(ctx) // a sink that hangs is left behind
	if s := stream.Stats(); s.Delivered+s.Dropped+s.Failed < writers*each {
		t.Errorf("the stream accounts for %+v of %d", s, writers*each)
	}
	readBack(t, w.Path(), writers, each)
}

// readBack checks that each source is gapless, and that each writer's entries
// are all there in the order in which it emitted them.
func readBack(t *testing.T, path string, writers, each int) {
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := make([]int, writers)
	last := map[string]int64{}
	for r.Next() {
		entry, err := transcript.ParseEntry(r.Frame().Payload)
		if err != nil {
			continue // the header, the stop
		}
		if entry.Sequence != last[entry.Source]+1 {
			t.Fatalf("%s: number %d follows %d", entry.Source, entry.Sequence, last[entry.Source])
		}
		last[entry.Source]++
		writer, number, _ := bytes.Cut(entry.Raw, []byte(" "))
		g, _ := strconv.Atoi(string(writer))
		i, err := strconv.Atoi(string(number))
		if err != nil || i != next[g] {
			t.Fatalf("writer %d: entry %s follows %d", g, number, next[g]-1)
		}
		next[g]++
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	for g, n := range next {
		if n != each {
			t.Errorf("writer %d: %d entries of %d are on the record", g, n, each)
		}
	}
}

// fileStore is a log file as a store: what the specification calls the log.
type fileStore struct{ w *bufio.Writer }

func (s fileStore) AppendLog(line []byte) error {
	s.w.Write(line)
	return s.w.WriteByte('\n')
}

// BenchmarkEmit compares emitting an entry with 1 KiB of raw to a file with a
// plain buffered write of the same escaped bytes, and with the record, which
// also hashes and chains them. Run it as
//
//	go test -run '^$' -bench Emit ./transcript
//
// and compare the MB/s of its three lines; the aim is half of the plain rate
// for the log, with at most three allocations.
func BenchmarkEmit(b *testing.B) {
	line := `{"type":"assistant","uuid":"6f0c2a52-9d6a-4a6b-8a55-3d2f0f1b7c11","message":{"role":"assistant","content":[{"type":"text","text":"` +
		strings.Repeat("Some words of an answer, with a \\\"quote\\\" now and then. ", 30)
	raw := append([]byte(line)[:1019], `"}]}}`...)
	item := transcript.Item{Type: transcript.AssistantMessage, SessionID: "550e8400-e29b-41d4-a716-446655440000", Raw: raw}
	options := transcript.Options{PromptName: "quest.consult.cat", Adapter: transcript.AdapterClaude}

	file := func(b *testing.B) *os.File {
		f, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		return f
	}
	emit := func(b *testing.B, o transcript.Options) {
		e, err := transcript.NewEmitter(o)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Emit(item); err != nil {
				b.Fatal(err)
			}
		}
	}
	var escaped bytes.Buffer
	o := options
	o.Store = fileStore{bufio.NewWriter(&escaped)}
	one, err := transcript.NewEmitter(o)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := one.Emit(item); err != nil {
		b.Fatal(err)
	}
	o.Store.(fileStore).w.Flush()

	b.Run("plain", func(b *testing.B) {
		w := bufio.NewWriter(file(b))
		b.SetBytes(int64(escaped.Len()))
		for b.Loop() {
			w.Write(escaped.Bytes())
		}
		w.Flush()
	})
	b.Run("log", func(b *testing.B) {
		o := options
		o.Store = fileStore{bufio.NewWriterSize(file(b), 64<<10)} // as a log file is opened; plain has bufio's own size
		b.SetBytes(int64(escaped.Len()))
		emit(b, o)
	})
	b.Run("record", func(b *testing.B) {
		w, err := record.Create(filepath.Join(b.TempDir(), "bench.record"), record.Header{Run: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		defer w.Close()
		o := options
		o.Store = w
		b.SetBytes(int64(escaped.Len()))
		emit(b, o)
	})
}
