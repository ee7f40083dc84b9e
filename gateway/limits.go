package gateway

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// Limits bound what a room can take of the program that serves it. Zero means
// the default.
type Limits struct {
	Connections   int           // at the same time; 128
	BytesInFlight int64         // of all bodies that are read or sent; four of the largest
	HeaderTime    time.Duration // for the head of a request; 30 s
	BodyTime      time.Duration // for its body; a minute
	IdleTime      time.Duration // between two requests; 3 minutes
}

const maxHeader = 64 << 10

func (l Limits) complete(maxRequest int64) Limits {
	l.Connections = cmp.Or(l.Connections, 128)
	l.BytesInFlight = cmp.Or(l.BytesInFlight, 4*maxRequest)
	l.HeaderTime = cmp.Or(l.HeaderTime, 30*time.Second)
	l.BodyTime = cmp.Or(l.BodyTime, time.Minute)
	l.IdleTime = cmp.Or(l.IdleTime, 3*time.Minute)
	return l
}

// purse is a number of things that are given out and come back.
type purse struct {
	mu   sync.Mutex
	left int64
}

func (p *purse) take(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.left {
		return false
	}
	p.left -= n
	return true
}

func (p *purse) give(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += n
}

// load is the body of a request. It counts as long as it is held.
type load struct {
	bytes  []byte
	weight int64
	from   *purse
}

// grow makes room for n bytes in all, or says that there is none.
func (l *load) grow(n int64) bool {
	if !l.from.take(n) {
		return false
	}
	b := make([]byte, len(l.bytes), n)
	copy(b, l.bytes)
	l.bytes = b
	l.from.give(l.weight)
	l.weight = n
	return true
}

func (l *load) release() {
	l.from.give(l.weight)
	l.weight, l.bytes = 0, nil
}

// readBody takes in the whole request: it must be on the record before a byte
// of it is sent. Room for it is taken before it is read. When it is refused the
// connection ends with the answer: what was not read is nobody's.
func (g *Gateway) readBody(w http.ResponseWriter, r *http.Request) (*load, *refusal) {
	l := &load{from: &g.inFlight}
	no := g.take(w, r, l)
	if no != nil {
		l.release()
		w.Header().Set("Connection", "close")
		return nil, no
	}
	return l, nil
}

func (g *Gateway) take(w http.ResponseWriter, r *http.Request, l *load) *refusal {
	if r.ContentLength > g.opts.MaxRequest {
		return g.tooLarge()
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return &refusal{ruleEncoding, fmt.Sprintf(
			"the request is compressed (%s) and could not be read on the record: switch request compression off", clip(e))}
	}
	switch err := l.read(r.Body, r.ContentLength, g.opts.MaxRequest); {
	case errors.Is(err, errNoRoom):
		return &refusal{ruleBusy,
			fmt.Sprintf("the requests of this room that are under way have more than %d bytes: ask again when one has ended",
				g.opts.Limits.BytesInFlight)}
	case errors.Is(err, errTooLarge):
		return g.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{ruleBody, fmt.Sprintf("the request was not whole after %v: nothing was sent", g.opts.Limits.BodyTime)}
	case err != nil:
		return &refusal{ruleBody, "the request ended early: nothing was sent"}
	}
	// What is read from now on tells that the program has left, whenever it does.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // where it was not set it need not be lifted
	return nil
}

func (g *Gateway) tooLarge() *refusal {
	return &refusal{ruleSize, fmt.Sprintf(
		"the request has more than %d bytes: shorten the conversation, or have the limit raised", g.opts.MaxRequest)}
}

var (
	errNoRoom   = errors.New("there is no room for it")
	errTooLarge = errors.New("it is too large")
)

const firstRoom = 64 << 10 // for a body that does not say how long it is

// read takes in a body of the length that it says, or of any up to most.
func (l *load) read(body io.Reader, length, most int64) error {
	if length >= 0 {
		if !l.grow(length) {
			return errNoRoom
		}
		l.bytes = l.bytes[:length]
		_, err := io.ReadFull(body, l.bytes)
		if err != nil {
			return err
		}
		_, err = body.Read(make([]byte, 1)) // its end, which the server wants to see
		if err == io.EOF {
			err = nil
		}
		return err
	}
	for {
		if len(l.bytes) == cap(l.bytes) {
			if int64(len(l.bytes)) > most {
				return errTooLarge
			}
			if !l.grow(min(max(2*l.weight, firstRoom), most+1)) {
				return errNoRoom
			}
		}
		n, err := body.Read(l.bytes[len(l.bytes):cap(l.bytes)])
		l.bytes = l.bytes[:len(l.bytes)+n]
		if err == io.EOF {
			if int64(len(l.bytes)) > most {
				return errTooLarge
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// hurry bounds how long the body of a request may take.
func (g *Gateway) hurry(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.opts.Limits.BodyTime)) // a writer of a test may have none
}

// serveTools hands a request to the room's tools, under the same limits.
func (g *Gateway) serveTools(w http.ResponseWriter, r *http.Request) {
	l, no := g.readBody(w, r)
	if no != nil {
		g.refuse(w, r, nil, nil, no)
		return
	}
	defer l.release()
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(l.bytes))
	g.opts.Tools.ServeHTTP(w, r)
}

// turnAway notes that a connection was closed because there are too many.
func (g *Gateway) turnAway() {
	no := fmt.Sprintf("there are more than %d connections from this room: end some first", g.opts.Limits.Connections)
	if err := g.recordRefused(refusedHead{Rule: string(ruleBusy), Message: no}, nil); err != nil {
		g.broken(err)
	}
}
