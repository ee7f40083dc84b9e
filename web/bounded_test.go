package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// pair is a connection from both ends.
type pair struct {
	near net.Conn
	far  *boundedConn
}

// closed says whether the other end has closed it.
func (c pair) closed(t *testing.T) bool {
	t.Helper()
	_ = c.near.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err := c.near.Read(make([]byte, 1))
	return err == io.EOF
}

// listenBounded listens for so many; dial gives a connection that was let in, or its
// near end alone.
func listenBounded(t *testing.T, most int) (dial func(in bool) pair) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := newBounded(l, most)
	t.Cleanup(func() { b.Close() })
	accepted := make(chan net.Conn, 8)
	go func() {
		for {
			conn, err := b.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	return func(in bool) pair {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if !in {
			return pair{near: conn}
		}
		select {
		case far := <-accepted:
			return pair{conn, far.(*boundedConn)}
		case <-time.After(10 * time.Second):
			t.Fatal("nobody made room")
			return pair{}
		}
	}
}

// TestTooManyConnections: of those that were vouched for, one too many is refused.
func TestTooManyConnections(t *testing.T) {
	dial := listenBounded(t, 2)
	first, second := dial(true), dial(true)
	first.far.vouched.Store(true)
	second.far.vouched.Store(true)
	if !dial(false).closed(t) {
		t.Error("one too many was let in")
	}
	first.far.Close()
	first.far.Close()
	dial(true).far.vouched.Store(true)
	if !dial(false).closed(t) {
		t.Error("a connection that was closed twice made room for two")
	}
}

// TestIdleConnectionsMakeRoom: the one goes that has been idle longest, and none
// that was vouched for.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	dial := listenBounded(t, 3)
	owner, spoke, idle := dial(true), dial(true), dial(true)
	owner.far.vouched.Store(true)
	if _, err := spoke.near.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := spoke.far.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	third := dial(true)
	if !idle.closed(t) {
		t.Error("the one that was idle did not make room")
	}
	fourth := dial(true)
	if !spoke.closed(t) {
		t.Error("the one that spoke before the third came did not make room")
	}
	for _, c := range []pair{owner, third, fourth} {
		if _, err := c.far.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if c.closed(t) {
			t.Error("one was closed that should not be")
		}
	}
}

// TestConnectionsWithoutTokenKeepNobodyOut: more connections than there may be, each
// of which asked for something that everybody may have, said something wrong or
// nothing at all, and then stays; the owner comes in, is let in, and stays.
func TestConnectionsWithoutTokenKeepNobodyOut(t *testing.T) {
	const most = 24
	p := serveWith(t, Options{}, func(s *Server) { s.most = most })
	owner := p.listen("")
	owner.until("hello")
	for round := range 2 {
		for n := range most + 6 {
			p.linger(n)
		}
		p.get("GET", "/api/hello", nil, 200, nil)
		if round == 0 {
			p.get("POST", "/api/enter", map[string]string{"code": p.code}, 200, nil)
		}
	}
	p.s.stream.publish(event{"kind": "marks"})
	owner.until("marks")
}

// linger opens a connection without a token, and leaves it open.
func (p *served) linger(n int) {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	path := []string{"/favicon.ico", "/api/hello", ""}[n%3]
	if path == "" {
		return
	}
	r := p.request("GET", path, nil, func(r *http.Request) { r.Header.Del("Authorization") })
	if err := r.Write(conn); err != nil {
		p.t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	res, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		p.t.Fatalf("connection %d got nothing: %v", n, err)
	}
	if res.StatusCode < 400 {
		p.t.Errorf("%s without a token: %s", path, res.Status)
	}
	res.Body.Close()
}
