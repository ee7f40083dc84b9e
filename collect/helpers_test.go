package collect

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/record"
	"conclave/transcript"
)

const fixtures = "../testdata/fixtures"

const sessionA = "11111111-1111-4111-8111-111111111111"

// place is a workspace and a directory of session files.
type place struct {
	t         testing.TB
	workspace string
	root      string
}

func newPlace(t testing.TB) *place {
	dir := t.TempDir()
	p := &place{t: t, workspace: filepath.Join(dir, "ws"), root: filepath.Join(dir, "projects")}
	for _, d := range []string{p.workspace, p.root} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// main is the path of a main session file.
func (p *place) main(session string) string {
	return filepath.Join(p.root, "-home-ada-proj", session+".jsonl")
}

func (p *place) agent(session, id string) string {
	return filepath.Join(p.root, "-home-ada-proj", session, "subagents", "agent-"+id+".jsonl")
}

func (p *place) write(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) append(path, text string) {
	p.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) options() Options {
	return Options{Workspace: p.workspace, Roots: []string{p.root}, Program: "test"}
}

// once collects what is there and checks that all of it is accounted for.
func (p *place) once() Balance {
	p.t.Helper()
	b := p.collect(p.options())
	if !b.OK() || b.BytesOnDisk != b.BytesRead {
		p.t.Fatalf("not accounted for: %+v", b)
	}
	return b
}

func (p *place) collect(o Options) Balance {
	p.t.Helper()
	o.Once = true
	c, err := New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Run(context.Background()); err != nil {
		p.t.Fatal(err)
	}
	return c.Balance()
}

// live runs a collector until stop is called.
func (p *place) live(o Options) (stop func() Balance) {
	p.t.Helper()
	c, err := New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	var ended bool
	stop = func() Balance {
		if !ended {
			ended = true
			cancel()
			if err := <-done; err != nil {
				p.t.Error(err)
			}
		}
		return c.Balance()
	}
	p.t.Cleanup(func() { stop() })
	return stop
}

// log returns the log lines of a record that satisfies the six invariants.
func (p *place) log(run string) [][]byte {
	p.t.Helper()
	path, err := record.Path(p.workspace, run)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close()
	var lines [][]byte
	for r.Next() {
		if f := r.Frame(); f.Kind == record.KindLog {
			lines = append(lines, bytes.Clone(f.Payload))
		}
	}
	if r.Err() != nil {
		p.t.Fatal(r.Err())
	}
	if _, err := transcript.Check(slices.Values(lines)); err != nil {
		p.t.Fatal(err)
	}
	return lines
}

func (p *place) entries(run string) []transcript.Entry {
	p.t.Helper()
	return transcript.Reconstruct(slices.Values(p.log(run))).Entries
}

// raws returns the source lines on the record of a source.
func (p *place) raws(run, source string) []string {
	p.t.Helper()
	var out []string
	for _, e := range p.entries(run) {
		if e.Source == source && e.Raw != nil {
			out = append(out, string(e.Raw))
		}
	}
	return out
}

// same fails unless the lines on the record are those given.
func (p *place) same(run, source string, want ...string) {
	p.t.Helper()
	if got := p.raws(run, source); !slices.Equal(got, want) {
		p.t.Fatalf("on the record of %s:\n%s\nwant\n%s", source, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// until waits for a condition.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	untilWithin(t, time.Minute, what, cond)
}

func untilWithin(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		<-tick.C
	}
}

// has says whether the record of a run, which is being written, has n lines of
// a source.
func (p *place) has(run, source string, n int) bool {
	path, err := record.Path(p.workspace, run)
	if err != nil {
		p.t.Fatal(err)
	}
	past := readPast(path)
	return past != nil && past.sources[source] != nil && past.sources[source].ledger.n >= n
}

// line is a user line with its own uuid and text.
func line(uuid, text string) string {
	return `{"type":"user","uuid":"` + uuid + `","sessionId":"` + sessionA + `","message":{"role":"user","content":"` + text + `"},"promptSource":"sdk"}`
}
