package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// hostileServer serves a page on another port, as a program that an agent started
// could, and keeps every request that it got.
type hostileServer struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func newHostileServer(t *testing.T) *hostileServer {
	h := &hostileServer{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.seen = append(h.seen, r)
		h.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><title>elsewhere</title><body>`)
	}))
	t.Cleanup(h.Close)
	return h
}

// A page of another port asks, frames, opens, posts and listens while the person's own
// page is open in the same browser: it learns nothing, and nothing is done.
func TestHostileServerOnAnotherPort(t *testing.T) {
	s, mine := inside(t)
	h := newHostileServer(t)
	addressed := strings.NewReplacer("ME", s.Origin, "ASSETS", assets(t, mine))
	for _, origin := range []string{h.URL, strings.Replace(h.URL, "127.0.0.1", "localhost", 1)} {
		tab, err := mine.Beside()
		if err != nil {
			t.Fatal(err)
		}
		defer tab.Close()
		if err := tab.Go(origin + "/"); err != nil {
			t.Fatal(err)
		}
		for name, attempt := range attempts {
			got, err := Eval[string](tab, "("+addressed.Replace(attempt)+")()")
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got != "nothing" {
				t.Errorf("%s from %s got %q", name, origin, got)
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.seen {
		if r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" || strings.HasPrefix(r.Referer(), s.Origin) {
			t.Errorf("the other server was sent %v", r.Header)
		}
	}
	if err := s.Visit(mine, "/now"); err != nil {
		t.Errorf("the person's own page afterwards: %v", err)
	}
}

// assets is the path below which the files of the page lie.
func assets(t *testing.T, tab *Tab) string {
	t.Helper()
	path, err := Eval[string](tab, `new URL('.', document.querySelector('script[type=module]').src).pathname`)
	if err != nil || path == "" {
		t.Fatalf("the page loads no module: %v", err)
	}
	return path
}

// attempts of a page elsewhere, each of which says "nothing" if it came to nothing.
var attempts = map[string]string{
	"fetch": `async () => {
		for (const path of ['/api/hello', '/api/runs', '/', 'ASSETScore.js'])
			for (const credentials of ['include', 'omit'])
				try { const r = await fetch('ME' + path, { credentials }); return path + ' ' + r.status + ' ' + await r.text(); } catch {}
		return 'nothing';
	}`,
	"fetch without an answer": `async () => {
		for (const path of ['/', '/api/hello', 'ASSETScore.js'])
			try { const r = await fetch('ME' + path, { mode: 'no-cors' }); if (r.type !== 'opaque') return r.type; return 'opaque ' + path } catch {}
		return 'nothing';
	}`,
	"a guessed credential": `async () => {
		try { const r = await fetch('ME/api/runs', { headers: { Authorization: 'Bearer x' } }); return 'answered ' + r.status; } catch {}
		return 'nothing';
	}`,
	"a post": `async () => {
		try {
			const r = await fetch('ME/api/jobs', { method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' },
				body: '{"verb":"LogProgress","args":["pwned"]}' });
			if (r.type === 'opaque') return 'opaque';
		} catch {}
		return 'nothing';
	}`,
	"a stream": `() => new Promise(done => {
		const e = new EventSource('ME/api/stream');
		e.onmessage = m => done(m.data);
		e.onerror = () => { e.close(); done('nothing'); };
	})`,
	"a socket": `() => new Promise(done => {
		const w = new WebSocket('ME/api/stream'.replace('http', 'ws'));
		w.onopen = () => done('open');
		w.onerror = () => done('nothing');
	})`,
	"a script": `() => new Promise(done => {
		const s = document.createElement('script');
		s.type = 'module'; s.src = 'MEASSETScore.js';
		s.onload = () => done('loaded'); s.onerror = () => done('nothing');
		document.head.append(s);
	})`,
	"a classic script": `() => new Promise(done => {
		const s = document.createElement('script');
		s.src = 'MEASSETStheme.js';
		s.onload = () => done('loaded'); s.onerror = () => done('nothing');
		document.head.append(s);
	})`,
	"a picture": `() => new Promise(done => {
		const i = new Image(); i.src = 'MEASSETSicon.svg';
		i.onload = () => done('loaded'); i.onerror = () => done('nothing');
	})`,
	"the channel of the tabs": `() => new Promise(done => {
		const c = new BroadcastChannel('conclave');
		c.onmessage = m => done(JSON.stringify(m.data));
		c.postMessage({ ask: 'token' });
		setTimeout(() => done('nothing'), 300);
	})`,
	"the storage": `() => sessionStorage.length + localStorage.length === 0 && document.cookie === '' ? 'nothing' : 'something'`,
	"a frame": `() => new Promise(done => {
		const f = document.createElement('iframe');
		f.src = 'ME/now';
		f.onload = () => { let seen = 'nothing'; try { seen = f.contentDocument ? 'read ' + f.contentDocument.URL : 'nothing' } catch {}
			done(f.contentWindow.length > 0 ? 'frames inside' : seen); };
		document.body.append(f);
	})`,
	"an opened window": `() => new Promise(done => {
		const w = open('ME/now');
		const look = n => {
			if (!w || w.closed) return done('nothing');
			try { if (w.location.href !== 'about:blank') return done('read ' + w.document.title); } catch { return done('nothing'); }
			n ? setTimeout(look, 20, n - 1) : done('nothing');
		};
		look(50);
	})`,
}

// A page of ours in a frame of a stranger is not shown.
func TestFramedPage(t *testing.T) {
	s, _ := inside(t)
	h := newHostileServer(t)
	tab := open(t, chromium(t))
	if err := tab.Go(h.URL + "/"); err != nil {
		t.Fatal(err)
	}
	_, err := Eval[bool](tab, fmt.Sprintf(`new Promise(done => { const f = document.createElement('iframe');
		f.src = %q; f.onload = () => done(true); document.body.append(f); })`, s.Origin+"/now"))
	if err != nil {
		t.Fatal(err)
	}
	faults := strings.Join(tab.Faults(h.URL), "\n")
	if !strings.Contains(faults, "frame-ancestors") && !strings.Contains(faults, "X-Frame-Options") {
		t.Errorf("the browser framed the page: %q", faults)
	}
}

// A name that is made to lead to this machine is not a name of this page.
func TestRebindingHostName(t *testing.T) {
	s, mine := inside(t)
	u, err := url.Parse(s.Origin)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Start(Options{Resolve: "MAP rebind.example 127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tab := open(t, b)
	origin := "http://rebind.example:" + u.Port()
	for _, path := range []string{"/", "/now", assets(t, mine) + "core.js", "/api/hello"} {
		res, err := chromedp.Run(tab.ctx, chromedp.NavigateResponse(origin+path))
		if err != nil {
			t.Fatal(err)
		}
		text, err := Eval[string](tab, `document.body.innerText`)
		if err != nil {
			t.Fatal(err)
		}
		if res.Status < 400 || strings.Contains(text, "import") || len(text) > 300 {
			t.Errorf("%s by another name: %d %q", path, res.Status, text)
		}
	}
	link, err := s.Link()
	if err != nil {
		t.Fatal(err)
	}
	code := link[strings.Index(link, "#enter=")+len("#enter="):]
	status, err := Eval[int](tab, fmt.Sprintf(`fetch('/api/enter', { method: 'POST', headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ code: %q }) }).then(r => r.status)`, code))
	if err != nil || status < 400 {
		t.Errorf("a good code by another name: %d %v", status, err)
	}
	// It was not spent by that.
	mine = open(t, chromium(t))
	if err := mine.Go(link); err != nil {
		t.Fatal(err)
	}
	if err := mine.Wait(`sessionStorage.length > 0`); err != nil {
		t.Error(err)
	}
}

// The credential is in the memory of the tab and nowhere that another port gets it.
func TestCredential(t *testing.T) {
	s, err := house()
	if err != nil {
		t.Fatal(err)
	}
	link, err := s.Link()
	if err != nil {
		t.Fatal(err)
	}
	tab := open(t, chromium(t))
	if err := tab.Go(link); err != nil {
		t.Fatal(err)
	}
	if err := tab.Ready(); err != nil {
		t.Fatal(err)
	}
	cookies, err := chromedp.Call(tab.ctx, network.GetCookies, network.GetCookiesParams{})
	if err != nil || len(cookies.Cookies) > 0 {
		t.Errorf("%d cookies, %v", len(cookies.Cookies), err)
	}
	left, err := Eval[string](tab, `location.hash + ' ' + localStorage.length + JSON.stringify(localStorage)`)
	if err != nil || strings.Contains(left, "enter") || strings.Contains(left, "oken") {
		t.Errorf("after the door: %q %v", left, err)
	}
	for _, asked := range tab.Asked() {
		if strings.Contains(asked, "oken") || strings.Contains(asked, "enter=") && !strings.Contains(asked, "#") {
			t.Errorf("the credential is in an address: %s", asked)
		}
	}
	again := open(t, chromium(t))
	if err := again.Go(link); err != nil {
		t.Fatal(err)
	}
	if err := again.Ready(); err != nil {
		t.Fatal(err)
	}
	inside, err := Eval[int](again, `sessionStorage.length`)
	if err != nil || inside > 0 {
		t.Errorf("a link opened the page twice: %v", err)
	}
}
