package collect

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/internal/sample"
)

// The defects of the original collector, each as a test of ours.

// It read at most 64 KiB of a file per poll.
func TestDefectReadLimitBoundsThroughput(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	p := newPlace(t)
	lines := []string{line("first", "1")}
	p.write(p.main(sessionA), lines[0]+"\n")
	o := p.options()
	o.PollInterval, o.DiscoveryInterval = time.Hour, time.Hour // one event has to do
	o.MaxReadBytes = 4096
	stop := p.live(o)
	until(t, "the first line", func() bool { return p.has(runA, "main", 1) })
	for i := range 500 {
		lines = append(lines, line(strconv.Itoa(i), strings.Repeat("x", 4000)))
	}
	p.append(p.main(sessionA), strings.Join(lines[1:], "\n")+"\n")
	until(t, "all lines", func() bool { return p.has(runA, "main", len(lines)) })
	if b := stop(); !b.OK() || b.BytesRead < 2_000_000 {
		t.Errorf("%+v", b)
	}
	p.same(runA, "main", lines...)
}

// At its stop it read once more, 64 KiB, and lost the backlog.
func TestDefectBacklogLostAtStop(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	p := newPlace(t)
	p.write(p.main(sessionA), line("a", "1")+"\n")
	o := p.options()
	o.NoEvents, o.PollInterval = true, time.Hour // it never looks again by itself
	stop := p.live(o)
	until(t, "the first line", func() bool { return p.has(runA, "main", 1) })
	backlog := strings.Repeat(line("b", strings.Repeat("y", 1000))+"\n", 2000)
	p.append(p.main(sessionA), backlog)
	if b := stop(); !b.OK() || b.Lines != 2001 || b.BytesRead != b.BytesOnDisk {
		t.Errorf("%+v", b)
	}
	if n := len(p.raws(runA, "main")); n != 2001 {
		t.Errorf("%d lines on the record", n)
	}
}

// It decoded each chunk by itself, and destroyed characters on their borders.
func TestDefectCharactersOnChunkBorders(t *testing.T) {
	t.Parallel()
	text := line("a", strings.Repeat("日本🐉é", 40))
	for size := 1; size <= 7; size++ {
		p := newPlace(t)
		p.write(p.main(sessionA), text+"\n")
		o := p.options()
		o.MaxReadBytes = size
		if b := p.collect(o); !b.OK() {
			t.Errorf("%+v", b)
		}
		p.same(runA, "main", text)
		for _, e := range p.entries(runA) {
			if strings.ContainsRune(string(e.Detail), '\ufffd') {
				t.Errorf("reads of %d bytes destroy characters", size)
			}
		}
	}
}

// It split lines at U+2028, U+2029, U+0085 and form feeds, too.
func TestDefectSplitsAtOtherSeparators(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	text := line("a", "one\u2028two\u2029three\u0085four")
	raw := "no JSON \f with \v a \x1c form \x1d feed\r"
	p.write(p.main(sessionA), text+"\n"+raw+"\n")
	p.once()
	p.same(runA, "main", text, raw)
}

// It never delivered a last line without newline.
func TestDefectLastLineWithoutNewline(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b := line("a", "1"), line("b", "2")
	p.write(p.main(sessionA), a+"\n"+b)
	stop := p.live(p.options())
	until(t, "the first line", func() bool { return p.has(runA, "main", 1) })
	if p.has(runA, "main", 2) {
		t.Error("a line was delivered before its end")
	}
	stop()
	p.same(runA, "main", a, b)
}

// It began anew at a truncation, and emitted everything twice.
func TestDefectTruncationEmitsTwice(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b, c := line("a", "1"), line("b", "2"), line("c", "3")
	p.write(p.main(sessionA), a+"\n"+b+"\n"+c+"\n")
	stop := p.live(p.options())
	until(t, "three lines", func() bool { return p.has(runA, "main", 3) })
	if err := os.Truncate(p.main(sessionA), int64(len(a)+1)); err != nil {
		t.Fatal(err)
	}
	d := line("d", "4")
	p.append(p.main(sessionA), b+"\n"+d+"\n")
	until(t, "the new line", func() bool {
		raws := p.raws(runA, "main")
		return raws[len(raws)-1] == d
	})
	stop()
	p.same(runA, "main", a, b, c, d)
}

// An interruption is an interruption: a file that takes long to read does not
// hold the person up, what is left is in the balance, and the next run goes on.
func TestInterruptedInALargeFile(t *testing.T) {
	p := newPlace(t)
	text := strings.Repeat(line("u", "again and again")+"\n", 20000)
	p.write(p.main(sessionA), text)
	o := p.options()
	o.StopWithin = time.Nanosecond
	ctx, cancel := context.WithCancel(t.Context())
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if b := c.Balance(); b.OK() || b.Unaccounted[0].Reason != "not read yet" || b.BytesRead >= int64(len(text)) {
		t.Fatalf("interrupted at once: %+v", b)
	}
	if b := p.once(); !b.OK() || b.BytesRead != int64(len(text)) {
		t.Errorf("the next run: %+v", b)
	}
}
