package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/gateway"
)

// dial opens a connection to the gateway that ends with the test.
func dial(t *testing.T, d *door) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// head is the beginning of a request with a body of the length.
func head(d *door, path string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n", path, d.Token(), length)
}

// Sixty bodies of 32 MiB that never end cost what four of them do (W13), and
// when their time is over the room is served again.
func TestUnfinishedBodiesAreBounded(t *testing.T) {
	const size = 32 << 20
	d := open(t, gateway.Options{Limits: gateway.Limits{BodyTime: 2 * time.Second}, Tools: http.NotFoundHandler()},
		func(http.ResponseWriter, *http.Request) {})
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	piece := make([]byte, 1<<20)
	var wg sync.WaitGroup
	var refused atomic.Int32
	for i := range 60 {
		c := dial(t, d)
		path := []string{"/v1/messages", "/mcp"}[i%2]
		wg.Go(func() {
			io.WriteString(c, head(d, path, size))
			go func() {
				for range size/len(piece) - 1 {
					if _, err := c.Write(piece); err != nil {
						return
					}
				}
			}()
			b := make([]byte, 12)
			if _, err := io.ReadFull(c, b); err == nil && string(b[9:]) == "429" {
				refused.Add(1)
			}
		})
	}
	eventually(t, "56 are refused", func() bool { return d.Observed().Refused >= 56 })
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 200<<20 {
		t.Errorf("60 unfinished bodies hold %d MiB", used>>20)
	}
	wg.Wait() // the time of the four is over as well
	if refused.Load() == 0 {
		t.Error("nobody was told why")
	}
	eventually(t, "the room is served again", func() bool { return d.ask(t, "POST", "/v1/messages", hello).status == 200 })
	for _, r := range d.Observed().Refusals {
		if r.Rule != "busy" && r.Rule != "body" {
			t.Errorf("refused for %+v", r)
		}
	}
}

// A body that does not say how long it is takes its room as it comes.
func TestUnsizedBodiesAreBounded(t *testing.T) {
	d := open(t, gateway.Options{MaxRequest: 1 << 20, Limits: gateway.Limits{BytesInFlight: 1 << 19}}, func(http.ResponseWriter, *http.Request) {})
	for size, want := range map[int]int{100 << 10: 200, 1 << 19: 429} {
		body := `{"model":"m","messages":"` + strings.Repeat("x", size) + `"}`
		req := d.request(t, "POST", "/v1/messages", "")
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), -1
		resp, err := d.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", size, resp.StatusCode, want)
		}
	}
	if a := d.ask(t, "POST", "/v1/messages", hello); a.status != 200 {
		t.Errorf("what was taken did not come back: %d %s", a.status, a.body)
	}
}

// However many connections a room opens, a fixed number is held (W13).
func TestConnectionsAreBounded(t *testing.T) {
	const limit, many = 20, 2000
	d := open(t, gateway.Options{Limits: gateway.Limits{Connections: limit}}, func(http.ResponseWriter, *http.Request) {})
	var closed atomic.Int32
	var held sync.Map
	for i := range many {
		c := dial(t, d)
		held.Store(i, c)
		go func() {
			c.Read(make([]byte, 1))
			held.Delete(i)
			c.Close()
			closed.Add(1)
		}()
	}
	eventually(t, "all but those within the limit are closed", func() bool { return closed.Load() == many-limit })
	if n := d.Observed().Refused; n != many-limit {
		t.Errorf("%d are counted as refused", n)
	}
	if _, err := d.client.Do(d.request(t, "POST", "/v1/messages", hello)); err == nil {
		t.Error("there was room for one more")
	}
	held.Range(func(_, c any) bool { c.(net.Conn).Close(); return true })
	eventually(t, "there is room again", func() bool {
		resp, err := d.client.Do(d.request(t, "POST", "/v1/messages", hello))
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
}

// Whoever is slow with a head, with a body, or between two requests is shown
// out.
func TestSlowConnectionsEnd(t *testing.T) {
	short := 100 * time.Millisecond
	d := open(t, gateway.Options{Limits: gateway.Limits{HeaderTime: short, BodyTime: short, IdleTime: short}},
		func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct{ sends, answer string }{
		"nothing":          {"", ""},
		"half a head":      {"POST /v1/messages HTTP/1.1\r\nHost: x\r\n", ""},
		"half a body":      {head(d, "/v1/messages", 100) + "{", "HTTP/1.1 400"},
		"no token":         {"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", "HTTP/1.1 401"},
		"one and no more":  {head(d, "/v1/messages", len(hello)) + hello, "HTTP/1.1 200"},
		"a head too large": {"GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", "HTTP/1.1 431"},
	} {
		conn := dial(t, d)
		if _, err := io.WriteString(conn, c.sends); err != nil {
			t.Fatal(err)
		}
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		got, err := io.ReadAll(conn)
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() {
			t.Errorf("%s: it is still open", name)
		}
		if !strings.HasPrefix(string(got), c.answer) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A long answer is not cut because the time for the question is over.
func TestBodyTimeEndsWithTheBody(t *testing.T) {
	release := make(chan struct{})
	d := open(t, gateway.Options{Limits: gateway.Limits{BodyTime: 50 * time.Millisecond}}, func(w http.ResponseWriter, r *http.Request) {
		play("data: a\n\n")(w, r)
		<-release
		play("data: b\n\n")(w, r)
	})
	resp, err := d.client.Do(d.request(t, "POST", "/v1/messages", hello))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	time.AfterFunc(200*time.Millisecond, func() { close(release) })
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "data: a\n\ndata: b\n\n" {
		t.Errorf("%q, %v", b, err)
	}
}
