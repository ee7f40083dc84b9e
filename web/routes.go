package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"conclave/app"
)

const maxBody = 1 << 20

// handler answers a request with something that becomes JSON; nil where it has
// written the answer itself.
type handler func(w http.ResponseWriter, r *http.Request) (any, error)

// routes are the paths under /api/: each says whether it acts.
type routes struct {
	server *Server
	mux    *http.ServeMux
	list   []route
}

type route struct {
	pattern string // "GET /api/now"
	acts    bool   // it changes something: refused where nothing may be
	most    int64  // bytes of a body
}

func newRoutes(s *Server) *routes { return &routes{server: s, mux: http.NewServeMux()} }

// look adds a path that only shows: a GET.
func (m *routes) look(path string, h handler) { m.add("GET "+path, false, maxBody, h) }

// ask adds a path that only shows, and whose question is a body: a POST.
func (m *routes) ask(path string, h handler) { m.add("POST "+path, false, maxBody, h) }

// act adds a path that changes something; method is POST, PUT or DELETE.
func (m *routes) act(method, path string, h handler) { m.add(method+" "+path, true, maxBody, h) }

// add adds a path. A body that may be longer than others is read by the handler, as
// it comes.
func (m *routes) add(pattern string, acts bool, most int64, h handler) {
	m.list = append(m.list, route{pattern, acts, most})
	m.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v, err := m.serve(w, r, acts, most, h)
		switch {
		case err != nil:
			fail(w, r, err)
		case v != nil:
			answer(w, r, http.StatusOK, v)
		}
	})
}

func (m *routes) serve(w http.ResponseWriter, r *http.Request, acts bool, most int64, h handler) (any, error) {
	if acts {
		switch {
		case m.server.options.ReadOnly:
			return nil, &problem{http.StatusForbidden, "denied", "this page only shows (--read-only)"}
		case !counts(r).acts.take():
			return nil, errTooFast
		}
	}
	if most > maxBody {
		r.Body = &slowBody{http.MaxBytesReader(w, r.Body, most), http.NewResponseController(w)}
	} else if err := takeBody(w, r, most); err != nil {
		return nil, err
	}
	return h(w, r)
}

// ServeHTTP answers what no route does in the form of every other answer.
func (m *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := m.mux.Handler(r); pattern != "" {
		m.mux.ServeHTTP(w, r)
		return
	}
	var allowed []string
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := m.mux.Handler(other); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		fail(w, r, missing("there is no %s", r.URL.Path))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	fail(w, r, &problem{http.StatusMethodNotAllowed, "usage", "that is asked for with " + strings.Join(allowed, " or ")})
}

// problem is an error with a status of its own.
type problem struct {
	status int
	kind   string
	text   string
}

func (p *problem) Error() string { return p.text }

var errTooFast = &problem{http.StatusTooManyRequests, "denied", "too many at once: wait a moment"}

// missing: what a path names is not there.
func missing(format string, args ...any) error {
	return &problem{http.StatusNotFound, "missing", fmt.Sprintf(format, args...)}
}

// badRequest: what was sent makes no sense.
func badRequest(format string, args ...any) error { return app.ErrorOf(app.Usage, format, args...) }

// failure is an error as it is told.
type failure struct {
	Kind string `json:"kind"` // no, usage, environment; missing, denied
	Text string `json:"text"` // "" where the result has said it
}

func failureOf(err error) (int, failure) {
	if p := (*problem)(nil); errors.As(err, &p) {
		return p.status, failure{p.kind, p.text}
	}
	text := err.Error()
	if app.Said(err) {
		text = ""
	}
	switch app.KindOf(err) {
	case app.No:
		return http.StatusConflict, failure{"no", text}
	case app.Usage:
		return http.StatusBadRequest, failure{"usage", text}
	}
	return http.StatusServiceUnavailable, failure{"environment", text}
}

func fail(w http.ResponseWriter, r *http.Request, err error) {
	status, f := failureOf(err)
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	answer(w, r, status, map[string]failure{"error": f})
}

// answer writes JSON, smaller where it is long and the reader can.
func answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":{"kind":"environment","text":"no JSON"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	if len(data) > 1<<10 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = squeeze(data, gzip.BestSpeed)
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Length", fmt.Sprint(len(data)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // who has gone is not told
	}
}

func squeeze(data []byte, level int) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, level)
	_, _ = z.Write(data) // into memory
	_ = z.Close()
	return out.Bytes()
}

// readJSON reads a body, which has been bounded.
func readJSON(r *http.Request, to any) error {
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err := in.Decode(to); err != nil {
		return badRequest("the body is not what %s takes: %w", r.URL.Path, err)
	}
	if in.More() {
		return badRequest("the body of %s holds more than one value", r.URL.Path)
	}
	return nil
}

// baseRoutes are those of the server itself.
func (s *Server) baseRoutes(m *routes) {
	m.ask("/api/enter", s.enter)
	m.look("/api/hello", func(http.ResponseWriter, *http.Request) (any, error) { return s.hello(), nil })
	m.look("/api/stream", s.serveStream)
	m.look("/api/jobs", s.jobs.show)
	m.act("POST", "/api/jobs", s.jobs.start)
	m.act("POST", "/api/jobs/{job}/answer", s.jobs.answer)
	m.act("POST", "/api/jobs/{job}/stop", s.jobs.stop)
}

func (s *Server) enter(w http.ResponseWriter, r *http.Request) (any, error) {
	return s.door.enter(w, r)
}

// hello is what a page has to know first.
func (s *Server) hello() event {
	return event{"kind": "hello", "version": s.app.Version, "read_only": s.options.ReadOnly, "workspace": s.door.root}
}
