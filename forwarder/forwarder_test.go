package forwarder

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// vendor is a host of the list, as httptest's certificate names it.
const vendor = "example.com"

// journal keeps events.
type journal struct {
	mu    sync.Mutex
	lines []string
	fail  error
	woken chan struct{}
}

func (j *journal) Event(_ slog.Level, event, _ string, context any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	b, err := json.Marshal(context)
	j.lines = append(j.lines, event+" "+string(b))
	select {
	case j.woken <- struct{}{}:
	default:
	}
	return errors.Join(err, j.fail)
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

// await waits for an event.
func (j *journal) await(t *testing.T, part string) string {
	t.Helper()
	for end := time.After(10 * time.Second); ; {
		if text := j.text(); strings.Contains(text, part) {
			return text
		}
		select {
		case <-j.woken:
		case <-end:
			t.Fatalf("no %q in:\n%s", part, j.text())
		}
	}
}

type world struct {
	*Forwarder
	journal *journal
	addr    string // of the room's port
	roots   *x509.CertPool
	dialled []string
}

// open serves a forwarder on a loopback port, before a vendor of our own.
func open(t *testing.T, change func(*Options)) *world {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s says %s", r.Host, b)
	}))
	t.Cleanup(server.Close)
	w := &world{journal: &journal{woken: make(chan struct{}, 1)}, roots: x509.NewCertPool()}
	w.roots.AddCert(server.Certificate())
	var mu sync.Mutex
	o := Options{Hosts: []string{vendor}, Token: "the-rooms-token", Events: w.journal,
		Dial: func(ctx context.Context, host string) (net.Conn, error) {
			mu.Lock()
			w.dialled = append(w.dialled, host)
			mu.Unlock()
			return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}}
	if change != nil {
		change(&o)
	}
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.Forwarder = f
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.ServeConn(c)
		}
	}()
	t.Cleanup(func() { l.Close(); f.Close() })
	return w
}

// client asks through the forwarder, as a program does that has its address.
func (w *world) client() *http.Client {
	proxy, err := url.Parse(w.ProxyURL("http://" + w.addr))
	if err != nil {
		panic(err)
	}
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy),
		TLSClientConfig: &tls.Config{RootCAs: w.roots}}}
}

