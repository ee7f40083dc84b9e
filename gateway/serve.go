package gateway

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"

	"conclave/internal/bearer"
	"conclave/internal/oneconn"
)

func newServer(g *Gateway) *http.Server {
	return &http.Server{
		Handler:           g,
		ReadHeaderTimeout: g.opts.Limits.HeaderTime,
		IdleTimeout:       g.opts.Limits.IdleTime,
		MaxHeaderBytes:    maxHeader,
		// What a program in a room does to its connection is not news.
		ErrorLog: log.New(io.Discard, "", 0),
	}
}

// ServeConn serves the requests of one connection and returns when it has
// ended. One too many is closed at once.
func (g *Gateway) ServeConn(c net.Conn) {
	if !g.enter() {
		c.Close()
		return
	}
	defer g.wg.Done()
	if !g.connections.take(1) {
		g.turnAway()
		c.Close()
		return
	}
	defer g.connections.give(1)
	one := oneconn.New(c)
	// Close reaches a connection that the server has not yet noticed, too.
	defer context.AfterFunc(g.ctx, func() { one.Close() })()
	oneconn.Serve(g.server, one)
}

// Dial opens a connection that is served like one that comes from a room: for
// an agent that runs in this process, and has no other way out either.
func (g *Gateway) Dial(context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go g.ServeConn(theirs) // Close ends it and waits for it
	return ours, nil
}

// ServeHTTP serves one request. It ends with panic(http.ErrAbortHandler), as
// net/http has it, where a response that has begun must be cut.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		writeRefusal(w, g.family(r), &refusal{ruleClosed, "the room's gateway is closed: the turn has ended"})
		return
	}
	defer g.wg.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)()
	g.hurry(w)
	g.serve(w, r.WithContext(ctx))
}

func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	to := g.route(r)
	switch {
	case to.where == home:
		g.knock(w, r)
	case !bearer.Has(r.Header, g.opts.Token):
		g.refuse(w, r, nil, nil, &refusal{ruleToken,
			"this request does not bear the room's token: send it as x-api-key, as x-goog-api-key or as a bearer token"})
	case to.no != nil:
		g.refuse(w, r, nil, nil, to.no)
	case to.where == tools:
		g.serveTools(w, r)
	default:
		g.exchange(w, r, to)
	}
}

// knock answers whether somebody is there. Claude Code asks it before it shows
// its token; that asks for nothing, and is not worth a refusal on the record.
func (g *Gateway) knock(w http.ResponseWriter, r *http.Request) {
	if !bearer.Has(r.Header, g.opts.Token) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusOK)
}
