// Package oneconn lets an http.Server serve a connection that somebody hands
// over, and tells when it has ended: the connections of a room come one by one,
// through no listener of the server's own.
package oneconn

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Conn is a connection that tells when it was closed.
type Conn struct {
	net.Conn
	once sync.Once
	gone chan struct{}
}

// New returns c as a Conn. Whoever has it may close it before it is served.
func New(c net.Conn) *Conn { return &Conn{Conn: c, gone: make(chan struct{})} }

// Close closes the connection, and ends Serve.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.gone) })
	return err
}

// CloseWrite ends what is said and goes on listening, where the connection can.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Serve serves the requests of one connection and returns when it is closed,
// also by a handler that has taken it over.
func Serve(s *http.Server, c *Conn) {
	_ = s.Serve(&listener{conn: c}) // ends with the connection
	c.Close()                       // a server that was closed never took it
}

// listener gives out one connection, and ends when that is closed.
type listener struct {
	conn  *Conn
	given atomic.Bool
}

func (l *listener) Accept() (net.Conn, error) {
	if !l.given.Swap(true) {
		return l.conn, nil
	}
	<-l.conn.gone
	return nil, net.ErrClosed
}

// Close is called by the server when it shuts down and when Serve returns; it
// closes the connections that it has accepted by itself.
func (l *listener) Close() error   { return nil }
func (l *listener) Addr() net.Addr { return roomAddr{} }

type roomAddr struct{}

func (roomAddr) Network() string { return "room" }
func (roomAddr) String() string  { return "room" }
