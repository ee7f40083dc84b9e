package runs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/search"
)

// large is an archive of many small sessions and one with many entries.
func large(b testing.TB, files, entries int) (*Shelf, string, string) {
	b.Helper()
	root := b.TempDir()
	at := time.Now().Add(-time.Hour)
	line := func(w *bufio.Writer, session string, n int) {
		stamp := at.Add(time.Duration(n) * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z")
		switch n % 3 {
		case 0:
			fmt.Fprintf(w, `{"type":"user","uuid":"u%d","sessionId":%q,"cwd":"/w/%d","timestamp":%q,`+
				`"message":{"role":"user","content":"Look at part %d of the castle, and say word%d."}}`+"\n",
				n, session, len(session), stamp, n, n%97)
		case 1:
			fmt.Fprintf(w, `{"type":"assistant","uuid":"a%d","sessionId":%q,"timestamp":%q,"message":{"id":"msg_%s%d","role":"assistant",`+
				`"model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_%s%d","name":"Bash","input":{"command":"ls part-%d"}}],`+
				`"usage":{"input_tokens":10,"output_tokens":%d}}}`+"\n", n, session, stamp, session, n, session, n, n, n%500)
		default:
			fmt.Fprintf(w, `{"type":"user","uuid":"r%d","sessionId":%q,"timestamp":%q,"message":{"role":"user","content":`+
				`[{"type":"tool_result","tool_use_id":"toolu_%s%d","content":"a file and another, %d bytes"}]}}`+"\n",
				n, session, stamp, session, n-1, n)
		}
	}
	write := func(n, lines int) string {
		session := fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)
		dir := filepath.Join(root, "projects", fmt.Sprintf("-w-%d", n/20))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, session+".jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		w := bufio.NewWriter(f)
		for i := range lines {
			line(w, session, i)
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		return session
	}
	for n := range files {
		write(n+1, 6)
	}
	run := write(0, entries*3/4)
	a, err := archive.Open(filepath.Join(b.TempDir(), "archive.db"), archive.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	if _, err := a.Refresh(b.Context(), []string{root}); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	s := New(a)
	if _, err := s.Update(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("the first look took %v", time.Since(began))
	return s, run, root
}

// BenchmarkPage is what a page asks for, at 8,000 files and 100,000 entries in one
// run; the goals are those of docs/web.md. Beside them stands reading the session
// file itself from its beginning to its end, which every other way has to.
func BenchmarkPage(b *testing.B) {
	s, run, root := large(b, 8000, 100_000)
	began := time.Now()
	h, err := s.Sheet(b.Context(), run)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d places for the first time: %v", h.Total(), time.Since(began))
	now := time.Now()
	measure := func(name string, goal float64, do func(n int) error) {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if err := do(n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms")
			b.ReportMetric(goal, "goal-ms")
		})
	}
	measure("list", 50, func(n int) error {
		_, err := s.List(b.Context(), Filter{From: n % 8 * 1000}, now)
		return err
	})
	measure("head", 50, func(int) error {
		_, err := s.sumUp(b.Context(), h)
		return err
	})
	measure("index", 20, func(int) error {
		_, err := h.Columns(0, Whole)
		return err
	})
	measure("now", 50, func(int) error {
		_, err := s.Select(b.Context(), Filter{}, now, func(r *Run) bool { return r.Kind == KindTable })
		return err
	})
	file := filepath.Join(root, "projects", "-w-0", run+".jsonl")
	measure("grow", 30, func(n int) error { // from a line that was appended to the new places
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f, `{"type":"user","uuid":"g%d","sessionId":%q,"timestamp":%q,"message":{"role":"user","content":"more"}}`+"\n",
			n, run, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
		if err = errors.Join(err, f.Close()); err == nil {
			_, err = s.a.RefreshFiles(b.Context(), []string{file})
		}
		if err == nil {
			_, err = s.Update(b.Context(), file)
		}
		if err == nil {
			h, err = s.Sheet(b.Context(), run)
		}
		return err
	})
	measure("window", 30, func(n int) error {
		_, err := s.Window(b.Context(), h, n*7919%h.Total(), 200)
		return err
	})
	measure("find", 100, func(n int) error {
		_, _, err := s.Find(b.Context(), h, fmt.Sprintf("castle word%d", n%97))
		return err
	})
	measure("search", 150, func(n int) error {
		_, err := search.Find(b.Context(), s.a, search.Query{Words: fmt.Sprintf("castle word%d", n%97)})
		return err
	})
	measure("peer:read-the-file", 0, func(int) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		for in.Scan() {
		}
		return in.Err()
	})
}
