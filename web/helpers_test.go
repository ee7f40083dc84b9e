package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app"
)

func TestMain(m *testing.M) {
	app.Init() // rooms are this program again
	if root := os.Getenv(childRoot); root != "" {
		os.Exit(child(root))
	}
	os.Exit(m.Run())
}

// served is a page that is served for a test, and a browser that is let in.
type served struct {
	t     *testing.T
	s     *Server
	root  string
	base  string // http://127.0.0.1:PORT
	code  string
	token string
	end   func() error // ends it, once
}

func newApp(t *testing.T) *app.App {
	t.Helper()
	base := t.TempDir()
	root := filepath.Join(base, "project")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": filepath.Join(base, "home"), "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8"}
	return &app.App{Dir: root, Root: root, Version: "test", Getenv: func(k string) string { return env[k] },
		Show: func(e app.Event) { t.Logf("shown: %v", e) }}
}

// serve serves the page of an empty workspace until the test ends.
func serve(t *testing.T, o Options) *served {
	t.Helper()
	return serveWith(t, o, func(*Server) {})
}

func serveWith(t *testing.T, o Options, change func(*Server)) *served {
	t.Helper()
	if o.Listen == "" && o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	a := newApp(t)
	s, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	ctx, cancel := context.WithCancel(context.Background())
	links, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.Serve(ctx, a.Root, func(link string) { links <- link }) }()
	p := &served{t: t, s: s, root: a.Root}
	done := false
	p.end = func() error {
		cancel()
		if done {
			return nil
		}
		done = true
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Minute):
			t.Error("the server does not end")
			return nil
		}
	}
	t.Cleanup(func() {
		if err := p.end(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	select {
	case link := <-links:
		p.base, p.code, _ = strings.Cut(link, "/#enter=")
	case err := <-ended:
		done = true
		t.Fatal(err)
	}
	p.token = p.s.door.token
	return p
}

// request is one as the page sends it; change makes it another.
func (p *served) request(method, path string, body any, change func(*http.Request)) *http.Request {
	p.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			p.t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	r, err := http.NewRequest(method, p.base+path, in)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Origin", p.base)
	}
	if change != nil {
		change(r)
	}
	return r
}

// do sends a request on a connection of its own, and reads the answer.
func (p *served) do(r *http.Request) (*http.Response, string) {
	p.t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res, string(body)
}

// get asks as the page does, and wants an answer of that status.
func (p *served) get(method, path string, body any, status int, to any) {
	p.t.Helper()
	res, text := p.do(p.request(method, path, body, nil))
	if res.StatusCode != status {
		p.t.Fatalf("%s %s: %s %s", method, path, res.Status, text)
	}
	if to != nil {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			p.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
}

// told is an event as a page hears it.
type told struct {
	ID        string
	Kind      string
	Run       string
	Entries   int
	Job       string
	Told      int
	Number    int
	N         int
	Event     jobEvent
	Question  struct{ Way, Text string }
	Results   []json.RawMessage
	Error     *failure
	Stopped   bool
	Answered  bool
	ReadOnly  bool `json:"read_only"`
	Workspace string
}

// listener hears the stream.
type listener struct {
	t    *testing.T
	res  *http.Response
	in   *bufio.Reader
	last string
}

func (p *served) listen(last string) *listener {
	p.t.Helper()
	r := p.request("GET", "/api/stream", nil, func(r *http.Request) {
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
	})
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		p.t.Fatalf("the stream: %s", res.Status)
	}
	return &listener{t: p.t, res: res, in: bufio.NewReader(res.Body)}
}

// next is the next event; ok is false at the end.
func (l *listener) next() (e told, ok bool) {
	l.t.Helper()
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "id: "):
			e.ID = line[4:]
		case strings.HasPrefix(line, "data: "):
			if err := json.Unmarshal([]byte(line[6:]), &e); err != nil {
				l.t.Fatalf("%v in %s", err, line)
			}
		case line == "" && e.Kind != "":
			l.last = e.ID
			return e, true
		}
	}
}

// until is the next event of a kind.
func (l *listener) until(kind string) told {
	l.t.Helper()
	for {
		e, ok := l.next()
		if !ok {
			l.t.Fatalf("the stream ended before %s", kind)
		}
		if e.Kind == kind {
			return e
		}
	}
}

// find is the route that takes a request.
func (m *routes) find(method, path string) route {
	r, _ := http.NewRequest(method, path, nil)
	_, pattern := m.mux.Handler(r)
	for _, one := range m.list {
		if one.pattern == pattern {
			return one
		}
	}
	return route{}
}

func newJar(t *testing.T) http.CookieJar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return jar
}
