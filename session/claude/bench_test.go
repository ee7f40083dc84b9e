package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/internal/sessiongen"
	"conclave/transcript"
)

const benchBytes = 100 << 20

// benchFile is a session file of 100 MB, written once per run.
func benchFile(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := sessiongen.Write(f, sessiongen.Options{Seed: 1, Bytes: benchBytes}); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

type discard struct{ bytes int64 }

func (d *discard) AppendLog(line []byte) error { d.bytes += int64(len(line)); return nil }

// lines reads the file in chunks and calls fn for each line.
func lines(b *testing.B, path string, fn func(line []byte)) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			long = append(long, line...)
			continue
		case err == io.EOF && len(line)+len(long) == 0:
			return
		case err != nil && err != io.EOF:
			b.Fatal(err)
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = long[:0]
		}
		fn(bytes.TrimSuffix(line, []byte("\n")))
	}
}

// BenchmarkMap reads a session file and makes the encoded log records of all
// its entries, raw included. BenchmarkPlainJSON is what a plain program does
// for no more than the parsed lines. Run both with -cpu 1.
func BenchmarkMap(b *testing.B) {
	path := benchFile(b)
	b.SetBytes(benchBytes)
	now := time.Now()
	var buf []byte
	var written int64
	b.ResetTimer()
	for b.Loop() {
		m := NewMapper(Options{Reuse: true})
		var items []transcript.Item
		seq := int64(0)
		written = 0
		lines(b, path, func(line []byte) {
			items = m.Append(items[:0], line)
			for _, it := range items {
				seq++
				buf = transcript.AppendEntry(buf[:0], &transcript.Entry{PromptName: "bench", Adapter: transcript.AdapterClaude,
					Type: it.Type, Sequence: seq, Source: transcript.Main, Timestamp: now, SessionID: it.SessionID,
					Detail: it.Detail, Raw: it.Raw})
				written += int64(len(buf))
			}
		})
	}
	if written < 2*benchBytes {
		b.Fatalf("%d bytes of records cannot hold each line twice", written)
	}
}

// BenchmarkMapOnly leaves the encoding of records out.
func BenchmarkMapOnly(b *testing.B) {
	path := benchFile(b)
	b.SetBytes(benchBytes)
	b.ResetTimer()
	for b.Loop() {
		m := NewMapper(Options{Reuse: true})
		var items []transcript.Item
		lines(b, path, func(line []byte) { items = m.Append(items[:0], line) })
	}
}

// BenchmarkMapAndEmit goes through an Emitter, which checks each detail again.
func BenchmarkMapAndEmit(b *testing.B) {
	path := benchFile(b)
	b.SetBytes(benchBytes)
	b.ResetTimer()
	for b.Loop() {
		m := NewMapper(Options{Reuse: true})
		e, err := transcript.NewEmitter(transcript.Options{PromptName: "bench", Adapter: transcript.AdapterClaude, Store: &discard{}})
		if err != nil {
			b.Fatal(err)
		}
		var items []transcript.Item
		lines(b, path, func(line []byte) {
			items = m.Append(items[:0], line)
			for _, it := range items {
				if _, err := e.Emit(it); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPlainJSON is read + split + encoding/json.
func BenchmarkPlainJSON(b *testing.B) {
	path := benchFile(b)
	b.SetBytes(benchBytes)
	b.ResetTimer()
	for b.Loop() {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
