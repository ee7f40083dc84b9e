package gateway

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"
)

const chunkSize = 64 << 10

// tape takes in the bytes of a response on their way: first the record, then
// the digest and the usage.
type tape struct {
	g       *Gateway
	x       *exchange
	channel string
	sum     hash.Hash
	meter   *meter
}

func (g *Gateway) newTape(x *exchange, h http.Header) *tape {
	sse := strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/event-stream")
	return &tape{g, x, ResponseChannel + "/" + x.ID, sha256.New(), &meter{api: g.api, sse: sse}}
}

func (t *tape) take(b []byte) error {
	if t.x.ResponseBytes == 0 {
		t.x.FirstByteMS = float64(time.Since(t.x.sent).Microseconds()) / 1000
	}
	err := t.keep(b)
	if err == nil {
		t.meter.write(b)
	}
	return err
}

// keep puts bytes on the record as what the program is given.
func (t *tape) keep(b []byte) error {
	if err := t.g.opts.Blobs.AppendBlob(t.channel, b); err != nil {
		return err
	}
	t.x.ResponseBytes += int64(len(b))
	t.sum.Write(b)
	return nil
}

// finish notes what is known at the end. Usage that was never told is
// guessed, so that hanging up early is no way around a budget.
func (t *tape) finish() error {
	t.meter.end()
	x := t.x
	x.ResponseSHA256 = fmt.Sprintf("%x", t.sum.Sum(nil))
	x.TotalMS = float64(time.Since(x.sent).Microseconds()) / 1000
	x.Failed = t.meter.failed
	if x.paid {
		x.Usage = t.meter.usage
		if x.Status < 300 {
			x.Usage, x.Estimated = t.meter.total(x.estimate.Input)
		}
	}
	return t.g.recordResponse(x)
}

// relay passes a response on. What goes wrong after it began cuts it.
func (g *Gateway) relay(w http.ResponseWriter, r *http.Request, x *exchange, resp *http.Response) {
	x.Status, x.ContentType = resp.StatusCode, clip(resp.Header.Get("Content-Type"))
	t := g.newTape(x, resp.Header)
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		g.redirected(w, r, t, resp)
		return
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		g.unreadable(w, r, t, e)
		return
	}
	g.copyHeader(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	out := http.NewResponseController(w)
	_ = out.Flush() // a writer that cannot flush passes things on in its own time
	err := g.pass(w, out, t, resp.Body)
	if err != nil {
		x.Error = g.clean(err.Error())
		x.Cut = errors.As(err, new(*overrun))
		if r.Context().Err() != nil {
			x.HungUp, x.Error = true, g.whoLeft()+" before the answer was whole"
		}
		if x.HungUp && (t.meter.final || t.meter.ended) {
			x.Error = "" // Codex hangs up on the last event, and has it all
		}
	}
	if ferr := t.finish(); ferr != nil {
		g.broken(ferr)
		err = ferr
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range resp.Trailer {
		if !g.holdsKey(strings.Join(values, "\n")) {
			w.Header()[http.TrailerPrefix+name] = values
		}
	}
}

// redirected refuses to follow, and to let the agent follow.
func (g *Gateway) redirected(w http.ResponseWriter, r *http.Request, t *tape, resp *http.Response) {
	t.x.Error = fmt.Sprintf("the model's server (%s) answered with a redirect (%d), which is not followed: use the address that it leads to as base URL",
		g.base.Host, resp.StatusCode)
	no := &refusal{ruleUpstream, t.x.Error}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, chunkSize)) // evidence, as far as it goes
	if len(body) > 0 && !g.holdsKey(string(body)) {
		if err := t.take(body); err != nil {
			no = g.broken(err)
		}
	}
	g.instead(w, r, t, no)
}

// unreadable refuses an answer that could be read neither on the record nor for
// the key.
func (g *Gateway) unreadable(w http.ResponseWriter, r *http.Request, t *tape, encoding string) {
	t.x.Error = fmt.Sprintf("the model's server (%s) answered in a compressed form (%s), which it was asked not to do: nothing of it was passed on",
		g.base.Host, clip(encoding))
	g.instead(w, r, t, &refusal{ruleUpstream, g.clean(t.x.Error)})
}

// instead refuses what the model's server has answered.
func (g *Gateway) instead(w http.ResponseWriter, r *http.Request, t *tape, no *refusal) {
	if err := t.finish(); err != nil {
		no = g.broken(err)
	}
	writeRefusal(w, g.family(r), no)
}

var errKeyRepeated = errors.New("the model's server repeated the key: the answer was cut before it")

// pass copies the body piece by piece, as it comes.
func (g *Gateway) pass(w http.ResponseWriter, out *http.ResponseController, t *tape, body io.Reader) error {
	held := newGuard(g.needles, chunkSize, t.meter.sse)
	events := wholeEvents{on: g.bounded(t)}
	for {
		n, rerr := body.Read(held.room())
		piece, found := held.next(n, rerr == io.EOF)
		piece = events.next(piece, found || rerr != nil)
		if len(piece) > 0 {
			if err := g.put(w, out, t, piece); err != nil {
				return err
			}
			if over := g.afford(t); over != nil {
				if !events.on {
					return over
				}
				return errors.Join(over, g.sayCut(w, t, over))
			}
		}
		switch {
		case found:
			return errKeyRepeated
		case rerr == io.EOF:
			return nil
		case rerr != nil:
			return fmt.Errorf("the model's server broke off: %w", rerr)
		}
		held.keep()
	}
}

// put records a piece and passes it on, in this order.
func (g *Gateway) put(w io.Writer, out *http.ResponseController, t *tape, data []byte) error {
	if err := t.take(data); err != nil {
		g.broken(err)
		return errors.New("the answer could not be recorded, and was cut")
	}
	_, err := w.Write(data)
	if err == nil {
		err = out.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		t.x.HungUp = true
		return fmt.Errorf("the program hung up: %w", err)
	}
	return nil
}

// clean takes secrets out of a message that may quote the model's server.
func (g *Gateway) clean(message string) string {
	if message = g.scrub.Replace(message); g.holdsKey(message) {
		return "the model's server repeated the key"
	}
	return message
}

func (g *Gateway) holdsKey(s string) bool { return g.needles.in([]byte(s)) }

// inward are headers of a response that concern one connection, or the
// person's account.
var inward = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Set-Cookie", "Alt-Svc", "Location", "Content-Length",
	"Anthropic-Organization-Id", "Openai-Organization", "Openai-Project",
}

// copyHeader leaves the length out: the program learns that the answer has
// ended from the connection, and that says so only when the outcome, too, is
// on the record.
func (g *Gateway) copyHeader(dst, src http.Header) {
	h := src.Clone()
	dropConnection(h)
	for _, name := range inward {
		h.Del(name)
	}
	for name, values := range h {
		if !g.holdsKey(strings.Join(values, "\n")) {
			dst[name] = values
		}
	}
	if _, ok := dst["Content-Type"]; !ok {
		dst["Content-Type"] = nil // or the server guesses one
	}
}
