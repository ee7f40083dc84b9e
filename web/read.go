package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"conclave/app"
)

// library is what is recorded, opened when it is first asked for.
type library struct {
	mu   sync.Mutex
	held *app.Library
}

func (s *Server) library(ctx context.Context) (*app.Library, error) {
	s.books.mu.Lock()
	defer s.books.mu.Unlock()
	if s.books.held != nil {
		return s.books.held, nil
	}
	l, err := s.app.OpenLibrary(context.WithoutCancel(ctx), app.ArchiveAt{})
	if err != nil {
		return nil, err
	}
	s.books.held = l
	return l, nil
}

// closeLibrary ends what was opened; what it held is not written to.
func (s *Server) closeLibrary() {
	s.books.mu.Lock()
	defer s.books.mu.Unlock()
	if s.books.held != nil {
		_ = s.books.held.Close() // nothing is left to be lost
		s.books.held = nil
	}
}

// readRoutes are those that show what is recorded.
func (s *Server) readRoutes(m *routes) {
	m.look("/api/runs", s.read(listRuns))
	m.look("/api/runs/facets", s.read(func(l *app.Library, r *http.Request) (any, error) {
		return l.RunFacets(r.Context())
	}))
	m.look("/api/run/{run}", s.read(oneRun))
	m.look("/api/run/{run}/index", s.runIndex)
	m.look("/api/run/{run}/entries", s.read(runEntries))
	m.look("/api/run/{run}/entry/{n}", s.read(runEntry))
	m.look("/api/run/{run}/entry/{n}/raw", s.rawEntry)
	m.look("/api/run/{run}/find", s.read(func(l *app.Library, r *http.Request) (any, error) {
		return l.FindInRun(r.Context(), r.PathValue("run"), r.FormValue("q"))
	}))
	m.look("/api/run/{run}/number", s.read(entryAt))
	m.look("/api/now", s.read(s.now))
	m.look("/api/search", s.read(findEntries))
	m.look("/api/heat", s.read(heat))
	m.look("/api/marks", s.read(func(l *app.Library, _ *http.Request) (any, error) { return l.Marks() }))
	m.act("PUT", "/api/marks", s.read(s.mark))
	m.look("/api/saved", s.read(savedQueries))
	m.act("PUT", "/api/saved", s.read(s.saveQuery))
	m.add("POST /api/bundles", true, app.MaxUpload, s.read(takeBundle))
	m.look("/api/run/{run}/export", s.exportRun)
}

// read is a handler that reads of the library.
func (s *Server) read(h func(l *app.Library, r *http.Request) (any, error)) handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		l, err := s.library(r.Context())
		if err != nil {
			return nil, err
		}
		v, err := h(l, r)
		return v, notThere(r, err)
	}
}

// notThere gives what a path names and what is not there its own status.
func notThere(r *http.Request, err error) error {
	if errors.Is(err, app.ErrNoRun) || errors.Is(err, app.ErrNoEntry) {
		return missing("%v", err)
	}
	return err
}

// count reads a number of a query that is not below 0.
func count(r *http.Request, name string, otherwise int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest("%s: %q is no number from 0 on", name, text)
	}
	return n, nil
}

func listRuns(l *app.Library, r *http.Request) (any, error) {
	from, err := count(r, "from", 0)
	if err != nil {
		return nil, err
	}
	n, err := count(r, "n", 0)
	if err != nil {
		return nil, err
	}
	return l.Runs(r.Context(), app.RunFilter{
		Text: r.FormValue("q"), State: r.FormValue("state"), Project: r.FormValue("project"), Agent: r.FormValue("agent"),
		Role: r.FormValue("role"), Kind: r.FormValue("kind"), Since: r.FormValue("since"), Until: r.FormValue("until"),
		Starred: r.FormValue("star") == "1", Sort: r.FormValue("sort"), From: from, N: n,
	})
}

// runIndex gives the columns as they are packed. On this machine it is quicker to
// send them than to compress them.
func (s *Server) runIndex(w http.ResponseWriter, r *http.Request) (any, error) {
	l, err := s.library(r.Context())
	if err != nil {
		return nil, err
	}
	from, err := count(r, "from", 0)
	if err != nil {
		return nil, err
	}
	part := app.RunPart(r.FormValue("part"))
	if !part.Known() {
		return nil, badRequest("part: %q is neither look nor rest", part)
	}
	c, err := l.RunIndex(r.Context(), r.PathValue("run"), from, part)
	if err != nil {
		return nil, notThere(r, err)
	}
	h, data := w.Header(), c.Data
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Vary", "Accept-Encoding")
	if !fromHere(r) && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = c.Gzip()
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // who has gone is not told
	return nil, nil
}

