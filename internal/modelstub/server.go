package modelstub

import (
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
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
	end  string // "": an empty line
}

// answer is a Reply in the words of one API.
type answer struct {
	events []event
	hold   int    // Reply.Hold waits before the event of this index
	list   bool   // the events come as a list
	whole  []byte // the answer to a request that does not stream
	fault  []byte // the body of an HTTP error
	broken event  // what MidStreamError sends
}

// protocol is one API: where it is asked, how it answers, how it is read.
type protocol struct {
	paths  []string // how a path ends
	answer func(tag string, n int, req Request, r Reply) answer
	view   func(Request) view
}

var protocols map[string]protocol

func init() { // the functions read requests, which are read by this
	protocols = map[string]protocol{
		Messages:  {[]string{"/messages", "/messages/count_tokens"}, messagesAnswer, messagesView},
		Responses: {[]string{"/responses", "/responses/compact"}, responsesAnswer, responsesView},
		Chat:      {[]string{"/chat/completions"}, chatAnswer, chatView},
		Gemini:    {[]string{":generateContent", ":streamGenerateContent", ":countTokens"}, geminiAnswer, geminiView},
	}
}

// APIs are all that the server speaks.
func APIs() []string { return slices.Sorted(maps.Keys(protocols)) }

func apiOf(path string) (string, bool) {
	path, _, _ = strings.Cut(path, "?")
	for name, p := range protocols {
		if slices.ContainsFunc(p.paths, func(end string) bool { return strings.HasSuffix(path, end) }) {
			return name, true
		}
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

	out := &recorder{w: w, server: s, x: x, cut: reply.CutBefore}
	out.send(hr, req, reply, protocols[api].answer(s.tag, n, req, reply))
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
	cut    int // the byte before which all ends; 0: none
}

// write sends bytes, and says whether the client is still there.
func (o *recorder) write(b []byte) bool {
	o.server.mu.Lock()
	if left := o.cut - 1 - len(o.x.Sent); o.cut > 0 && left <= len(b) {
		b = b[:left]
	}
	o.x.Sent = append(o.x.Sent, b...)
	over := o.cut > 0 && len(o.x.Sent) == o.cut-1
	o.server.mu.Unlock()
	_, err := o.w.Write(b) // a client that went away is part of some scripts
	if f, ok := o.w.(http.Flusher); ok {
		f.Flush()
	}
	if over {
		panic(http.ErrAbortHandler) // drops the connection without an end
	}
	return err == nil
}

func (o *recorder) header(status int, contentType string) {
	o.w.Header().Set("Content-Type", contentType)
	o.w.Header().Set("request-id", "req_stub")
	o.w.WriteHeader(status)
	o.server.mu.Lock()
	o.x.Status = status
	o.server.mu.Unlock()
}

// seconds are whole ones, as a header says them.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

func (o *recorder) send(hr *http.Request, req Request, r Reply, a answer) {
	if r.Status != 0 && r.Status != http.StatusOK {
		if r.RetryAfter > 0 {
			o.w.Header().Set("retry-after", strconv.Itoa(seconds(r.RetryAfter)))
		}
		o.header(r.Status, orElse(r.ContentType, "application/json"))
		o.write(a.fault)
		return
	}
	if !req.view().stream {
		o.header(http.StatusOK, orElse(r.ContentType, "application/json"))
		o.write(a.whole)
		return
	}
	kind := "text/event-stream"
	if a.list {
		kind = "application/json"
	}
	o.header(http.StatusOK, orElse(r.ContentType, kind))
	o.stream(hr, r, a)
}

func (o *recorder) stream(hr *http.Request, r Reply, a answer) {
	if o.cut == 1 {
		o.write(nil)
	}
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
			if r.Malformed {
				o.write(event{name: e.name, data: []byte(`{"half":`), end: e.end}.bytes())
			}
			if r.Endless {
				o.repeat(hr, a.events[max(i-1, 0)].bytes())
				return
			}
		}
		o.write(a.frame(i, e))
	}
	switch {
	case r.MidStreamError:
		o.write(a.broken.bytes())
	case r.CutAfter > 0:
		panic(http.ErrAbortHandler) // drops the connection without an end
	}
}

// repeat says one thing until the client goes away, and keeps none of it.
func (o *recorder) repeat(hr *http.Request, b []byte) {
	for hr.Context().Err() == nil {
		if _, err := o.w.Write(b); err != nil {
			return
		}
	}
}

// frame is an event as it is sent.
func (a answer) frame(i int, e event) []byte {
	if !a.list {
		return e.bytes()
	}
	before, after := ",\r\n", ""
	if i == 0 {
		before = "["
	}
	if i == len(a.events)-1 {
		after = "\r\n]\r\n"
	}
	return []byte(before + string(e.data) + after)
}

func (e event) bytes() []byte {
	var b bytes.Buffer
	if e.name != "" {
		b.WriteString("event: ")
		b.WriteString(e.name)
		b.WriteString("\n")
	}
	b.WriteString("data: ")
	b.Write(e.data)
	b.WriteString(orElse(e.end, "\n\n"))
	return b.Bytes()
}
