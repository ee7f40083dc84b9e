package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

// benchLine is a log line of 1.5 KiB: an entry with 1 KiB of raw.
var benchLine = append(append([]byte(`{"event":"transcript.entry","context":{"raw":"`), bytes.Repeat([]byte("x"), 1536-50)...), `"}}`...)

func BenchmarkAppend(b *testing.B) {
	w := create(b, filepath.Join(b.TempDir(), "bench.record"))
	b.SetBytes(int64(len(benchLine)))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.AppendLog(benchLine); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendNoSync is Append with the operating system's part of it left
// out: what encoding, hashing and chaining cost.
func BenchmarkAppendNoSync(b *testing.B) {
	w := newWriter("bench", Header{}, nowhere{}, Cursor{Head: newChain().head})
	b.SetBytes(int64(len(benchLine)))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.AppendLog(benchLine); err != nil {
			b.Fatal(err)
		}
	}
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Sync() error                 { return nil }
func (nowhere) Close() error                { return nil }

func BenchmarkPlainSHA256(b *testing.B) {
	b.SetBytes(int64(len(benchLine)))
	for b.Loop() {
		sha256.Sum256(benchLine)
	}
}

func BenchmarkPlainBufio(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, bufferLimit)
	b.SetBytes(int64(len(benchLine)))
	for b.Loop() {
		if _, err := w.Write(benchLine); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	w := create(b, filepath.Join(b.TempDir(), "bench.record"))
	for b.Loop() {
		if err := w.AppendLog(benchLine); err != nil {
			b.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommitParallel(b *testing.B) {
	w := create(b, filepath.Join(b.TempDir(), "bench.record"))
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := w.AppendLog(benchLine); err != nil {
				b.Error(err)
			}
			if err := w.Commit(); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.record")
	w := create(b, path)
	const lines = 1000
	for range lines {
		if err := w.AppendLog(benchLine); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(lines * len(benchLine)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for r.Next() {
			n++
		}
		if n != lines+1 || r.Err() != nil {
			b.Fatal(n, r.Err())
		}
		r.Close()
	}
}
