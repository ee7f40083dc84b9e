package room

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/agent"
)

// median runs f b.N times and reports the median and the worst.
func median(b *testing.B, f func() time.Duration) {
	b.Helper()
	var all []time.Duration
	for b.Loop() {
		all = append(all, f())
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "worst-ms")
}

// setUp opens a room and starts the smallest program in it; the program's own
// start is subtracted.
func setUp(b *testing.B, p Plan) {
	p.Base = base(b)
	median(b, func() time.Duration {
		begin := time.Now()
		r, err := Open(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		proc, err := r.Launch(b.Context(), agent.Command{Path: "/bin/true"})
		if err != nil {
			b.Fatal(err)
		}
		took := time.Since(begin)
		<-proc.Done()
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		return took
	})
}

func BenchmarkRoom(b *testing.B) {
	for _, l := range []Level{Sealed, Fenced, Advisory} {
		b.Run(string(l), func(b *testing.B) { setUp(b, Plan{Lower: l}) })
	}
}

func BenchmarkRoom1000Files(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		write(b, strings.Repeat("a line of work\n", 100), dir, fmt.Sprintf("d%d", i%20), fmt.Sprintf("f%d.md", i))
	}
	b.Run("copied", func(b *testing.B) {
		setUp(b, Plan{Grants: []Grant{{Kind: "final work", Name: "work", Source: dir, Withheld: private}}})
	})
	b.Run("mounted", func(b *testing.B) { setUp(b, Plan{Workspace: &View{Source: dir, Withheld: private}}) })
}

// The way through the door costs nothing but loopback.
func BenchmarkDoor(b *testing.B) {
	const total = 256 << 20
	chunk := make([]byte, 256<<10)
	r := open(b, Plan{Gateway: func(c net.Conn) {
		for sent := 0; sent < total; sent += len(chunk) {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	}})
	b.SetBytes(total)
	for b.Loop() {
		p, err := r.Launch(b.Context(), shell(fmt.Sprintf("exec cat </dev/tcp/127.0.0.1/%d >/dev/null", insidePort)))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, p.Stdout())
		<-p.Done()
		if err := p.Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// The figure is BenchmarkRoom's. This holds its order of magnitude on a machine
// that is busy with other tests.
func TestSetUpIsQuick(t *testing.T) {
	dir := base(t)
	var best time.Duration = time.Hour
	for range 5 {
		begin := time.Now()
		r, err := Open(t.Context(), Plan{Base: dir})
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Launch(t.Context(), agent.Command{Path: "/bin/true"})
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(begin))
		<-p.Done()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s: %v", filepath.Base(dir), left)
	}
	t.Logf("best of five: %v", best)
	if best > 2*time.Second {
		t.Errorf("the best of five rooms took %v", best)
	}
}
