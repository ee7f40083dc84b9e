package web

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func (p *served) publish(from, to int) {
	for n := from; n <= to; n++ {
		p.s.stream.publish(event{"kind": "run", "n": n})
	}
}

// expect wants the numbers of events, in order.
func (l *listener) expect(from, to int) {
	l.t.Helper()
	for n := from; n <= to; n++ {
		if e := l.until("run"); e.N != n {
			l.t.Fatalf("event %d came in place of %d", e.N, n)
		}
	}
}

// TestStreamGoesOn: who comes back hears what they missed, each event once; who comes
// back too late, or to another process, is told.
func TestStreamGoesOn(t *testing.T) {
	p := serve(t, Options{})
	l := p.listen("")
	if e, _ := l.next(); e.Kind != "hello" || e.Workspace != p.root {
		t.Fatalf("first comes %+v", e)
	}
	p.publish(1, 5)
	l.expect(1, 3)
	seen := l.last
	l.res.Body.Close()
	p.publish(6, 7)
	again := p.listen(seen)
	if e, _ := again.next(); e.Kind != "hello" {
		t.Errorf("first comes %+v", e)
	}
	again.expect(4, 7)
	// From the hello of somebody who heard nothing else.
	quiet := p.listen("")
	quiet.next()
	p.publish(8, 8)
	later := p.listen(quiet.last)
	later.expect(8, 8)

	for _, id := range []string{"OTHER-3", "nonsense", p.s.stream.start + "-", p.s.stream.start + "-x", p.s.stream.start + "--4",
		p.s.stream.id(1 << 40)} {
		l := p.listen(id)
		l.next()
		if e, _ := l.next(); e.Kind != "lost" {
			t.Errorf("%s: %+v", id, e)
		}
	}
	p.publish(9, maxKept+20)
	late := p.listen(seen)
	late.next()
	if e, _ := late.next(); e.Kind != "lost" {
		t.Errorf("after %d events: %+v", maxKept, e)
	}
	late.expect(21, maxKept+20)
}

func TestStreamIsBounded(t *testing.T) {
	s := newStream()
	long := strings.Repeat("x", maxKeptMem/8)
	for range 20 {
		s.publish(event{"text": long})
	}
	if s.size > maxKeptMem || len(s.kept) > 8 || len(s.kept) < 6 {
		t.Errorf("%d bytes of %d events are kept", s.size, len(s.kept))
	}
	for range maxKept + 10 {
		s.publish(event{})
	}
	if len(s.kept) != maxKept || s.size != 2*maxKept {
		t.Errorf("%d bytes of %d events are kept", s.size, len(s.kept))
	}
}

// TestSlowReader: who does not read is dropped, and delays nobody.
func TestSlowReader(t *testing.T) {
	p := serveWith(t, Options{}, func(s *Server) { s.patience = 300 * time.Millisecond })
	slow, err := net.Dial("tcp", p.base[len("http://"):])
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if err := slow.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if err := p.request("GET", "/api/stream", nil, nil).Write(slow); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1)
	if _, err := slow.Read(one); err != nil { // it has begun
		t.Fatal(err)
	}
	quick := p.listen("")
	quick.next()
	long := strings.Repeat("x", 64<<10)
	const many = 400 // more than the system keeps for anybody
	began := time.Now()
	for n := range many {
		p.s.stream.publish(event{"kind": "run", "n": n + 1, "text": long})
		quick.expect(n+1, n+1)
	}
	t.Logf("%d events of 64 KiB in %v beside a slow reader", many, time.Since(began))
	p.waitForReaders(1)
	p.publish(many+1, many+3)
	quick.expect(many+1, many+3)
}

// waitForReaders waits until no more than so many are left.
func (p *served) waitForReaders(most int) {
	p.t.Helper()
	for give := time.After(time.Minute); ; {
		p.s.stream.mu.Lock()
		n := p.s.stream.readers
		p.s.stream.mu.Unlock()
		if n <= most {
			return
		}
		select {
		case <-give:
			p.t.Fatalf("%d still read", n)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestTooManyStreams(t *testing.T) {
	p := serve(t, Options{})
	p.s.stream.readers = maxStreams - 1
	l := p.listen("")
	l.next()
	res, body := p.do(p.request("GET", "/api/stream", nil, nil))
	if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "too many") {
		t.Errorf("one too many: %s %s", res.Status, body)
	}
	if res, _ = p.do(p.request("HEAD", "/api/stream", nil, nil)); res.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %s", res.Status)
	}
}

// TestManyConnections holds 200 streams, some of which come and go, and wants
// neither goroutines nor memory to grow with what is told.
func TestManyConnections(t *testing.T) {
	p := serve(t, Options{})
	const many, rounds, events = 200, 6, 40
	var heard sync.WaitGroup
	ls := make([]*listener, many)
	for i := range ls {
		ls[i] = p.listen("")
		ls[i].next()
	}
	text := strings.Repeat("x", 1<<10)
	round := func(n int) (goroutines int, heap uint64) {
		heard.Add(many)
		for _, l := range ls {
			go func() {
				defer heard.Done()
				l.expect(n*events+1, (n+1)*events)
			}()
		}
		for i := range events {
			p.s.stream.publish(event{"kind": "run", "n": n*events + i + 1, "text": text})
		}
		heard.Wait()
		for i := range 10 { // ten leave, and come back for what is next
			ls[i].res.Body.Close()
			ls[i] = p.listen(ls[i].last)
			ls[i].next()
		}
		p.waitForReaders(many)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	for n := range rounds / 2 { // what is kept for those who come back is full then
		round(n)
	}
	g0, h0 := round(rounds / 2)
	var g, h = g0, h0
	for n := rounds/2 + 1; n < rounds; n++ {
		g, h = round(n)
	}
	told := fmt.Sprintf("%d streams: goroutines %d → %d, heap %d → %d KiB", many, g0, g, h0>>10, h>>10)
	t.Log(told)
	if g > g0+20 || h > h0+h0/4+uint64(4<<20) {
		t.Error("it grows: " + told)
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
}
