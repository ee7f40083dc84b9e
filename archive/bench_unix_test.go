//go:build unix

package archive

import (
	"context"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"conclave/archive/source"
	"conclave/internal/sessiongen"
)

// BenchmarkCut is the workers' half of a first refresh, on one processor: blocks,
// rows and words are made, and thrown away. The other half is what is left of
// BenchmarkArchiveCold in bench.
func BenchmarkCut(b *testing.B) {
	t, err := sessiongen.WriteTree(b.TempDir(), sessiongen.TreeOptions{Seed: 7, Bytes: 32 << 20, Words: 40_000})
	if err != nil {
		b.Fatal(err)
	}
	a, err := Open(filepath.Join(b.TempDir(), "archive.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	files, err := source.Find([]string{t.Dir})
	if err != nil {
		b.Fatal(err)
	}
	var rep Report
	jobs, _, err := a.plan(files, nil, &rep)
	if err != nil {
		b.Fatal(err)
	}
	processor := func() float64 {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			b.Fatal(err)
		}
		return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
	}
	b.SetBytes(t.Bytes)
	before := processor()
	for b.Loop() {
		out := make(chan message, 64)
		var bytes int64
		var drain sync.WaitGroup
		drain.Go(func() {
			for m := range out {
				if m.chunk != nil {
					bytes += int64(m.chunk.size)
				}
			}
		})
		for _, j := range jobs {
			if err := a.work(context.Background(), &job{path: j.path, size: j.size, kind: j.kind, dropPos: -1}, out); err != nil {
				b.Fatal(err)
			}
		}
		close(out)
		drain.Wait()
		if bytes != t.Bytes {
			b.Fatalf("cut %d of %d bytes", bytes, t.Bytes)
		}
	}
	b.ReportMetric((processor()-before)/float64(b.N)/(float64(t.Bytes)/1e9), "cpu-s/GB")
	b.ReportMetric(17, "goal-cpu-s/GB")
}
