package forwarder

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/internal/bearer"
	"conclave/internal/oneconn"
)

// The events on the record.
const (
	EventConnect = "forwarder.connect" // Passage, before a byte of it
	EventClosed  = "forwarder.closed"  // Passage
	EventRefused = "forwarder.refused" // Refusal
)

// Events keeps log records; a *transcript.Emitter does. An error ends the
// forwarder's work.
type Events interface {
	Event(level slog.Level, event, message string, context any) error
}

// Options say what a forwarder lets pass. Hosts and Events are needed.
type Options struct {
	// Hosts are the names that may be connected to, in lower case.
	Hosts []string
	// Token is the password by which the program shows that it is the room's.
	Token string
	// Tools serves /mcp on the same port; it asks for its token by itself.
	Tools  http.Handler
	Limits Limits
	Events Events
	// Dial reaches a host of the list at port 443; nil dials its public address.
	Dial func(ctx context.Context, host string) (net.Conn, error)
}

// Limits bound what a room can take. Zero means the default.
type Limits struct {
	Tunnels  int           // at the same time; 64
	Bytes    int64         // of one connection, in either direction; 1 GiB
	HeadTime time.Duration // for the head of a request, and again for the hello; 15 s
	Silence  time.Duration // without a byte in either direction; 10 minutes
}

func (l Limits) complete() Limits {
	l.Tunnels = cmp.Or(l.Tunnels, 64)
	l.Bytes = cmp.Or(l.Bytes, 1<<30)
	l.HeadTime = cmp.Or(l.HeadTime, 15*time.Second)
	l.Silence = cmp.Or(l.Silence, 10*time.Minute)
	return l
}

const (
	maxHead      = 16 << 10
	mostRefusals = 1000 // on the record; the others are counted
	dialTime     = 30 * time.Second
	port         = "443"
	user         = "room" // in the address of the proxy, before the token
)