// fromHere says that who asks is on this machine.
func fromHere(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// oneRun is a run; with piece=100, the entries that will be looked at first, too.
func oneRun(l *app.Library, r *http.Request) (any, error) {
	piece, err := count(r, "piece", 0)
	if err != nil {
		return nil, err
	}
	if piece == 0 {
		return l.Run(r.Context(), r.PathValue("run"))
	}
	var at *int
	if r.FormValue("at") != "" {
		n, err := count(r, "at", 0)
		if err != nil {
			return nil, err
		}
		at = &n
	}
	return l.RunAt(r.Context(), r.PathValue("run"), at, piece)
}

func runEntries(l *app.Library, r *http.Request) (any, error) {
	from, err := count(r, "from", 0)
	if err != nil {
		return nil, err
	}
	n, err := count(r, "n", 200)
	if err != nil {
		return nil, err
	}
	return l.RunEntries(r.Context(), r.PathValue("run"), from, n)
}

func entryNumber(r *http.Request) (int, error) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return 0, app.ErrNoEntry
	}
	return n, nil
}

func runEntry(l *app.Library, r *http.Request) (any, error) {
	n, err := entryNumber(r)
	if err != nil {
		return nil, err
	}
	e, _, err := l.RunEntry(r.Context(), r.PathValue("run"), n)
	return e, err
}

// rawEntry gives the line of an entry as text.
func (s *Server) rawEntry(w http.ResponseWriter, r *http.Request) (any, error) {
	l, err := s.library(r.Context())
	if err != nil {
		return nil, err
	}
	n, err := entryNumber(r)
	if err != nil {
		return nil, notThere(r, err)
	}
	_, raw, err := l.RunEntry(r.Context(), r.PathValue("run"), n)
	if err != nil {
		return nil, notThere(r, err)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	_, _ = w.Write(raw) // who has gone is not told
	return nil, nil
}

// entryAt finds the number of an entry by lane and seq, which hits bear.
func entryAt(l *app.Library, r *http.Request) (any, error) {
	seq, err := strconv.ParseInt(r.FormValue("seq"), 10, 64)
	if err != nil {
		return nil, badRequest("seq: %q is no number", r.FormValue("seq"))
	}
	n, err := l.NumberOf(r.Context(), r.PathValue("run"), r.FormValue("lane"), seq)
	return map[string]int{"n": n}, err
}

func findEntries(l *app.Library, r *http.Request) (any, error) {
	n, err := count(r, "n", 20)
	if err != nil {
		return nil, err
	}
	q := app.Search{Since: r.FormValue("since"), Until: r.FormValue("until")}
	q.Words, q.Role, q.Project, q.Limit = r.FormValue("q"), r.FormValue("role"), r.FormValue("project"), min(n, 200)
	if in := r.FormValue("in"); in != "" {
		q.Types = strings.Split(in, ",")
	}
	return l.FindEntries(r.Context(), q)
}

func heat(l *app.Library, r *http.Request) (any, error) {
	east := 0
	if text := r.FormValue("east"); text != "" {
		var err error
		if east, err = strconv.Atoi(text); err != nil {
			return nil, badRequest("east: %q is no number of minutes", text)
		}
	}
	return l.Heat(r.Context(), east, r.FormValue("since"))
}

func (s *Server) mark(l *app.Library, r *http.Request) (any, error) {
	var m app.Mark
	if err := readJSON(r, &m); err != nil {
		return nil, err
	}
	all, err := l.Mark(r.Context(), m)
	if err == nil && (m.Star != nil || m.Pin != nil || m.Query != nil) {
		s.marked() // how far one has read shows nowhere else
	}
	return all, err
}

// marked tells that marks are others than before.
func (s *Server) marked() { s.stream.publish(event{"kind": "marks"}) }

func savedQueries(l *app.Library, _ *http.Request) (any, error) {
	m, err := l.Marks()
	return m.Queries, err
}

func (s *Server) saveQuery(l *app.Library, r *http.Request) (any, error) {
	var q app.SavedQuery
	if err := readJSON(r, &q); err != nil {
		return nil, err
	}
	m, err := l.Mark(r.Context(), app.Mark{Query: &q})
	if err == nil {
		s.marked()
	}
	return m.Queries, err
}

func takeBundle(l *app.Library, r *http.Request) (any, error) {
	ids, err := l.Upload(r.Context(), r.URL.Query().Get("name"), r.Body)
	return map[string][]string{"runs": ids}, err
}

// live tells the stream what grows, until ctx ends.
func (s *Server) live(ctx context.Context) {
	l, err := s.library(ctx)
	if err != nil {
		return // whoever asks for runs is told why
	}
	_ = l.Live(ctx, app.Hearing{ // nor has it a way without a workspace
		Run: func(c app.Change) {
			s.stream.publish(event{"kind": "run", "run": c.Run, "entries": c.Entries, "epoch": c.Epoch, "state": c.State,
				"last": c.Last, "last_at": c.LastAt, "cost_usd": c.Cost, "cost_at_least": c.AtLeast, "tokens": c.Tokens})
		},
		Now:   func() { s.stream.publish(event{"kind": "now"}) },
		Marks: s.marked,
	})
}
