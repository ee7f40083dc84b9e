package collect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"conclave/internal/sessiongen"
	"conclave/record"
)

const benchBytes = 100 << 20

func benchFile(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), sessionA+".jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := sessiongen.Write(f, sessiongen.Options{Seed: 1, Bytes: benchBytes, Session: sessionA}); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

type counting struct{ bytes int64 }

func (c *counting) AppendLog(line []byte) error { c.bytes += int64(len(line)); return nil }

// BenchmarkMapFile is "transcript map" on a session file of 100 MB, raw
// included, less the writing to stdout. BenchmarkPlainJSON is its peer. Run
// both with -cpu 1.
func BenchmarkMapFile(b *testing.B) {
	path := benchFile(b)
	b.SetBytes(benchBytes)
	for b.Loop() {
		var out counting
		bal, err := Map(context.Background(), []string{path}, &out, MapOptions{})
		if err != nil || !bal.OK() || out.bytes < 2*benchBytes {
			b.Fatal(err, bal, out)
		}
	}
}

// BenchmarkPlainJSON is read + split + encoding/json.
func BenchmarkPlainJSON(b *testing.B) {
	path := benchFile(b)
	b.SetBytes(benchBytes)
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

// BenchmarkImport collects the same file into a durable record.
func BenchmarkImport(b *testing.B) {
	path := benchFile(b)
	b.SetBytes(benchBytes)
	for b.Loop() {
		c, err := New(Options{Workspace: b.TempDir(), Files: []string{path}, Once: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Run(context.Background()); err != nil {
			b.Fatal(err)
		}
		if bal := c.Balance(); !bal.OK() || bal.BytesRead < benchBytes {
			b.Fatal(bal)
		}
	}
}

// BenchmarkImportShort collects session files of one line, as many as
// CONCLAVE_BENCH_FILES says: each becomes a record of its own. The goal for 8,000
// is 10 s.
func BenchmarkImportShort(b *testing.B) {
	files, err := strconv.Atoi(cmp.Or(os.Getenv("CONCLAVE_BENCH_FILES"), "500"))
	if err != nil {
		b.Fatal(err)
	}
	p := newPlace(b)
	for i := range files {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		p.write(filepath.Join(p.root, fmt.Sprintf("-home-ada-p%d", i%40), id+".jsonl"), line("a", "some words")+"\n")
	}
	for b.Loop() {
		c, err := New(Options{Workspace: b.TempDir(), Roots: []string{p.root}, Once: true})
		if err == nil {
			err = c.Run(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
		if bal := c.Balance(); !bal.OK() || bal.Records != files || bal.Added < int64(files) {
			b.Fatal(bal)
		}
	}
	b.ReportMetric(float64(files)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
	b.ReportMetric(800, "goal-files/s")
	b.ReportMetric(float64(ownRSS())/1e6, "MB-peak")
	b.ReportMetric(150, "goal-MB-peak")
}

// BenchmarkLatency is the time from the append of a line to the entry that a
// reader of the record sees.
func BenchmarkLatency(b *testing.B) {
	p := newPlace(b)
	path := p.main(sessionA)
	p.write(path, line("a", "0")+"\n")
	p.live(p.options())
	until(b, "the first line", func() bool { return p.has(runA, "main", 1) })
	file, err := record.Path(p.workspace, runA)
	if err != nil {
		b.Fatal(err)
	}
	r, err := record.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	w, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	next := func(uuid string) {
		want := []byte(`\"uuid\":\"` + uuid + `\"`)
		for r.Follow(ctx, nil, 100*time.Microsecond) {
			if f := r.Frame(); f.Kind == record.KindLog && bytes.Contains(f.Payload, want) {
				return
			}
		}
		b.Fatal(r.Err())
	}
	next("a")
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		uuid := fmt.Sprintf("n%d", n)
		begin := time.Now()
		if _, err := w.WriteString(line(uuid, "text") + "\n"); err != nil {
			b.Fatal(err)
		}
		next(uuid)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkResume is a start with a file of 100 MB that is all on the record.
func BenchmarkResume(b *testing.B) {
	path := benchFile(b)
	workspace := b.TempDir()
	run := func() {
		c, err := New(Options{Workspace: workspace, Files: []string{path}, Once: true})
		if err == nil {
			err = c.Run(context.Background())
		}
		if err == nil {
			err = os.Remove(filepath.Join(stateDir(workspace), "index.json"))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	run()
	b.SetBytes(benchBytes)
	for b.Loop() {
		run()
	}
}