// Passage is a connection that was let pass.
type Passage struct {
	ID      string    `json:"id"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	// What follows is known at its end.
	Ended    *time.Time `json:"ended,omitempty"`
	Sent     int64      `json:"sent"`     // bytes to the host
	Received int64      `json:"received"` // bytes from it
	Cut      string     `json:"cut,omitempty"`
}

// Refusal is something that was not let pass.
type Refusal struct {
	Rule   string    `json:"rule"`
	Target string    `json:"target,omitempty"`
	Why    string    `json:"why"`
	At     time.Time `json:"at"`
}

// Summary is what has passed so far.
type Summary struct {
	Connections int   // that were let pass
	Refused     int   // whatever was not
	Sent        int64 // bytes of the connections that have ended
	Received    int64
}

// Forwarder is the way out of one room. It is safe for concurrent use.
type Forwarder struct {
	opts   Options
	server *http.Server
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	sum    Summary
	fault  error // the record failed: nothing passes any more
}

// New returns a forwarder that is ready to serve.
func New(o Options) (*Forwarder, error) {
	switch {
	case o.Events == nil:
		return nil, errors.New("open forwarder: there is no record to write to, and nothing passes unrecorded")
	case len(o.Hosts) == 0:
		return nil, errors.New("open forwarder: no host is named, so that nothing could pass")
	}
	for _, h := range o.Hosts {
		if _, err := netip.ParseAddr(h); err == nil || h != strings.ToLower(h) || !strings.Contains(h, ".") {
			return nil, fmt.Errorf("open forwarder: %q is no name of a host in lower case", h)
		}
	}
	o.Hosts, o.Limits = slices.Clone(o.Hosts), o.Limits.complete()
	o.Token = cmp.Or(o.Token, rand.Text())
	if o.Dial == nil {
		o.Dial = dialPublic
	}
	f := &Forwarder{opts: o, slots: make(chan struct{}, o.Limits.Tunnels)}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.server = &http.Server{
		Handler: f, ReadHeaderTimeout: o.Limits.HeadTime, IdleTimeout: o.Limits.Silence, MaxHeaderBytes: maxHead,
		// What a program in a room does to its connection is not news.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return f, nil
}

// ProxyURL is what the program is told in HTTPS_PROXY, when base is where it
// finds the forwarder.
func (f *Forwarder) ProxyURL(base string) string {
	return strings.Replace(base, "://", "://"+user+":"+f.opts.Token+"@", 1)
}

// Token is what the program shows to be served.
func (f *Forwarder) Token() string { return f.opts.Token }

// Hosts are the names that may be connected to.
func (f *Forwarder) Hosts() []string { return slices.Clone(f.opts.Hosts) }

// Observed says what has passed so far.
func (f *Forwarder) Observed() Summary {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sum
}

// ServeConn serves one connection of the room and returns when it has ended.
// One too many is closed at once.
func (f *Forwarder) ServeConn(c net.Conn) {
	if !f.enter() {
		c.Close()
		return
	}
	defer f.wg.Done()
	select {
	case f.slots <- struct{}{}:
	default:
		f.refuse(nil, "connections", "", fmt.Sprintf("%d connections of this room are open", f.opts.Limits.Tunnels))
		c.Close()
		return
	}
	defer func() { <-f.slots }()
	one := oneconn.New(c)
	defer context.AfterFunc(f.ctx, func() { one.Close() })()
	oneconn.Serve(f.server, one)
}

// Close ends every connection, waits for those who served them, and returns the
// error that stopped the recording, if one did. It is idempotent.
func (f *Forwarder) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	_ = f.server.Close() // its listeners hold nothing
	f.wg.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// enter counts a worker that Close waits for.
func (f *Forwarder) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.fault != nil {
		return false
	}
	f.wg.Add(1)
	return true
}

// ServeHTTP serves one request: a CONNECT, or a call of the room's tools.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !f.enter() {
		http.Error(w, "the room's forwarder is closed", http.StatusServiceUnavailable)
		return
	}
	defer f.wg.Done()
	switch {
	case r.Method == http.MethodConnect:
		f.connect(w, r)
	case r.URL.Host == "" && f.opts.Tools != nil && (r.URL.Path == "/mcp" || strings.HasPrefix(r.URL.Path, "/mcp/")):
		f.opts.Tools.ServeHTTP(w, r)
	default:
		f.refuse(w, "method", r.Method+" "+cmp.Or(r.URL.Host, r.URL.Path),
			"only TLS passes here: CONNECT to "+f.list()+"; and the room's tools at /mcp")
	}
}

func (f *Forwarder) list() string { return strings.Join(f.opts.Hosts, ", ") }

// connect decides by the head alone whether to dial, and by the hello whether
// anything is sent.
func (f *Forwarder) connect(w http.ResponseWriter, r *http.Request) {
	host, at, err := net.SplitHostPort(r.RequestURI)
	switch {
	case err != nil:
		f.refuse(w, "target", r.RequestURI, "it is no HOST:443")
		return
	case !f.bears(r):
		f.refuse(w, "token", r.RequestURI,
			"the request does not bear the room's token: use the address in HTTPS_PROXY as it is")
		return
	case at != port:
		f.refuse(w, "port", r.RequestURI, "only port "+port+" is open from this room")
		return
	case !slices.Contains(f.opts.Hosts, host):
		f.refuse(w, "host", r.RequestURI, "this host is not open from this room; only "+f.list()+" is")
		return
	}
	ctx, cancel := context.WithTimeout(f.ctx, dialTime)
	defer cancel()
	out, err := f.opts.Dial(ctx, host)
	if err != nil {
		f.refuse(w, "dial", r.RequestURI, err.Error())
		return
	}
	defer out.Close()
	defer context.AfterFunc(f.ctx, func() { out.Close() })()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		f.refuse(w, "head", r.RequestURI, "the connection cannot be taken over")
		return
	}
	defer in.Close()
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	f.tunnel(in, buffered.Reader, out, host)
}

// bears says whether a request has the room's token, as the user's password.
func (f *Forwarder) bears(r *http.Request) bool {
	ok := false
	for _, v := range r.Header.Values("Proxy-Authorization") {
		asked := http.Request{Header: http.Header{"Authorization": {v}}}
		if name, password, basic := asked.BasicAuth(); basic && name == user {
			ok = ok || bearer.Same(password, f.opts.Token)
		}
	}
	return ok
}

// tunnel passes a connection on once its first bytes are a hello for host.
func (f *Forwarder) tunnel(in net.Conn, from io.Reader, out net.Conn, host string) {
	_ = in.SetDeadline(time.Now().Add(f.opts.Limits.HeadTime)) // reading says that it is gone
	hello, err := readHello(from, host)
	if err != nil {
		f.refuse(nil, "hello", net.JoinHostPort(host, port), err.Error())
		return
	}
	_ = in.SetDeadline(time.Time{})
	p := Passage{ID: rand.Text()[:8], Host: host, Started: time.Now().UTC()}
	if !f.record(slog.LevelInfo, EventConnect, "connected", p) {
		return
	}
	f.mu.Lock()
	f.sum.Connections++
	f.mu.Unlock()
	l := line{most: f.opts.Limits.Bytes, idle: f.opts.Limits.Silence}
	p.Cut = l.pass(in, from, out, hello)
	ended := time.Now().UTC()
	p.Ended, p.Sent, p.Received = &ended, l.sent.Load(), l.received.Load()
	f.mu.Lock()
	f.sum.Sent, f.sum.Received = f.sum.Sent+p.Sent, f.sum.Received+p.Received
	f.mu.Unlock()
	f.record(slog.LevelInfo, EventClosed, "connection ended", p)
}

// record keeps an event; when it cannot be kept, nothing passes from then on.
func (f *Forwarder) record(level slog.Level, event, message string, what any) bool {
	err := f.opts.Events.Event(level, event, message, what)
	if err == nil {
		return true
	}
	f.mu.Lock()
	if f.fault == nil {
		f.fault = fmt.Errorf("record what the forwarder does: %w", err)
	}
	f.mu.Unlock()
	f.cancel()
	return false
}

// statuses of refusals that are not simply forbidden.
var statuses = map[string]int{
	"token": http.StatusProxyAuthRequired, "dial": http.StatusBadGateway, "target": http.StatusBadRequest,
}

// refuse records a refusal and, where w is set, says it.
func (f *Forwarder) refuse(w http.ResponseWriter, rule, target, why string) {
	f.mu.Lock()
	f.sum.Refused++
	n := f.sum.Refused
	f.mu.Unlock()
	target = clip(target)
	if n <= mostRefusals {
		f.record(slog.LevelWarn, EventRefused, "refused", Refusal{rule, target, why, time.Now().UTC()})
	}
	if w == nil {
		return
	}
	w.Header().Set("Connection", "close")
	http.Error(w, "conclave: "+strconv.QuoteToASCII(target)+": "+why, cmp.Or(statuses[rule], http.StatusForbidden))
}

// clip bounds what a program sent before it is repeated.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
