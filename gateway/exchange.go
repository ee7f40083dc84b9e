package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"conclave/internal/price"
)

// The channels of the record; a slash and the id of the exchange follow each.
// The blobs of one channel, joined in order, are the body.
const (
	requestChannel  = "gateway.request"
	ResponseChannel = "gateway.response"
	refusedChannel  = "gateway.refused"
)

// EventRequest is the event that begins an exchange, and EventResponse the one that
// ends it; its context is an Exchange, that of the former has as much of one.
const (
	EventRequest  = "gateway.request"
	EventResponse = "gateway.response"
)

// Guess is what a request whose answer is not known has cost at least.
func (x Exchange) Guess() Usage { return Usage{Input: guessTokens(x.RequestBytes)} }

// exchange is one request and its response, as the ledger keeps it.
type exchange struct {
	Exchange
	paid     bool
	estimate Usage // of the request alone, before anything is known
	running  Usage // what the ledger counts until it has ended
	price    price.Price
	priced   bool
	held     Held // what the account has set aside; nil: there is no account
	// maxOutput bounds the answer's tokens, as the request says; 0: it does not.
	maxOutput int64
	sent      time.Time
}

// exchange serves a request that goes to the model's server.
func (g *Gateway) exchange(w http.ResponseWriter, r *http.Request, to route) {
	x := &exchange{paid: to.paid}
	x.ID = fmt.Sprintf("%s-%d", g.prefix, g.ledger.number())
	x.Method, x.Path = r.Method, r.URL.Path
	load, no := g.readBody(w, r)
	if no != nil {
		g.refuse(w, r, x, nil, no)
		return
	}
	defer load.release()
	body := load.bytes
	if no = g.check(to, x, body); no != nil {
		if no.rule == ruleKey {
			body = nil
		}
		g.refuse(w, r, x, body, no)
		return
	}
	x.measure(body)
	x.price, x.priced = g.ledger.prices.Of(x.Model)
	if paid, ok := g.answers.take(x); ok {
		g.replay(w, r, x, paid)
		return
	}
	settle, no := g.reserve(r.Context(), x)
	if no != nil {
		g.refuse(w, r, x, body, no)
		return
	}
	if no = g.ledger.begin(x); no != nil {
		settle()
		g.refuse(w, r, x, body, no)
		return
	}
	defer func() { // in this order: whoever waits for the ledger finds the account told
		settle()
		g.ledger.end(x)
	}()
	header := g.forwarded(r.Header)
	if err := g.recordRequest(x, r, header, body); err != nil {
		x.Error = "the request could not be recorded, and was not sent"
		writeRefusal(w, g.family(r), g.broken(err))
		return
	}
	resp, err := g.send(r, x, header, body)
	if err != nil {
		g.unreached(w, r, x, err)
		return
	}
	defer resp.Body.Close()
	g.relay(w, r, x, resp)
}

func (x *exchange) measure(body []byte) {
	x.RequestBytes, x.RequestSHA256 = int64(len(body)), fmt.Sprintf("%x", sha256.Sum256(body))
	if x.paid {
		x.estimate = Usage{Input: guessInput(body)}
	}
}

type requestHead struct {
	ID      string            `json:"id"`
	Method  string            `json:"method"`
	Host    string            `json:"host"`
	Path    string            `json:"path"`
	Query   string            `json:"query,omitempty"`
	Model   string            `json:"model,omitempty"`
	Bytes   int64             `json:"request_bytes"`
	SHA256  string            `json:"request_sha256"`
	Sent    time.Time         `json:"sent"`
	Headers map[string]string `json:"headers"`
}

// recordRequest puts the head and then the bytes on the record.
func (g *Gateway) recordRequest(x *exchange, r *http.Request, h http.Header, body []byte) error {
	head := requestHead{x.ID, x.Method, g.base.Host, x.Path, g.query(r.URL.RawQuery), x.Model,
		x.RequestBytes, x.RequestSHA256, time.Now().UTC(), map[string]string{}}
	for name, values := range h {
		head.Headers[strings.ToLower(name)] = g.scrub.Replace(strings.Join(values, ", "))
	}
	if err := g.event(slog.LevelDebug, EventRequest, "a request is sent to the model", head); err != nil {
		return err
	}
	if len(body) == 0 {
		return nil
	}
	return g.opts.Blobs.AppendBlob(requestChannel+"/"+x.ID, body)
}

