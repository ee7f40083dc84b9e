package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What the other tests rely on: whatever a hostile page manages to do is seen.
func TestFaultsAreSeen(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	pages := map[string]struct{ policy, body, want string }{
		"/script":  {"", `<script>canary('script')</script>`, "executed: canary(script)"},
		"/handler": {"", `<img src="data:," onerror="canary('handler')">`, "executed: canary(handler)"},
		"/alert":   {"", `<script>alert('hello')</script>`, "executed: a dialog: hello"},
		"/policy":  {"script-src 'self'", `<script>canary('no')</script>`, "policy: script-src-elem inline"},
		"/request": {"", `<img src="` + elsewhere.URL + `/pixel">`, "request: " + elsewhere.URL + "/pixel"},
		"/error":   {"", `<script>throw new Error('oh')</script>`, "console: "},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := pages[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if p.policy != "" {
			w.Header().Set("Content-Security-Policy", p.policy)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><title>t</title>`, p.body)
	}))
	defer server.Close()
	b := chromium(t)
	for path, p := range pages {
		t.Run(path[1:], func(t *testing.T) {
			tab := open(t, b)
			if err := tab.Go(server.URL + path); err != nil {
				t.Fatal(err)
			}
			faults := strings.Join(tab.Faults(server.URL), "\n")
			if !strings.Contains(faults, p.want) {
				t.Errorf("a page that does %q shows %q", p.body, faults)
			}
			if strings.Contains(faults, "(no)") {
				t.Error("the policy let it run")
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		tab := open(t, b)
		pages["/still"] = struct{ policy, body, want string }{body: "<p>still"}
		if err := tab.Go(server.URL + "/still"); err != nil {
			t.Fatal(err)
		}
		if f := tab.Faults(server.URL); len(f) > 0 {
			t.Errorf("a page that does nothing shows %q", f)
		}
	})
}
