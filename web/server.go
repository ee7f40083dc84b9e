package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"conclave/app"
	"conclave/internal/origin"
	"conclave/internal/screen"
)

// The bounds of connections.
const (
	headerTime     = 10 * time.Second
	bodyTime       = 10 * time.Second
	idleTime       = 2 * time.Minute
	maxHeader      = 64 << 10
	maxConnections = 1024
	lastWords      = 5 * time.Second // for readers, when the process ends
)

// Options are where the page is served, and what may be done there.
type Options struct {
	Addr     string   // of this machine; "" for the usual one
	Listen   string   // an address that others reach; "" for none
	Hosts    []string // the names under which others call it
	Cert     string   // files for TLS
	Key      string
	Proxy    bool // somebody else does TLS before it
	ReadOnly bool
}

// Server serves the page of one workspace.
type Server struct {
	app     *app.App
	options Options
	names   origin.Names // once it listens, as at
	at      net.Addr
	started chan struct{}

	door    *door
	routes  *routes
	stream  *stream
	jobs    *jobs
	books   library
	exports chan struct{} // those that go on
	ending  chan struct{} // closed when the streams have to end
	work    sync.WaitGroup

	patience time.Duration // with who takes a piece of an answer
	most     int           // connections
}

// New makes a server of the verbs of a person's app.
func New(a *app.App, o Options) (*Server, error) {
	own := *a
	own.Literal = true
	s := &Server{app: &own, options: o, started: make(chan struct{}), ending: make(chan struct{}),
		exports: make(chan struct{}, maxExports), patience: writeTime, most: maxConnections}
	s.stream = newStream()
	s.jobs = newJobs(s)
	files, err := newAssets(a.Version, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	s.routes = newRoutes(s)
	s.baseRoutes(s.routes)
	s.readRoutes(s.routes)
	s.actRoutes(s.routes)
	s.door = newDoor(s, files)
	return s, nil
}

// Link is a new way in: it can be used once, and soon.
func (s *Server) Link() (string, error) {
	select {
	case <-s.started:
	case <-time.After(lastWords):
		return "", app.ErrorOf(app.Environment, "the page is not served yet")
	}
	return s.names.URL() + "/#enter=" + s.door.newCode(), nil
}

// Opens says what is open to others; nothing where only this machine reaches it.
func (s *Server) Opens() []string {
	if s.options.Listen == "" {
		return nil
	}
	can := "do what you can do: read every run, ask agents, spend money"
	if s.options.ReadOnly {
		can = "read every run"
	}
	return []string{"open to others at " + s.at.String() + ", as " + strings.Join(s.options.Hosts, " and "),
		"whoever comes in by a link of yours can " + can}
}

// Serve serves the page of a workspace until ctx ends, and then until what runs is
// settled. ready is told a link once it listens.
func (s *Server) Serve(ctx context.Context, root string, ready func(link string)) error {
	l, err := s.listen(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.door.root = root
	close(s.started)
	link, err := s.Link()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	web := &http.Server{
		Handler: s.door, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ConnContext: connContext, ErrorLog: log.New(faults{s.app}, "", 0),
	}
	living, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	s.jobs.begin(living)
	s.work.Go(func() { s.live(living) })
	s.work.Go(func() { s.endWith(ctx, web) })
	ready(link)
	err = web.Serve(newBounded(l, s.most))
	cancel()
	end()
	s.work.Wait()
	s.closeLibrary()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return app.ErrorOf(app.Environment, "serve: %w", err)
}

// endWith waits for the end of ctx, lets what runs be settled and everybody be told,
// and ends the server.
func (s *Server) endWith(ctx context.Context, web *http.Server) {
	<-ctx.Done()
	s.jobs.end()
	s.stream.publish(event{"kind": "end"})
	close(s.ending)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if web.Shutdown(last) != nil {
		_ = web.Close() // who still reads is not waited for
	}
}

// faults tells the person of a fault in this program, and not of the faults of
// those who connect.
type faults struct{ app *app.App }

func (f faults) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: panic")) && f.app.Show != nil {
		f.app.Show(app.Warning{Text: screen.Block(string(line))})
	}
	return len(line), nil
}

// anyAddr is where the page is when nobody says: at a port that nobody can have known
// before. Who had it earlier could have left a service worker in the browser, or files
// in its cache, and would be the page.
const anyAddr = "127.0.0.1:0"

func (s *Server) listen(ctx context.Context) (net.Listener, error) {
	if s.options.Listen != "" {
		return s.listenOpenly(ctx)
	}
	l, err := origin.Listen(ctx, cmp.Or(s.options.Addr, anyAddr))
	if wrong := (*origin.AddrError)(nil); errors.As(err, &wrong) {
		return nil, app.ErrorOf(app.Usage, "--addr %w\nfor others: --listen", err)
	}
	if err != nil {
		return nil, app.ErrorOf(app.Environment, "%w\nwithout --addr a port is taken that is free", err)
	}
	s.names, s.at = origin.Local(l.Addr()), l.Addr()
	return l, nil
}

// listenOpenly listens where others reach, by names that the person said.
func (s *Server) listenOpenly(ctx context.Context) (net.Listener, error) {
	o := s.options
	if _, _, err := origin.Split(o.Listen); err != nil {
		return nil, app.ErrorOf(app.Usage, "--listen %w", err)
	}
	switch {
	case len(o.Hosts) == 0:
		return nil, app.ErrorOf(app.Usage, "--listen needs --host NAME, the name under which others call the page")
	case (o.Cert == "") != (o.Key == ""):
		return nil, app.ErrorOf(app.Usage, "--tls-cert and --tls-key belong together")
	case (o.Cert == "") != o.Proxy:
		return nil, app.ErrorOf(app.Usage, "--listen opens the page to others: give --tls-cert and --tls-key, "+
			"or --behind-proxy where somebody else does TLS")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, app.ErrorOf(app.Environment, "%w", err)
	}
	s.names, s.at = origin.Names{Scheme: "https", Hosts: o.Hosts}, l.Addr()
	if o.Proxy {
		return l, nil
	}
	pair, err := tls.LoadX509KeyPair(s.app.AbsPath(o.Cert), s.app.AbsPath(o.Key))
	if err != nil {
		return nil, errors.Join(app.ErrorOf(app.Usage, "%w", err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

func newSecret() string { return rand.Text() }
