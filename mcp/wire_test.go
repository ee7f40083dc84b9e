package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/app"
	"conclave/internal/program"
	"conclave/mcp"
)

// bin is where the program is, once for all tests.
var bin string

// built is the program as people have it.
var built = sync.OnceValues(func() (_ string, err error) {
	if bin, err = os.MkdirTemp("", "conclave-mcp-"); err != nil {
		return "", err
	}
	return program.Build(bin)
})

// start makes the command that a client starts.
func (p *place) start(args ...string) *exec.Cmd {
	p.t.Helper()
	path, err := built()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"mcp", "--root", p.root}, args...)...)
	cmd.Dir = p.root
	for k, v := range p.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// TestProgramOverPipes: the SDK's client starts the real program, whose standard
// output is the protocol's alone.
func TestProgramOverPipes(t *testing.T) {
	p := newPlace(t)
	p.trust()
	cmd := p.start()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	c := newClient(t)
	c.dial(&sdk.CommandTransport{Command: cmd})
	for _, tool := range []string{"quest_status", "consult", "confront", "audit", "search"} {
		if s := c.call(tool, once[tool].args); s.Exit != 0 {
			t.Errorf("%s: %d %s", tool, s.Exit, s.Error)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 0 || stderr.Len() > 0 {
		t.Errorf("it ended with %v\n%s", cmd.ProcessState, stderr.String())
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"raw","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// TestMalformedFrames: whatever comes, the program answers in the protocol, or
// ends; it neither hangs nor prints anything else.
func TestMalformedFrames(t *testing.T) {
	p := newPlace(t)
	call := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":` + arguments + "}}\n"
	}
	for name, frame := range map[string]string{
		"no JSON":         "hello\n",
		"half a frame":    `{"jsonrpc":"2.0","id":2,"meth`,
		"a list":          "[]\n",
		"a number":        "17\n",
		"no method":       `{"jsonrpc":"2.0","id":2}` + "\n",
		"unknown method":  `{"jsonrpc":"2.0","id":2,"method":"room/enter"}` + "\n",
		"unknown tool":    `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"trust"}}` + "\n",
		"wrong arguments": call(`{"words":7,"limit":"x"}`),
		"no arguments":    call(`null`),
		"a list of them":  call(`["words"]`),
		"deep":            call(strings.Repeat("[", 200000) + strings.Repeat("]", 200000)),
		"deep and open":   call(strings.Repeat(`{"a":`, 200000)),
		"100 MB":          call(`{"words":"` + strings.Repeat("a", 100<<20) + `"}`),
		"twice the key":   call(`{"words":"a","words":"b"}`),
		"NUL and escapes": call(`{"words":"\u0000\u001b[2Jx"}`),
		"not UTF-8":       call("{\"words\":\"\xff\xfe\"}"),
		"cancel nothing":  `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}` + "\n" + call(`{"words":"x"}`),
	} {
		cmd := p.start()
		cmd.Stdin = strings.NewReader(hello + frame)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // it may refuse to go on
		if !late.Stop() {
			t.Errorf("%s: it did not end", name)
		}
		for line := range strings.Lines(out.String()) {
			var m struct{ Jsonrpc string }
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Jsonrpc != "2.0" {
				t.Errorf("%s: this is no protocol: %.200s", name, line)
			}
		}
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 3 {
			t.Errorf("%s: exit %d, %.400s", name, code, stderr.String())
		}
	}
}

// TestVanishedClient: a client that goes away while a check runs in its sealed
// room leaves nothing behind.
func TestVanishedClient(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("checks need a sealed room")
	}
	mark := fmt.Sprintf("86%03d", os.Getpid()%1000)
	p := newPlace(t)
	p.write(".campaign/quest.md", strings.Replace(questText, "test -s work/report.txt", "sleep "+mark, 1))
	p.trust()
	cmd := p.start()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(in, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"confront",`+
		`"arguments":{"work":["work"]}}}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	for !sleeping(t, mark) {
		runtime.Gosched()
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if sleeping(t, mark) {
		t.Error("the check still runs")
	}
}

// sleeping says whether a process sleeps for so many seconds.
func sleeping(t *testing.T, seconds string) bool {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if data, err := os.ReadFile(f); err == nil && string(data) == "sleep\x00"+seconds+"\x00" {
			return true
		}
	}
	return false
}

// web serves a place over HTTP.
func (p *place) web() mcp.Place {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	at, done := make(chan mcp.Place, 1), make(chan error, 1)
	s := p.server(app.Remote{})
	go func() { done <- s.ServeWeb(ctx, "127.0.0.1:0", func(at2 mcp.Place) { at <- at2 }) }()
	p.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Error(err)
		}
	})
	select {
	case where := <-at:
		return where
	case err := <-done:
		p.t.Fatal(err)
	}
	return mcp.Place{}
}