// send asks the model's server. A round trip follows no redirect.
func (g *Gateway) send(r *http.Request, x *exchange, header http.Header, body []byte) (*http.Response, error) {
	path := g.base.Path + strings.TrimPrefix(r.URL.Path, g.api.version)
	u := url.URL{Scheme: g.base.Scheme, Host: g.base.Host, Path: path, RawQuery: g.query(r.URL.RawQuery)}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	if key := g.opts.Upstream.Key; key != "" {
		g.api.key(req.Header, key)
	}
	x.sent = time.Now()
	x.Sent = x.sent.UTC()
	return g.transport.RoundTrip(req)
}

// unreached tells that there was no answer, and why, without the key. Whoever
// has left, or was shown out, is told nothing.
func (g *Gateway) unreached(w http.ResponseWriter, r *http.Request, x *exchange, err error) {
	left := r.Context().Err() != nil
	if left {
		x.HungUp, x.Error = true, g.whoLeft()+" before the answer began"
		x.Usage, x.Estimated = x.estimate, x.paid
	} else {
		x.Error = g.clean(fmt.Sprintf("the model's server (%s) could not be reached: %v", g.base.Host, bare(err)))
	}
	no := &refusal{ruleUpstream, x.Error}
	if err := g.recordResponse(x); err != nil {
		no = g.broken(err)
	}
	if left {
		panic(http.ErrAbortHandler)
	}
	writeRefusal(w, g.family(r), no)
}

// whoLeft says why the context of a request has ended.
func (g *Gateway) whoLeft() string {
	if g.ctx.Err() != nil {
		return "the room was closed"
	}
	return "the program hung up"
}

// bare takes the address off an error that repeats it.
func bare(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("it did not answer in time")
	}
	return err
}

// recordResponse puts the outcome of an exchange on the record.
func (g *Gateway) recordResponse(x *exchange) error {
	level, message := slog.LevelDebug, "the model has answered"
	if x.Error != "" {
		level, message = slog.LevelWarn, "the model's answer is not whole"
	}
	return g.event(level, EventResponse, message, x.Exchange)
}

// known are the headers that go to the model's server: what the APIs ask for,
// and what the programs say of themselves. All others stay here: one could
// name another account, or what the provider keeps.
var known = []string{
	"Accept", "Content-Type", "User-Agent", "X-Client-Request-Id",
	"Anthropic-Version", "Anthropic-Beta", "Anthropic-Dangerous-Direct-Browser-Access",
	"X-App", "X-Claude-Code-Session-Id",
	"X-Stainless-Arch", "X-Stainless-Lang", "X-Stainless-Os", "X-Stainless-Package-Version", "X-Stainless-Retry-Count",
	"X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout", "X-Stainless-Helper-Method",
	"Openai-Beta", "Originator", "Version", "Session-Id", "Session_id", "Thread-Id", "Conversation_id",
	"X-Goog-Api-Client",
	"X-Codex-Beta-Features", "X-Codex-Turn-Metadata", "X-Codex-Turn-State", "X-Codex-Window-Id",
}

// forwarded are the headers that go to the model's server, without the key.
func (g *Gateway) forwarded(in http.Header) http.Header {
	from, h := in.Clone(), http.Header{}
	dropConnection(from)
	for _, name := range known {
		if v := from.Values(name); len(v) > 0 && !g.holdsKey(strings.Join(v, "\n")) {
			h[name] = v
		}
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or the transport puts in its own
	}
	h.Set("Accept-Encoding", "identity")
	return h
}

// asking are the parameters of an address that go to the model's server: which
// form an answer has and which part of a list, and what programs say of
// themselves. One that bears a key is not among them.
var asking = []string{"alt", "beta", "client_version", "pageSize", "pageToken", "limit", "after_id", "before_id"}

// query is what goes out of a request's parameters, as it was written.
func (g *Gateway) query(raw string) string {
	var out []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if slices.Contains(asking, name) && !g.holdsKey(pair) && (name != "alt" || value == "sse" || value == "json") {
			out = append(out, pair)
		}
	}
	return g.scrub.Replace(strings.Join(out, "&"))
}

// dropConnection drops what the Connection header names.
func dropConnection(h http.Header) {
	for _, v := range h.Values("Connection") {
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); name != "" {
				h.Del(name)
			}
		}
	}
}