// connect sends the head of a CONNECT and returns the connection and its answer.
func (w *world) connect(t *testing.T, head string) (net.Conn, *http.Response) {
	t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func head(target, password string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\nProxy-Authorization: Basic " +
		base64.StdEncoding.EncodeToString([]byte("room:"+password)) + "\r\n\r\n"
}

func TestTLSPasses(t *testing.T) {
	w := open(t, nil)
	client := w.client()
	r, err := client.Post("https://"+vendor+"/v1/messages?key=in-the-path", "text/plain", strings.NewReader("a prompt nobody sees"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	if string(body) != vendor+" says a prompt nobody sees" {
		t.Errorf("the vendor heard %q", body)
	}
	client.CloseIdleConnections()
	text := w.journal.await(t, EventClosed)
	for _, secret := range []string{"prompt", "in-the-path", "messages", "the-rooms-token"} {
		if strings.Contains(text, secret) {
			t.Errorf("the record holds %q:\n%s", secret, text)
		}
	}
	var p Passage
	_, last, _ := strings.Cut(w.journal.lines[len(w.journal.lines)-1], " ")
	if err := json.Unmarshal([]byte(last), &p); err != nil || p.Host != vendor || p.Sent == 0 || p.Received == 0 || p.Ended == nil || p.Cut != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if got := w.Observed(); got.Connections != 1 || got.Refused != 0 || got.Sent != p.Sent || got.Received != p.Received {
		t.Errorf("%+v", got)
	}
}

func TestRefusedByItsHead(t *testing.T) {
	for _, c := range []struct {
		name, head, rule string
		status           int
	}{
		{"another host", head("evil.example:443", "the-rooms-token"), "host", 403},
		{"one that ends alike", head("xexample.com:443", "the-rooms-token"), "host", 403},
		{"one below", head("api.example.com:443", "the-rooms-token"), "host", 403},
		{"the root's dot", head("example.com.:443", "the-rooms-token"), "host", 403},
		{"another case", head("EXAMPLE.com:443", "the-rooms-token"), "host", 403},
		{"an address", head("127.0.0.1:443", "the-rooms-token"), "host", 403},
		{"an address of six", head("[::1]:443", "the-rooms-token"), "host", 403},
		{"an address in one number", head("2130706433:443", "the-rooms-token"), "host", 403},
		{"port 80", head("example.com:80", "the-rooms-token"), "port", 403},
		{"port 22", head("example.com:22", "the-rooms-token"), "port", 403},
		{"no port", head("example.com", "the-rooms-token"), "target", 400},
		{"another token", head("example.com:443", "another"), "token", 407},
		{"no token", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "token", 407},
		{"plain HTTP by proxy", "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "method", 403},
		{"plain HTTP", "GET /v1/models HTTP/1.1\r\nHost: example.com\r\n\r\n", "method", 403},
		{"tools of another host", "POST http://example.com/mcp HTTP/1.1\r\nHost: example.com\r\n\r\n", "method", 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := open(t, func(o *Options) { o.Tools = http.NotFoundHandler() })
			_, r := w.connect(t, c.head)
			if r.StatusCode != c.status {
				t.Errorf("status %d, want %d", r.StatusCode, c.status)
			}
			w.journal.await(t, EventRefused+` {"rule":"`+c.rule+`"`)
			if len(w.dialled) > 0 || w.Observed().Connections != 0 || w.Observed().Refused != 1 {
				t.Errorf("dialled %v, %+v", w.dialled, w.Observed())
			}
		})
	}
}

// clientHello is what a client that calls for name sends first.
func clientHello(name string) []byte {
	c := &listened{from: bytes.NewReader(nil)}
	var sent bytes.Buffer
	_ = tls.Client(writes{c, &sent}, &tls.Config{ServerName: name, InsecureSkipVerify: name == ""}).Handshake()
	return sent.Bytes()
}

type writes struct {
	net.Conn
	to io.Writer
}

func (w writes) Write(b []byte) (int, error) { return w.to.Write(b) }

// encrypted puts an extension for an encrypted hello into one.
func encrypted(t *testing.T, hello []byte) []byte {
	t.Helper()
	b := slices.Clone(hello)
	at := 9 + 2 + 32                         // record, handshake, version, random
	at += 1 + int(b[at])                     // session
	at += 2 + int(b[at])<<8 + int(b[at+1])   // ciphers
	at += 1 + int(b[at])                     // compression
	n := int(b[at])<<8 | int(b[at+1])        // extensions
	b = append(b, 0xfe, 0x0d, 0, 3, 1, 0, 0) // inner; nobody reads it
	put := func(at, n int) { b[at], b[at+1] = byte(n>>8), byte(n) }
	put(at, n+7)
	put(3, len(b)-5)
	put(7, len(b)-9)
	return b
}

func TestRefusedByItsHello(t *testing.T) {
	good := clientHello(vendor)
	for _, c := range []struct {
		name  string
		first []byte
		why   string
	}{
		{"another name", clientHello("evil.example"), "names another host"},
		{"one below", clientHello("api." + vendor), "names another host"},
		{"no name", clientHello(""), "names no host"},
		{"encrypted", encrypted(t, good), "encrypted"},
		{"plain HTTP", []byte("POST / HTTP/1.1\r\nHost: example.com\r\n\r\nsecret"), "no TLS hello"},
		{"SSH", []byte("SSH-2.0-OpenSSH_9\r\n"), "no TLS hello"},
		{"a cut hello", good[:len(good)-1], "no TLS hello"},
		{"half a record", good[:3], "no TLS hello"},
		{"another record", append([]byte{23}, good[1:]...), "no TLS hello"},
		{"nothing", nil, "no TLS hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached := make(chan []byte, 1)
			w := open(t, func(o *Options) {
				o.Dial = func(context.Context, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						b, _ := io.ReadAll(theirs)
						reached <- b
					}()
					return ours, nil
				}
			})
			conn, r := w.connect(t, head(vendor+":443", "the-rooms-token"))
			if r.StatusCode != 200 {
				t.Fatalf("status %d", r.StatusCode)
			}
			_, _ = conn.Write(c.first)
			_ = conn.(*net.TCPConn).CloseWrite()
			if rest, err := io.ReadAll(conn); len(rest) > 0 {
				t.Errorf("it was answered %q, %v", rest, err)
			}
			if text := w.journal.await(t, EventRefused); !strings.Contains(text, c.why) || strings.Contains(text, EventConnect) {
				t.Errorf("want %q in\n%s", c.why, text)
			}
			if b := <-reached; len(b) > 0 {
				t.Errorf("%q left the room", b)
			}
		})
	}
	t.Run("the same hello, whole", func(t *testing.T) { // so that the cases above fail for their own reason
		if got, err := readHello(bytes.NewReader(good), vendor); err != nil || !bytes.Equal(got, good) {
			t.Errorf("%v", err)
		}
	})
}

// A hello may come byte by byte, and in several records.
func FuzzHello(f *testing.F) {
	f.Add(clientHello(vendor))
	f.Add(clientHello("evil.example"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readHello(bytes.NewReader(b), vendor)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(b, got) || got[0] != 22 || !bytes.Contains(bytes.ToLower(got), []byte(vendor)) {
			t.Errorf("%q passes for a hello to %s", got, vendor)
		}
	})
}

func TestNameThatLeadsInside(t *testing.T) {
	for _, a := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3",
		"198.18.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1",
		"ff02::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2001:0:1::1", "2001:db8::1",
	} {
		addr := netip.MustParseAddr(a)
		if public(addr) {
			t.Errorf("%s passes for public", a)
		}
		_, err := dialOne(t.Context(), vendor, []netip.Addr{netip.MustParseAddr("9.9.9.9"), addr})
		if err == nil || !strings.Contains(err.Error(), "not on the public internet") {
			t.Errorf("%s beside a public address: %v", a, err)
		}
	}
	for _, a := range []string{"9.9.9.9", "160.79.104.10", "104.18.32.47", "2606:4700::6812:202f", "64:ff9b::909:909", "::ffff:9.9.9.9"} {
		if !public(netip.MustParseAddr(a)) {
			t.Errorf("%s is refused", a)
		}
	}
	if _, err := dialOne(t.Context(), vendor, nil); err == nil {
		t.Error("a name without an address was dialled")
	}
	// localhost is what a resolver says it is: no hook, the real way.
	w := open(t, func(o *Options) { o.Hosts, o.Dial = []string{"rebound.localhost"}, nil })
	_, r := w.connect(t, head("rebound.localhost:443", "the-rooms-token"))
	if body, _ := io.ReadAll(r.Body); r.StatusCode != 502 {
		t.Errorf("%d %s", r.StatusCode, body)
	}
	w.journal.await(t, `"rule":"dial"`)
}

