package web

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// bounded is a listener with at most so many connections at once. When there are so
// many, the one that has been idle longest among those that nobody vouched for makes
// room: who has no token cannot keep out who has.
type bounded struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[*boundedConn]struct{}
}

func newBounded(l net.Listener, most int) *bounded {
	return &bounded{Listener: l, most: most, open: map[*boundedConn]struct{}{}}
}

// Accept refuses one too many where all are vouched for: to let it wait would hide
// that it is too many.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &boundedConn{Conn: conn, of: b}
		c.touch()
		if b.take(c) {
			return c, nil
		}
		conn.Close()
	}
}

// take gives a connection its place, if need be that of another.
func (b *bounded) take(c *boundedConn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open) >= b.most {
		idlest := b.idlest()
		if idlest == nil {
			return false
		}
		delete(b.open, idlest)
		go idlest.Close() // with TLS it says goodbye, for which nobody waits
	}
	b.open[c] = struct{}{}
	return true
}

// idlest is the connection that makes room, nil where none does.
func (b *bounded) idlest() (found *boundedConn) {
	for c := range b.open {
		if !c.vouched.Load() && (found == nil || c.last.Load() < found.last.Load()) {
			found = c
		}
	}
	return found
}

var started = time.Now() // what the clock of connections goes by

type boundedConn struct {
	net.Conn
	of      *bounded
	vouched atomic.Bool  // it bore the token, or a code that lets in
	last    atomic.Int64 // when something came or went
}

func (c *boundedConn) touch() { c.last.Store(int64(time.Since(started))) }

func (c *boundedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.touch()
	}
	return n, err
}

func (c *boundedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.touch()
	}
	return n, err
}

func (c *boundedConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
