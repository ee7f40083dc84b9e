package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/app"
	"conclave/internal/bearer"
	"conclave/internal/origin"
)

const (
	maxSessions = 16
	idleSession = 30 * time.Minute
	endpoint    = "/mcp"
)

// bodyTime is within which a body has to be there.
var bodyTime = 10 * time.Second

// Place is where a server listens, and the token that a request has to bear.
type Place struct{ URL, Token string }

// ServeWeb speaks the protocol over HTTP at an address of this machine until ctx
// ends. ready is told where, once it listens.
func (s *Server) ServeWeb(ctx context.Context, addr string, ready func(Place)) error {
	l, err := listenLocally(ctx, addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	token := make([]byte, 32)
	if _, err := rand.Read(token); err != nil {
		return errors.Join(err, l.Close())
	}
	d := &door{server: s, token: hex.EncodeToString(token), names: origin.Local(l.Addr()), next: sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{
			SessionTimeout: idleSession, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
		})}
	web := &http.Server{Handler: d, ReadHeaderTimeout: bodyTime, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		for session := range s.sdk.Sessions() {
			_ = session.Close() // its calls end with it
		}
		_ = web.Close()
	}()
	ready(Place{URL: d.names.URL() + endpoint, Token: d.token})
	err = web.Serve(l)
	cancel()
	<-stopped
	s.drain()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return app.ErrorOf(app.Environment, "serve: %w", err)
}

// listenLocally listens where nobody but this machine reaches.
func listenLocally(ctx context.Context, addr string) (net.Listener, error) {
	l, err := origin.Listen(ctx, addr)
	if wrong := (*origin.AddrError)(nil); errors.As(err, &wrong) {
		return nil, app.ErrorOf(app.Usage, "--http %w", err)
	}
	if err != nil {
		return nil, app.ErrorOf(app.Environment, "%w", err)
	}
	return l, nil
}

// door decides which requests reach the protocol.
type door struct {
	server *Server
	token  string
	names  origin.Names
	next   http.Handler
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !d.names.Named(r):
		http.Error(w, "another host's name", http.StatusForbidden)
	case !d.names.Same(r):
		http.Error(w, "another origin", http.StatusForbidden)
	case !bearer.Has(r.Header, d.token):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "no token", http.StatusUnauthorized)
	case r.URL.Path != endpoint:
		http.NotFound(w, r)
	case r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && d.full():
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
	case r.Method == http.MethodPost:
		d.post(w, r)
	default:
		d.next.ServeHTTP(w, r)
	}
}

func (d *door) full() bool {
	n := 0
	for range d.server.sdk.Sessions() {
		n++
	}
	return n >= maxSessions
}

// post takes the whole body while it may still be slow, and lets the calls in it
// end with the request.
func (d *door) post(w http.ResponseWriter, r *http.Request) {
	limits := http.NewResponseController(w)
	_ = limits.SetReadDeadline(time.Now().Add(bodyTime)) // a connection without deadlines is a test's
	var body []byte
	err := error(&http.MaxBytesError{Limit: maxMessage})
	if r.ContentLength <= maxMessage { // else nobody waits for what is refused
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	}
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		http.Error(w, "the message is too long", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "the message did not come", http.StatusRequestTimeout)
		return
	}
	_ = limits.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	id, done := d.server.posts.begin(r.Context())
	defer done()
	r.Header.Set(postHeader, id)
	d.next.ServeHTTP(w, r)
}

// postHeader names the request that carries a call. The door sets it: what a
// client puts there is gone.
const postHeader = "Conclave-Post"

// posts are the requests that are under way. A session of the protocol outlives
// them, and so would a call whose client has gone.
type posts struct {
	last atomic.Uint64
	open sync.Map // id → context.Context
}

func (p *posts) begin(ctx context.Context) (id string, done func()) {
	id = strconv.FormatUint(p.last.Add(1), 10)
	p.open.Store(id, ctx)
	return id, func() { p.open.Delete(id) }
}

// follow ends a call with the request that carries it.
func (p *posts) follow(ctx context.Context, req *sdk.CallToolRequest) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if req.Extra == nil || req.Extra.Header == nil {
		return ctx, cancel
	}
	post, ok := p.open.Load(req.Extra.Header.Get(postHeader))
	if !ok {
		if req.Extra.Header.Get(postHeader) != "" {
			cancel() // it has gone already
		}
		return ctx, cancel
	}
	stop := context.AfterFunc(post.(context.Context), cancel)
	return ctx, func() { stop(); cancel() }
}