// bears adds a token to requests.
type bears struct{ token string }

func (b bears) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTP(t *testing.T) {
	p := newPlace(t)
	p.trust()
	at := p.web()
	c := newClient(t)
	c.dial(&sdk.StreamableClientTransport{Endpoint: at.URL, HTTPClient: &http.Client{Transport: bears{at.Token}}, MaxRetries: -1})
	for _, tool := range []string{"quest_status", "consult", "confront", "search"} {
		if s := c.call(tool, once[tool].args); s.Exit != 0 {
			t.Errorf("%s: %d %s", tool, s.Exit, s.Error)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestHTTPDoor: who does not belong here gets no further than the door.
func TestHTTPDoor(t *testing.T) {
	defer mcp.HurryBodies(300 * time.Millisecond)()
	p := newPlace(t)
	at := p.web()
	host := strings.TrimSuffix(strings.TrimPrefix(at.URL, "http://"), "/mcp")
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(change func(*http.Request)) int {
		r, err := http.NewRequestWithContext(t.Context(), "POST", at.URL, strings.NewReader(strings.SplitN(hello, "\n", 2)[0]))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+at.Token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		change(r)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	for name, x := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"as it should be":       {func(*http.Request) {}, 200},
		"localhost":             {func(r *http.Request) { r.Host = "localhost:" + port }, 200},
		"its own origin":        {func(r *http.Request) { r.Header.Set("Origin", "http://"+host) }, 200},
		"no token":              {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"another token":         {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x"+at.Token[1:]) }, 401},
		"the token in the path": {func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + at.Token }, 401},
		"another host":          {func(r *http.Request) { r.Host = "evil.example:" + port }, 403},
		"another port":          {func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"another origin":        {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"origin null":           {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"two origins":           {func(r *http.Request) { r.Header["Origin"] = []string{"http://" + host, "http://evil.example"} }, 403},
		"another path":          {func(r *http.Request) { r.URL.Path = "/" }, 404},
		"GET without a session": {func(r *http.Request) { r.Method, r.Body = "GET", nil; r.ContentLength = 0 }, 400},
		"DELETE of no session":  {func(r *http.Request) { r.Method, r.Body = "DELETE", nil; r.ContentLength = 0 }, 400},
		"PUT":                   {func(r *http.Request) { r.Method = "PUT" }, 405},
		"no JSON":               {func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("hello")); r.ContentLength = 5 }, 400},
		"too long": {func(r *http.Request) {
			r.Body = io.NopCloser(bytes.NewReader(make([]byte, mcp.MaxMessage+1)))
			r.ContentLength = mcp.MaxMessage + 1
		}, 413},
	} {
		if got := ask(x.change); got != x.want {
			t.Errorf("%s: %d, want %d", name, got, x.want)
		}
	}
	// A body that does not come.
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", host, at.Token)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusRequestTimeout {
		t.Errorf("a slow body: %v, %v", res, err)
	}
	// Sessions are bounded.
	last := 0
	for range mcp.MaxSessions + 1 {
		last = ask(func(*http.Request) {})
	}
	if last != http.StatusServiceUnavailable {
		t.Errorf("one session too many: %d", last)
	}
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:80", "8080"} {
		err := p.server(app.Remote{}).ServeWeb(t.Context(), addr, func(mcp.Place) { t.Error(addr + " is served") })
		if err == nil || app.KindOf(err) != app.Usage {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// TestVanishedRequest: over HTTP a call ends with the request that carries it.
func TestVanishedRequest(t *testing.T) {
	p := newPlace(t)
	p.scripted(party)
	at := p.web()
	ctx, cancel := context.WithCancel(t.Context())
	post := func(ctx context.Context, session, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", at.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		return bears{at.Token}.RoundTrip(r)
	}
	first, rest, _ := strings.Cut(hello, "\n")
	res, err := post(t.Context(), "", first)
	if err != nil {
		t.Fatal(err)
	}
	session := res.Header.Get("Mcp-Session-Id")
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if res, err = post(t.Context(), session, rest); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err := post(ctx, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"consult",`+
			`"arguments":{"who":"wolf","message":"Are you there?"}}}`)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	p.awaitHolder("consult")
	cancel()
	<-done
	c := newClient(t)
	c.dial(&sdk.StreamableClientTransport{Endpoint: at.URL, HTTPClient: &http.Client{Transport: bears{at.Token}}, MaxRetries: -1})
	if s := c.call("consult", args{"who": "cat", "message": "And you?"}); s.Exit != 0 {
		t.Errorf("%d %s", s.Exit, s.Error)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
