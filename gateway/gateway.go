package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/price"
)

// Upstream is the model's server and the key to it.
type Upstream struct {
	Kind Kind
	// BaseURL is the address up to, and with or without, "/v1" ("/v1beta" for
	// Gemini). For Chat, one that has a path is the address up to
	// "/chat/completions". Without TLS it must be on this machine, or have no key.
	BaseURL string
	// Key is added to every request.
	Key string
}

// Local says whether an upstream is on this machine.
func (up Upstream) Local() bool {
	u, err := url.Parse(up.BaseURL)
	return err == nil && loopback(u.Hostname())
}

// Blobs keeps bytes of a named channel on the record. An error ends the
// gateway's work.
type Blobs interface {
	AppendBlob(channel string, data []byte) error
}

// Events keeps log records; a *transcript.Emitter does. An error ends the
// gateway's work.
type Events interface {
	Event(level slog.Level, event, message string, context any) error
}

// Options say what a gateway allows. Upstream and Blobs are needed.
type Options struct {
	Upstream Upstream

	// Token is what the agent's program shows; a random one is made when it is
	// empty.
	Token string

	// Models are the names that may be asked for. One that ends in "*" stands
	// for all that begin so; an empty list allows none.
	Models []string

	Budget Budget
	// Account is a budget that this gateway shares with others, and is asked
	// as well; nil for none.
	Account Account
	// Prices are added to the built-in ones, and win over them.
	Prices price.List

	// Answered are the calls of an attempt that was cut: who asks the same again,
	// to the byte, is given the same answer, once, and pays nothing.
	Answered []Answered

	// MaxRequest bounds a request's body in bytes; zero means 32 MiB.
	MaxRequest int64
	Limits     Limits

	// Tools serves /mcp on the same connections, to whoever has the token.
	Tools http.Handler

	Blobs  Blobs
	Events Events // nil: there are only blobs and the Summary
}

// Gateway is the way out of one room. It is safe for concurrent use.
type Gateway struct {
	opts      Options
	api       *api
	base      *url.URL
	scrub     *strings.Replacer
	needles   *needles        // to find the key by
	transport *http.Transport // reaches the upstream
	server    *http.Server
	prefix    string // of the ids of this gateway's exchanges

	ctx     context.Context
	cancel  context.CancelFunc
	ledger  *ledger
	answers answers

	connections purse
	inFlight    purse // bytes of bodies

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

const (
	defaultMaxRequest = 32 << 20
	maxKey            = 8 << 10 // a piece of a response must be able to hold it
)

// New returns a gateway that is ready to serve.
func New(o Options) (*Gateway, error) {
	if o.Blobs == nil {
		return nil, errors.New("open gateway: there is no record to write to, and nothing passes unrecorded")
	}
	api, base, err := baseURL(o.Upstream)
	if err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	o.Token = cmp.Or(o.Token, rand.Text())
	o.MaxRequest = cmp.Or(o.MaxRequest, defaultMaxRequest)
	o.Limits = o.Limits.complete(o.MaxRequest)
	o.Models = slices.Clone(o.Models)
	ctx, cancel := context.WithCancel(context.Background())
	g := &Gateway{
		opts: o, api: api, base: base,
		scrub: scrubber(o.Token, o.Upstream.Key), needles: newNeedles(o.Upstream.Key), transport: newTransport(),
		prefix: strings.ToLower(rand.Text()[:8]),
		ctx:    ctx, cancel: cancel,
		answers:     answers{left: slices.Clone(o.Answered)},
		ledger:      newLedger(o.Budget, o.Prices, base.Host),
		connections: purse{left: int64(o.Limits.Connections)}, inFlight: purse{left: o.Limits.BytesInFlight},
	}
	g.server = newServer(g)
	return g, nil
}

// Token is what the agent's program shows to be served.
func (g *Gateway) Token() string { return g.opts.Token }

// Observed says what has passed so far, without the exchanges that still run.
// A program may have the last byte of an answer a moment before its exchange
// has ended; Settle waits for that.
func (g *Gateway) Observed() Summary { return g.ledger.summary() }

// Settle waits until no exchange runs, or ctx ends, and then says what has
// passed: for the receipt of a turn after which the program lives on.
func (g *Gateway) Settle(ctx context.Context) Summary {
	select {
	case <-g.ledger.quiet():
	case <-ctx.Done():
	}
	return g.Observed()
}

// Close ends every connection and request, waits for those who served them,
// and returns the error that stopped the recording, if one did. It is
// idempotent.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	_ = g.server.Close() // its listeners hold nothing; connections end
	g.wg.Wait()
	g.transport.CloseIdleConnections()
	return g.ledger.fault()
}

// enter counts a worker that Close waits for.
func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Add(1)
	return true
}

// baseURL checks an upstream and returns what it speaks and its address with
// the version.
func baseURL(up Upstream) (*api, *url.URL, error) {
	a, ok := apiOf(up.Kind)
	if !ok {
		return nil, nil, fmt.Errorf("upstream kind %q is not known: use one of %q", up.Kind, Kinds())
	}
	u, err := url.Parse(up.BaseURL)
	if err != nil {
		return nil, nil, errors.New("the upstream's base URL cannot be read: use https://HOST")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return nil, nil, fmt.Errorf("base URL %q is no web address: use https://HOST", u.Redacted())
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, nil, fmt.Errorf("base URL %q has a user, a query or a fragment: give the key as the key", u.Redacted())
	case u.Scheme == "http" && up.Key != "" && !loopback(u.Hostname()):
		return nil, nil, fmt.Errorf("base URL %q would send the key in the clear: use https", up.BaseURL)
	}
	if strings.ContainsAny(up.Key, "\r\n\x00") {
		return nil, nil, errors.New("the key holds a line break: read it without the newline at its end")
	}
	if len(up.Key) > maxKey {
		return nil, nil, fmt.Errorf("the key has more than %d bytes: it is no key", maxKey)
	}
	u.Path = a.base(strings.TrimRight(u.Path, "/"))
	u.RawPath = ""
	return a, u, nil
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
		ReadBufferSize:      chunkSize,
		WriteBufferSize:     chunkSize,
	}
}

// scrubber takes secrets out of texts.
func scrubber(token, key string) *strings.Replacer {
	pairs := []string{token, "[token]"}
	if key != "" {
		pairs = append(pairs, key, "[key]")
	}
	return strings.NewReplacer(pairs...)
}
