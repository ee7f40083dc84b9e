package web

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app"
)

// serveRun serves a run that is larger than what a connection holds, and waits until
// it is there.
func serveRun(t *testing.T) (p *served, run string) {
	t.Helper()
	run = sessionName(0)
	p = serveWith(t, Options{}, func(s *Server) {
		s.patience = 10 * time.Minute // so that nobody is given up while a busy machine gets that far
		dir := filepath.Join(s.app.Getenv("HOME"), ".claude", "projects", "-p")
		var text strings.Builder
		for n := range 2000 {
			fmt.Fprintf(&text, `{"type":"user","uuid":"%d","sessionId":%q,"cwd":"/p","timestamp":"2026-01-01T00:00:00Z",`+
				`"message":{"role":"user","content":"needle %s"}}`+"\n", n, run, strings.Repeat("word ", 2000))
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, run+".jsonl"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	l := p.listen("")
	for {
		var list struct{ Items []app.ListedRun }
		if p.get("GET", "/api/runs", nil, 200, &list); len(list.Items) == 1 && list.Items[0].Entries == 2000 {
			l.res.Body.Close()
			return p, run
		}
		l.until("run") // what came before it was listened to is in the list
	}
}

// unread asks for an export and takes no more than its head.
func (p *served) unread(run string) (head string) {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if err := p.request("GET", "/api/run/"+run+"/export?format=jsonl", nil, nil).Write(conn); err != nil {
		p.t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	first := make([]byte, 15)
	if _, err := conn.Read(first); err != nil {
		p.t.Fatal(err)
	}
	return string(first)
}

// TestUnreadExports: those who ask for exports and read nothing of them keep nobody
// from reading and searching, and are bounded in number.
func TestUnreadExports(t *testing.T) {
	p, run := serveRun(t)
	for n := range maxExports {
		if head := p.unread(run); !strings.HasPrefix(head, "HTTP/1.1 200") {
			t.Fatalf("export %d: %q", n, head)
		}
	}
	for _, path := range []string{"/api/run/" + run + "/entries?from=1500&n=50", "/api/search?q=needle"} {
		began := time.Now()
		p.get("GET", path, nil, 200, nil)
		t.Logf("%s took %v", path, time.Since(began))
	}
	res, text := p.do(p.request("GET", "/api/run/"+run+"/export?format=jsonl", nil, nil))
	if res.StatusCode != http.StatusTooManyRequests || !strings.Contains(text, "exported") {
		t.Errorf("one too many: %s %.100s", res.Status, text)
	}
}
