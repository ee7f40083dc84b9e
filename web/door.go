package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"conclave/internal/bearer"
)

// policy is what a browser allows what we serve: our own scripts, styles and
// connections, no frame, no base, no text that becomes code.
const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; " +
	"trusted-types 'none'"

const (
	codeLife  = 10 * time.Minute
	maxCodes  = 64
	writeTime = 20 * time.Second // within which a reader has to take a piece
)

// door decides which requests get any further.
type door struct {
	server *Server
	root   string
	pages  http.Handler
	token  string

	mu    sync.Mutex
	codes map[string]time.Time // until when
}

func newDoor(s *Server, pages http.Handler) *door {
	return &door{server: s, pages: pages, token: newSecret(), codes: map[string]time.Time{}}
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = newSteady(w, d.server.patience)
	setHeaders(w.Header())
	names := d.server.names
	api := strings.HasPrefix(r.URL.Path, "/api/")
	switch {
	case !names.Named(r):
		fail(w, r, &problem{http.StatusMisdirectedRequest, "denied", "another host's name"})
	case !names.Same(r):
		fail(w, r, &problem{http.StatusForbidden, "denied", "another origin"})
	case !ownFetch(r, api):
		fail(w, r, &problem{http.StatusForbidden, "denied", "another page asks for it"})
	case !api:
		d.pages.ServeHTTP(w, r)
	case r.URL.Path != "/api/enter" && !bearer.Has(r.Header, d.token):
		if !wrongs(r).take() {
			w.Header().Set("Connection", "close")
			fail(w, r, errTooFast)
			return
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		fail(w, r, &problem{http.StatusUnauthorized, "denied", "no token: open the page by its link (conclave web)"})
	default:
		if r.URL.Path != "/api/enter" {
			vouch(r)
		}
		w.Header().Set("Cache-Control", "no-store")
		d.server.routes.ServeHTTP(w, r)
	}
}

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// ownFetch goes by what a browser says of who asks; other programs say nothing.
// Another port of this machine is the same site. Somebody may follow a link to the
// page from anywhere, and the shell that they get knows nothing; no frame may.
func ownFetch(r *http.Request, api bool) bool {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin":
		return true
	default:
		h := r.Header
		return !api && r.Method == http.MethodGet && h.Get("Sec-Fetch-Mode") == "navigate" &&
			h.Get("Sec-Fetch-Dest") == "document"
	}
}

// newCode is a way in that can be used once.
func (d *door) newCode() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	code := newSecret()
	for len(d.codes) >= maxCodes { // the oldest goes
		oldest := ""
		for c, until := range d.codes {
			if oldest == "" || until.Before(d.codes[oldest]) {
				oldest = c
			}
		}
		delete(d.codes, oldest)
	}
	d.codes[code] = time.Now().Add(codeLife)
	return code
}

// use says whether a code lets in, which it does once.
func (d *door) use(code string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := ""
	for c, until := range d.codes {
		if time.Now().After(until) {
			delete(d.codes, c)
		} else if bearer.Same(c, code) {
			found = c
		}
	}
	delete(d.codes, found)
	return found != ""
}

// enter exchanges a code for the token. Who has the right one is never made to wait
// for those who guess.
func (d *door) enter(_ http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Code string `json:"code"`
	}
	if err := readJSON(r, &in); err != nil {
		return nil, err
	}
	if !d.use(in.Code) {
		if !wrongs(r).take() {
			return nil, errTooFast
		}
		return nil, &problem{http.StatusUnauthorized, "denied",
			"this link was used already, or is too old; a new one: conclave web"}
	}
	vouch(r)
	return map[string]string{"token": d.token}, nil
}

// bucket lets so many pass at once, and then so many a second.
type bucket struct {
	mu    sync.Mutex
	left  float64
	most  float64
	every float64 // a second
	last  time.Time
}

func newBucket(most, every float64) *bucket {
	return &bucket{left: most, most: most, every: every, last: time.Now()}
}

func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.left = min(b.most, b.left+now.Sub(b.last).Seconds()*b.every)
	b.last = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// What is counted for each connection.
type connKey struct{}

type connCounts struct {
	acts, wrongs *bucket
	conn         *boundedConn // nil: not one of ours
}

func connContext(ctx context.Context, conn net.Conn) context.Context {
	c := &connCounts{acts: newBucket(40, 20), wrongs: newBucket(20, 1)}
	c.conn, _ = conn.(*boundedConn)
	return context.WithValue(ctx, connKey{}, c)
}

// vouch keeps the connection of somebody who may come in from making room for others.
func vouch(r *http.Request) {
	if c := counts(r).conn; c != nil {
		c.vouched.Store(true)
	}
}

func counts(r *http.Request) *connCounts {
	if c, ok := r.Context().Value(connKey{}).(*connCounts); ok {
		return c
	}
	return &connCounts{acts: newBucket(1, 0), wrongs: newBucket(1, 0)} // not a connection of ours: a test's
}

func wrongs(r *http.Request) *bucket { return counts(r).wrongs }

// takeBody reads the whole body while it may still be slow.
func takeBody(w http.ResponseWriter, r *http.Request, most int64) error {
	limits := http.NewResponseController(w)
	_ = limits.SetReadDeadline(time.Now().Add(bodyTime)) // a connection without deadlines is a test's
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return &problem{http.StatusRequestEntityTooLarge, "usage", "the message is too long"}
	}
	if err != nil {
		return &problem{http.StatusRequestTimeout, "usage", "the message did not come"}
	}
	_ = limits.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// slowBody is a body that may be long, each piece of which has to come in time.
type slowBody struct {
	io.ReadCloser
	limits *http.ResponseController
}

func (b *slowBody) Read(p []byte) (int, error) {
	_ = b.limits.SetReadDeadline(time.Now().Add(bodyTime))
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.limits.SetReadDeadline(time.Time{})
	}
	return n, err
}

// steady writes in pieces, each of which a reader has to take in time.
type steady struct {
	http.ResponseWriter
	limits   *http.ResponseController
	patience time.Duration
}

const piece = 64 << 10

func newSteady(w http.ResponseWriter, patience time.Duration) *steady {
	s := &steady{w, http.NewResponseController(w), patience}
	s.renew()
	return s
}

func (s *steady) renew() { _ = s.limits.SetWriteDeadline(time.Now().Add(s.patience)) }

// Unwrap is for http.ResponseController.
func (s *steady) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *steady) Write(p []byte) (n int, err error) {
	for first := true; first || len(p) > 0; first = false {
		s.renew()
		var some int
		some, err = s.ResponseWriter.Write(p[:min(len(p), piece)])
		n, p = n+some, p[some:]
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
