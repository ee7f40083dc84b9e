package gateway_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/gateway"
)

const (
	realKey = "sk-ant-real-0123456789abcdefghijklmnop"
	model   = "claude-sonnet-4-5"
)

// memory is a record that a test can look into, and break.
type memory struct {
	mu     sync.Mutex
	order  []string // channels and events, as they came
	blobs  map[string][]byte
	events []memoryEvent
	broken func(what string) bool // says of a channel or an event whether it fails
}

type memoryEvent struct {
	Name    string
	Context json.RawMessage
}

var errDisk = errors.New("no space left on the test's disk")

func (m *memory) AppendBlob(channel string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil && m.broken(channel) {
		return errDisk
	}
	if m.blobs == nil {
		m.blobs = map[string][]byte{}
	}
	m.order = append(m.order, channel)
	m.blobs[channel] = append(m.blobs[channel], data...)
	return nil
}

func (m *memory) Event(_ slog.Level, event, _ string, context any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil && m.broken(event) {
		return errDisk
	}
	b, err := json.Marshal(context)
	if err != nil {
		return err
	}
	m.order = append(m.order, event)
	m.events = append(m.events, memoryEvent{event, b})
	return nil
}

// all is every byte of the record.
func (m *memory) all() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for name, data := range m.blobs {
		b.WriteString(name + "\n" + string(data) + "\n")
	}
	for _, e := range m.events {
		b.WriteString(e.Name + " " + string(e.Context) + "\n")
	}
	return b.String()
}

// bodies are the joined blobs of one kind of channel, in the order in which
// they began.
func (m *memory) bodies(what string) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out [][]byte
	seen := map[string]bool{}
	for _, channel := range m.order {
		if strings.HasPrefix(channel, what+"/") && !seen[channel] {
			seen[channel] = true
			out = append(out, bytes.Clone(m.blobs[channel]))
		}
	}
	return out
}

func (m *memory) count(what string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, e := range m.order {
		if e == what || strings.HasPrefix(e, what+"/") {
			n++
		}
	}
	return n
}

// door is a gateway behind a loopback port, as a room has it.
type door struct {
	*gateway.Gateway
	url    string
	record *memory
	client *http.Client
}

// open starts a gateway for a handler that plays the model's server.
func open(t testing.TB, o gateway.Options, upstream http.HandlerFunc) *door {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	if o.Upstream.BaseURL == "" {
		o.Upstream.BaseURL = up.URL
	}
	return openAt(t, o)
}

func openAt(t testing.TB, o gateway.Options) *door {
	t.Helper()
	record := &memory{}
	if o.Upstream.Kind == "" {
		o.Upstream.Kind = gateway.Anthropic
	}
	if o.Upstream.Key == "" {
		o.Upstream.Key = realKey
	}
	if o.Models == nil {
		o.Models = []string{"*"}
	}
	if o.Blobs == nil {
		o.Blobs = record
	}
	if o.Events == nil {
		o.Events = record
	}
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { g.ServeConn(c) })
		}
	})
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		l.Close()
		g.Close()
		wg.Wait()
		transport.CloseIdleConnections()
	})
	return &door{g, "http://" + l.Addr().String(), record, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type answer struct {
	status int
	header http.Header
	body   []byte
	err    error // of reading the body
}

// ask sends a request with the token, and takes in the whole answer.
func (d *door) ask(t testing.TB, method, path, body string, header ...string) answer {
	t.Helper()
	req := d.request(t, method, path, body, header...)
	resp, err := d.client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, b, err}
}

// request builds a request; a header "Name: value" replaces the token's own,
// and "-" leaves that out.
func (d *door) request(t testing.TB, method, path, body string, header ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", d.Token())
	req.Header.Set("Content-Type", "application/json")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if h == "-" {
			name = "X-Api-Key"
		}
		req.Header.Del(name)
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req
}

const hello = `{"model":"` + model + `","stream":true,"messages":[{"role":"user","content":"hello"}]}`

// eventually waits for a condition that others bring about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// message is the text that a program shows of an error, in any API.
func message(t testing.TB, a answer) (kind, text string) {
	t.Helper()
	var e struct {
		Error struct{ Type, Status, Message string }
	}
	if err := json.Unmarshal(a.body, &e); err != nil || e.Error.Message == "" {
		t.Fatalf("the answer is no error of the API: %d %s", a.status, a.body)
	}
	return cmp.Or(e.Error.Type, e.Error.Status), e.Error.Message
}

// raw sends bytes over a connection of their own and returns all that comes
// back.
func raw(t testing.TB, d *door, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
