package bench

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/search"
	"conclave/archive/sql"
	"conclave/internal/clients"
	"conclave/internal/sessiongen"
	"conclave/session/claude"
	"conclave/transcript"
	counted "conclave/usage"
)

// The sizes are small by default, so that the benchmarks can be run with every
// test. CONCLAVE_BENCH_MB=1024 CONCLAVE_BENCH_ENTRIES=100000 are those that
// docs/performance.md speaks of.
func megabytes() int64 { return number("CONCLAVE_BENCH_MB", 8) }
func entries() int     { return int(number("CONCLAVE_BENCH_ENTRIES", 2000)) }

func number(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil && n > 0 {
		return n
	}
	return otherwise
}

func tree(b *testing.B) sessiongen.Tree {
	b.Helper()
	t, err := sessiongen.WriteTree(b.TempDir(), sessiongen.TreeOptions{Seed: 7, Bytes: megabytes() << 20, Words: 40_000})
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func open(b *testing.B, dir string) *archive.Archive {
	b.Helper()
	a, err := archive.Open(filepath.Join(dir, "archive.db"), archive.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	return a
}

func refresh(b *testing.B, a *archive.Archive, t sessiongen.Tree) archive.Report {
	b.Helper()
	rep, err := a.Refresh(context.Background(), []string{t.Dir})
	if err != nil {
		b.Fatal(err)
	}
	return rep
}

// BenchmarkArchiveCold takes up a tree of sessions, with full text. Workers and
// writer overlap, so that the processor's time says more than the clock's where
// others are busy; BenchmarkCut in package archive is the workers' half.
func BenchmarkArchiveCold(b *testing.B) {
	t := tree(b)
	b.SetBytes(t.Bytes)
	before := processor()
	for b.Loop() {
		a := open(b, b.TempDir())
		if rep := refresh(b, a, t); rep.Bytes != t.Bytes {
			b.Fatalf("took up %d of %d bytes", rep.Bytes, t.Bytes)
		}
		a.Close()
	}
	b.ReportMetric((processor()-before).Seconds()/float64(b.N)/(float64(t.Bytes)/1e9), "cpu-s/GB")
	b.ReportMetric(60, "goal-MB/s")
	b.ReportMetric(34, "goal-cpu-s/GB")
}

// BenchmarkArchiveIdle refreshes when nothing is new.
func BenchmarkArchiveIdle(b *testing.B) {
	t := tree(b)
	a := open(b, b.TempDir())
	refresh(b, a, t)
	for b.Loop() {
		if rep := refresh(b, a, t); rep.Changed != 0 {
			b.Fatalf("%d files had changed", rep.Changed)
		}
	}
	b.ReportMetric(100, "goal-ms")
}

// BenchmarkArchiveGrown refreshes when one file of the tree has grown.
func BenchmarkArchiveGrown(b *testing.B) {
	t := tree(b)
	a := open(b, b.TempDir())
	refresh(b, a, t)
	more := bytes.Buffer{}
	if _, err := sessiongen.Write(&more, sessiongen.Options{Seed: 99, Bytes: 20_000}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, err := os.OpenFile(t.Files[0], os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write(more.Bytes()); err != nil {
			b.Fatal(err)
		}
		f.Close()
		if rep := refresh(b, a, t); rep.Changed != 1 {
			b.Fatalf("%d files had changed", rep.Changed)
		}
	}
}

// BenchmarkUsageCold counts the tokens of a tree, beside ccusage on the same
// tree with as many processors, BenchmarkUsageWarm counts them again.
func BenchmarkUsageCold(b *testing.B) {
	t := tree(b)
	b.SetBytes(t.Bytes)
	peer, peerCPU := time.Duration(1<<63-1), time.Duration(1<<63-1)
	for range 3 { // its best: the first has to read the disk
		took, cpu := ccusage(b, t)
		peer, peerCPU = min(peer, took), min(peerCPU, cpu)
	}
	before := processor()
	for b.Loop() {
		usage(b, t, "")
	}
	ours := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(peer)/float64(ours), "x-ccusage")
	if cpu := (processor() - before) / time.Duration(b.N); cpu > 0 {
		b.ReportMetric(float64(peerCPU)/float64(cpu), "x-ccusage-cpu")
	}
	b.ReportMetric(float64(t.Bytes)/1e6/peer.Seconds(), "ccusage-MB/s")
	b.ReportMetric(2.5, "goal-x-ccusage")
}

// ccusage lets the peer count a tree and returns how long it took, and how much of
// the processors.
func ccusage(b *testing.B, t sessiongen.Tree) (took, cpu time.Duration) {
	b.Helper()
	program, err := clients.Counter()
	if err != nil {
		b.Fatal(err)
	}
	args := []string{"claude", "daily", "--json", "--offline"}
	if runtime.GOMAXPROCS(0) == 1 {
		args = append(args, "--single-thread")
	}
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + b.TempDir(), "CLAUDE_CONFIG_DIR=" + filepath.Dir(t.Dir)}
	start := time.Now()
	out, err := cmd.Output()
	took = time.Since(start)
	if want := fmt.Sprintf(`"outputTokens": %d`, t.Output); err != nil || !bytes.Contains(out, []byte(want)) {
		b.Fatalf("ccusage: %v; no %s in %s", err, want, out)
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func BenchmarkUsageWarm(b *testing.B) {
	t := tree(b)
	cache := filepath.Join(b.TempDir(), "usage")
	usage(b, t, cache)
	for b.Loop() {
		usage(b, t, cache)
	}
}

func usage(b *testing.B, t sessiongen.Tree, cache string) {
	b.Helper()
	u, err := counted.Count(context.Background(), []string{t.Dir}, counted.Options{Cache: cache})
	if err != nil {
		b.Fatal(err)
	}
	if u.Total.Output != t.Output || int64(u.Total.Responses) != t.Messages {
		b.Fatalf("counted %d responses, %d output tokens; want %d, %d", u.Total.Responses, u.Total.Output, t.Messages, t.Output)
	}
}

// BenchmarkSearch looks for words that are rare, common, several, and filtered,
// and reports the median.
func BenchmarkSearch(b *testing.B) {
	t := tree(b)
	a := open(b, b.TempDir())
	rep := refresh(b, a, t)
	queries := []search.Query{
		{Words: "dragon"}, {Words: "the party"}, {Words: "qbabe"}, {Words: "errorf café"}, {Words: `"err return"`},
		{Words: "sess*"}, {Words: "grep", In: []transcript.Type{transcript.ToolUse}}, {Words: "record -dragon"},
		{Words: "water long", Project: "project-b"}, {Words: "agent", Role: "Explore"},
	}
	var took []time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		if _, err := search.Find(context.Background(), a, queries[i%len(queries)]); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms-p95")
	b.ReportMetric(float64(rep.Entries), "entries")
}

// bundleOf writes a bundle of n entries of a generated session, as a run of the
// engine would.
func bundleOf(b *testing.B, n int) string {
	b.Helper()
	file := filepath.Join(b.TempDir(), "bundle.zip")
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	z := zip.NewWriter(f)
	put := func(name string, text []byte) {
		w, err := z.Create("debug_bundle/" + name)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	put("manifest.json", []byte(`{"format_version":"1.0.0","bundle_id":"bench","created_at":"2026-11-15T00:00:00+00:00","request":{"status":"success"}}`))
	w, err := z.Create("debug_bundle/logs/app.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	count := 0
	m := claude.NewMapper(claude.Options{Reuse: true})
	now := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	var line []byte
	for seed := uint64(1); count < n; seed++ {
		var session bytes.Buffer
		if _, err := sessiongen.Write(&session, sessiongen.Options{Seed: seed, Bytes: 4 << 20, Words: 40_000}); err != nil {
			b.Fatal(err)
		}
		for raw := range bytes.SplitSeq(bytes.TrimSpace(session.Bytes()), []byte("\n")) {
			for _, it := range m.Map(raw) {
				if count == n {
					break
				}
				count++
				line = transcript.AppendEntry(line[:0], &transcript.Entry{PromptName: "bench", Adapter: transcript.AdapterClaude, Type: it.Type,
					Sequence: int64(count), Source: transcript.Main, Timestamp: now.Add(time.Duration(count) * time.Millisecond),
					SessionID: it.SessionID, Detail: it.Detail, Raw: it.Raw})
				if _, err := w.Write(append(line, '\n')); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return file
}

const countTypes = "SELECT entry_type, count(*) FROM transcript GROUP BY 1"

func ask(b *testing.B, cache, file, query string) *sql.Rows {
	b.Helper()
	a, err := archive.OpenFiles(context.Background(), cache, []string{file}, archive.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	rows, err := sql.Query(context.Background(), a, query, sql.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	return rows
}

// BenchmarkQueryFirst asks a bundle for the first time, BenchmarkQueryNext
// again; the memory is that of the whole process at its highest.
func BenchmarkQueryFirst(b *testing.B) {
	file := bundleOf(b, entries())
	runtime.GC()
	for b.Loop() {
		ask(b, b.TempDir(), file, countTypes)
	}
	b.ReportMetric(peakMB(), "MB-peak")
}

func BenchmarkQueryNext(b *testing.B) {
	file, cache := bundleOf(b, entries()), b.TempDir()
	ask(b, cache, file, countTypes)
	for _, q := range []struct{ name, query string }{
		{"columns", countTypes},
		{"context", "SELECT context->>'entry_type', context->>'source', count(*) FROM transcript GROUP BY 1, 2"},
		{"tools", "SELECT tool_name, count(*), avg(duration_ms) FROM tool_calls GROUP BY 1"},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				if rows := ask(b, cache, file, q.query); len(rows.Rows) == 0 {
					b.Fatal("no rows")
				}
			}
		})
	}
}

// peakMB is the most memory that the process has had.
func peakMB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kb float64
	_, _ = fmt.Sscan(string(rest), &kb)
	return kb / 1024
}
