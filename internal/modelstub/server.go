package modelstub

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Exchange is a request and the exact bytes that were sent in answer.
type Exchange struct {
	Request Request
	Status  int
	Sent    []byte
}

// Server is a running model server.
type Server struct {
	handler Handler
	http    *http.Server
	url     string
	tag     string // the port: part of every id
	served  chan struct{}

	calls sync.Mutex // held while the handler runs
	mu    sync.Mutex
	seen  []*Exchange
}

// New starts a server on a free port of 127.0.0.1. It panics when there is
// none, because no test can go on without it.
func New(h Handler) *Server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("modelstub: listen on loopback: " + err.Error())
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	s := &Server{handler: h, url: "http://" + l.Addr().String(), tag: port, served: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // returns when Close closes the listener
	}()
	return s
}

// URL is the server's address, without a path.
func (s *Server) URL() string { return s.url }

// Requests are those received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.seen))
	for i, e := range s.seen {
		out[i] = e.Request
	}
	return out
}

// Exchanges are the requests with what was answered.
func (s *Server) Exchanges() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Exchange, len(s.seen))
	for i, e := range s.seen {
		out[i] = *e
		out[i].Sent = bytes.Clone(e.Sent)
	}
	return out
}

// Close ends every connection and the server.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.served
}

// event is one event of a stream.
type event struct {
	name string
	data []byte
}

// answer is a Reply in the words of one API.
type answer struct {
	events []event
	hold   int    // Reply.Hold waits before the event of this index
	whole  []byte // the answer to a request that does not stream
	fault  []byte // the body of an HTTP error
	broken event  // what MidStreamError sends
}

func apiOf(path string) (string, bool) {
	path, _, _ = strings.Cut(path, "?")
	switch {
	case strings.HasSuffix(path, "/messages"), strings.HasSuffix(path, "/messages/count_tokens"):
		return Messages, true
	case strings.HasSuffix(path, "/responses"), strings.HasSuffix(path, "/responses/compact"):
		return Responses, true
	}
	return "", false
}

func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	path := hr.URL.RequestURI()
	api, ok := apiOf(path)
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // the client went away
	}
	if !ok || hr.Method != http.MethodPost {
		http.Error(w, `{"error":{"type":"not_found_error","message":"modelstub: no such endpoint"}}`, http.StatusNotFound)
		return
	}
	req := Request{API: api, Path: path, Header: hr.Header.Clone(), Body: body}
	x := s.record(req)
	n := s.number(x)

	s.calls.Lock()
	reply := s.handler(req)
	s.calls.Unlock()

	var a answer
	if api == Responses {
		a = responsesAnswer(n, req, reply)
	} else {
		a = messagesAnswer(s.tag, n, req, reply)
	}
	out := &recorder{w: w, server: s, x: x}
	out.send(hr, req, reply, a)
}

func (s *Server) record(r Request) *Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &Exchange{Request: r}
	s.seen = append(s.seen, x)
	return x
}

func (s *Server) number(x *Exchange) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range s.seen {
		if e == x {
			return i + 1
		}
	}
	return 0
}

// recorder writes an answer and keeps what it wrote.
type recorder struct {
	w      http.ResponseWriter
	server *Server
	x      *Exchange
}

func (o *recorder) write(b []byte) {
	o.server.mu.Lock()
	o.x.Sent = append(o.x.Sent, b...)
	o.server.mu.Unlock()
	_, _ = o.w.Write(b) // a client that went away is part of some scripts
	if f, ok := o.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (o *recorder) header(status int, contentType string) {
	o.w.Header().Set("Content-Type", contentType)
	o.w.Header().Set("request-id", "req_stub")
	o.w.WriteHeader(status)
	o.server.mu.Lock()
	o.x.Status = status
	o.server.mu.Unlock()
}

func (o *recorder) send(hr *http.Request, req Request, r Reply, a answer) {
	if r.Status != 0 && r.Status != http.StatusOK {
		if r.RetryAfter > 0 {
			secs := int((r.RetryAfter + time.Second - 1) / time.Second)
			o.w.Header().Set("retry-after", strconv.Itoa(secs))
		}
		o.header(r.Status, "application/json")
		o.write(a.fault)
		return
	}
	if !req.view().stream {
		o.header(http.StatusOK, "application/json")
		o.write(a.whole)
		return
	}
	o.header(http.StatusOK, "text/event-stream")
	o.stream(hr, r, a)
}

func (o *recorder) stream(hr *http.Request, r Reply, a answer) {
	for i, e := range a.events {
		if r.CutAfter > 0 && i == r.CutAfter {
			break
		}
		if i == a.hold {
			if r.Hold != nil {
				select {
				case <-r.Hold:
				case <-hr.Context().Done():
					return
				}
			}
			if r.MidStreamError && r.CutAfter == 0 {
				break
			}
		}
		o.write(e.bytes())
	}
	switch {
	case r.MidStreamError:
		o.write(a.broken.bytes())
	case r.CutAfter > 0:
		panic(http.ErrAbortHandler) // drops the connection without an end
	}
}

func (e event) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("event: ")
	b.WriteString(e.name)
	b.WriteString("\ndata: ")
	b.Write(e.data)
	b.WriteString("\n\n")
	return b.Bytes()
}
