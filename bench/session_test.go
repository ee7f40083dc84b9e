package bench

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"conclave/internal/jsontext"
	"conclave/internal/program"
	"conclave/internal/sessiongen"
	"conclave/transcript"
)

// The way of one long session through the program as people have it: mapped,
// imported, bundled, queried. It is a generated one of CONCLAVE_BENCH_MB, or the
// file that CONCLAVE_BENCH_SESSION names; the goals are for two processors, and
// those in seconds are for 288 MB. Beside them stands what the original took for a
// session of that size when it was measured (and 5 GB of
// memory for a bundle or a query); it imports nothing.

// sessionFile is the session, and how long it is.
func sessionFile(b *testing.B) (path string, size int64) {
	b.Helper()
	if path = os.Getenv("CONCLAVE_BENCH_SESSION"); path == "" {
		path = filepath.Join(b.TempDir(), "session.jsonl")
		f, err := os.Create(path)
		if err == nil {
			_, err = sessiongen.Write(f, sessiongen.Options{Seed: 3, Bytes: megabytes() << 20, Words: 40_000})
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return path, info.Size()
}

// place is a workspace for the program, with nobody's home around it.
type place struct {
	b       *testing.B
	program string
	dir     string
}

// ran is what a command took.
type ran struct {
	wall, processor time.Duration
	peak            float64 // MB
}

// run runs the program, with its output in a file.
func (p *place) run(processors string, args ...string) ran {
	p.b.Helper()
	out, err := os.Create(filepath.Join(p.dir, "out"))
	if err != nil {
		p.b.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(p.program, args...)
	cmd.Dir, cmd.Stdout = p.dir, out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "GOMAXPROCS=" + processors}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		p.b.Fatalf("conclave %v: %v", args, err)
	}
	s := cmd.ProcessState
	return ran{time.Since(start), s.UserTime() + s.SystemTime(), peakOf(s)}
}

// report prints the rate of some runs over size bytes beside its goal, and that
// of the original, 0: it has none.
func report(b *testing.B, size int64, runs []ran, goal, original float64) {
	var sum ran
	for _, r := range runs {
		sum.wall += r.wall
		sum.processor += r.processor
		sum.peak = max(sum.peak, r.peak)
	}
	n := float64(len(runs))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size)*n/1e6/sum.wall.Seconds(), "MB/s")
	b.ReportMetric(goal, "goal-MB/s")
	if original > 0 {
		b.ReportMetric(original, "original-MB/s")
	}
	b.ReportMetric(sum.processor.Seconds()/n, "cpu-s")
	b.ReportMetric(sum.peak, "MB-peak")
	b.ReportMetric(150, "goal-MB-peak")
}

func BenchmarkSession(b *testing.B) {
	file, size := sessionFile(b)
	exe, err := program.Build(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	last := &place{b, exe, b.TempDir()} // where the last import, and bundle, is
	zip := func() string { return filepath.Join(last.dir, "run.zip") }
	const whole = 288 // MB

	b.Run("map", func(b *testing.B) {
		p := &place{b, exe, b.TempDir()}
		var runs []ran
		for b.Loop() {
			runs = append(runs, p.run("1", "transcript", "map", file))
		}
		report(b, size, runs, 220, 24)
		b.ReportMetric(floor(b, file, size), "floor-MB/s")
	})
	b.Run("import", func(b *testing.B) {
		var runs []ran
		for b.Loop() {
			last = &place{b, exe, b.TempDir()}
			runs = append(runs, last.run("2", "record", "import", file))
		}
		report(b, size, runs, 120, 0)
	})
	last.dir = b.TempDir()
	last.b = b
	last.run("2", "record", "import", file)
	b.Run("bundle", func(b *testing.B) {
		var runs []ran
		for b.Loop() {
			_ = os.Remove(zip()) // that of the run before
			runs = append(runs, last.run("2", "bundle", "create", "last", "-o", zip()))
		}
		report(b, size, runs, whole/6., whole/61.)
		info, err := os.Stat(zip())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*float64(info.Size())/float64(size), "%zip")
		b.ReportMetric(100*235./whole, "goal-%zip")
	})
	_ = os.Remove(zip())
	last.run("2", "bundle", "create", "last", "-o", zip())
	b.Run("query", func(b *testing.B) {
		var runs []ran
		for b.Loop() {
			p := &place{b, exe, b.TempDir()}
			runs = append(runs, p.run("2", "query", zip(), countTypes))
		}
		report(b, size, runs, whole/3., whole/42.)
	})
}

// floor is what no mapping of the file to another one can do without, on one
// processor: read it, copy each line, escape it, write both.
func floor(b *testing.B, file string, size int64) (rate float64) {
	b.Helper()
	in, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 256<<10)
	start, bad := time.Now(), error(nil)
	var buf []byte
	for line := range transcript.Lines(io.Reader(in), &bad) {
		buf, _ = jsontext.AppendString(append(buf[:0], line...), line)
		if _, err := w.Write(buf); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil || bad != nil {
		b.Fatal(err, bad)
	}
	return float64(size) / 1e6 / time.Since(start).Seconds()
}