func TestLimits(t *testing.T) {
	t.Run("thousands of connections", func(t *testing.T) {
		w := open(t, func(o *Options) { o.Limits = Limits{Tunnels: 8, HeadTime: time.Minute} })
		var wg sync.WaitGroup
		for range 2000 {
			wg.Go(func() {
				c, err := net.Dial("tcp", w.addr)
				if err != nil {
					return
				}
				defer c.Close()
				_, _ = io.WriteString(c, head("evil.example:443", "the-rooms-token"))
				_, _ = io.Copy(io.Discard, c)
			})
		}
		wg.Wait()
		if n := w.Observed().Refused; n != 2000 {
			t.Errorf("%d of 2000 were refused", n)
		}
		if n := strings.Count(w.journal.text(), EventRefused); n != mostRefusals {
			t.Errorf("%d refusals are on the record", n)
		}
		r, err := w.client().Get("https://" + vendor + "/") // and it is there for the next one
		if err != nil || r.StatusCode != 200 {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("a slow head", func(t *testing.T) {
		w := open(t, func(o *Options) { o.Limits.HeadTime = 30 * time.Millisecond })
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "CONNECT exam")
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadAll(c); err != nil {
			t.Errorf("it was not shown out: %v", err)
		}
	})
	t.Run("a slow hello", func(t *testing.T) {
		w := open(t, func(o *Options) { o.Limits.HeadTime = 50 * time.Millisecond })
		c, _ := w.connect(t, head(vendor+":443", "the-rooms-token"))
		_, _ = c.Write(clientHello(vendor)[:20])
		_, _ = io.ReadAll(c)
		w.journal.await(t, `"rule":"hello"`)
	})
	t.Run("idle", func(t *testing.T) {
		w := open(t, func(o *Options) { o.Limits.Silence = 50 * time.Millisecond })
		c, _ := w.connect(t, head(vendor+":443", "the-rooms-token"))
		_, _ = c.Write(clientHello(vendor))
		_, _ = io.ReadAll(c)
		w.journal.await(t, `"cut":"idle"`)
	})
	t.Run("bytes", func(t *testing.T) {
		w := open(t, func(o *Options) { o.Limits.Bytes = 100 << 10 })
		_, err := w.client().Post("https://"+vendor+"/", "text/plain", bytes.NewReader(make([]byte, 1<<20)))
		if err == nil {
			t.Error("a megabyte passed")
		}
		w.journal.await(t, `"cut":"bytes"`)
	})
	t.Run("a large head", func(t *testing.T) {
		w := open(t, nil)
		_, r := w.connect(t, "CONNECT example.com:443 HTTP/1.1\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
		if r.StatusCode != 431 {
			t.Errorf("status %d", r.StatusCode)
		}
	})
}

func TestWhatCannotBeRecordedDoesNotPass(t *testing.T) {
	w := open(t, nil)
	w.journal.fail = errors.New("the disk is full")
	if r, err := w.client().Get("https://" + vendor + "/"); err == nil {
		t.Errorf("it passed: %v", r.Status)
	}
	w.journal.mu.Lock()
	w.journal.fail = nil
	w.journal.mu.Unlock()
	if r, err := w.client().Get("https://" + vendor + "/"); err == nil {
		t.Errorf("it passed after the record had failed: %v", r.Status)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("closed with %v", err)
	}
}

func TestToolsOnTheSamePort(t *testing.T) {
	w := open(t, func(o *Options) {
		o.Tools = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "tools at "+r.URL.Path) })
	})
	for _, path := range []string{"/mcp", "/mcp/more"} {
		r, err := http.Get("http://" + w.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(r.Body); string(b) != "tools at "+path {
			t.Errorf("%s", b)
		}
	}
	if r, err := http.Get("http://" + w.addr + "/mcpx"); err != nil || r.StatusCode != 403 {
		t.Errorf("%v %v", r, err)
	}
}

func TestCloseEndsWhatPasses(t *testing.T) {
	w := open(t, nil)
	c, _ := w.connect(t, head(vendor+":443", "the-rooms-token"))
	_, _ = c.Write(clientHello(vendor))
	w.journal.await(t, EventConnect)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection is still open: %v", err)
	}
	w.journal.await(t, EventClosed)
}

func TestNeeds(t *testing.T) {
	for _, o := range []Options{
		{Hosts: []string{vendor}}, {Events: &journal{}}, {Events: &journal{}, Hosts: []string{"127.0.0.1"}},
		{Events: &journal{}, Hosts: []string{"Example.com"}}, {Events: &journal{}, Hosts: []string{"localhost"}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was opened", o)
		}
	}
}
