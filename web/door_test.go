package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// paths are every route with something in place of what it takes, the stream aside.
func (p *served) paths() (list [][2]string) {
	for _, r := range p.s.routes.list {
		method, path, _ := strings.Cut(r.pattern, " ")
		var parts []string
		for part := range strings.SplitSeq(path, "/") {
			if strings.HasPrefix(part, "{") {
				part = "1"
			}
			parts = append(parts, part)
		}
		list = append(list, [2]string{method, strings.Join(parts, "/")})
	}
	if len(list) < 7 {
		p.t.Fatalf("only %v", list)
	}
	return list
}

// TestEveryRouteIsGuarded: who has no token, or whose request is not the page's own,
// is refused before anything is done, at every path that there is.
func TestEveryRouteIsGuarded(t *testing.T) {
	p := serve(t, Options{})
	port := p.base[strings.LastIndexByte(p.base, ':'):]
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
		open   bool // to who has no token
	}{
		"no token":      {func(r *http.Request) { r.Header.Del("Authorization") }, 401, true},
		"wrong token":   {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+newSecret()) }, 401, true},
		"half a token":  {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+p.token[:13]) }, 401, true},
		"cookie":        {func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Cookie", "token="+p.token) }, 401, true},
		"query":         {func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + p.token }, 401, true},
		"rebinding":     {func(r *http.Request) { r.Host = "evil.example" + port }, 421, false},
		"other port":    {func(r *http.Request) { r.Host = "127.0.0.1:1" }, 421, false},
		"no port":       {func(r *http.Request) { r.Host = "127.0.0.1" }, 421, false},
		"this machine":  {func(r *http.Request) { r.Host = "0.0.0.0" + port }, 421, false},
		"dot":           {func(r *http.Request) { r.Host = "localhost." + port }, 421, false},
		"other origin":  {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403, false},
		"null origin":   {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, false},
		"https origin":  {func(r *http.Request) { r.Header.Set("Origin", "https"+p.base[4:]) }, 403, false},
		"two origins":   {func(r *http.Request) { r.Header["Origin"] = []string{p.base, "http://evil.example"} }, 403, false},
		"empty origin":  {func(r *http.Request) { r.Header["Origin"] = []string{""} }, 403, false},
		"cross site":    {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, false},
		"another port":  {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403, false},
		"address bar":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 403, false},
		"navigation":    {navigated("cross-site", "document"), 403, false},
		"framed":        {navigated("cross-site", "iframe"), 403, false},
		"unknown fetch": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "x") }, 403, false},
	} {
		for _, path := range p.paths() {
			if c.open && path[1] == "/api/enter" {
				continue // it takes codes
			}
			res, body := p.do(p.request(path[0], path[1], map[string]string{"code": p.code}, c.change))
			if res.StatusCode != c.status {
				t.Errorf("%s: %s %s is answered with %s %s", name, path[0], path[1], res.Status, body)
			}
			checkHeaders(t, res)
		}
	}
	if !p.s.door.use(p.code) {
		t.Error("somebody who was refused has used up the code")
	}
	if jobs := p.s.jobs; len(jobs.list) > 0 {
		t.Error("somebody who was refused has started a job")
	}
}

func navigated(site, dest string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", dest)
	}
}

// checkHeaders: what is sent allows nothing that is not ours.
func checkHeaders(t *testing.T, res *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; " +
			"img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; " +
			"require-trusted-types-for 'script'; trusted-types 'none'",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := res.Header.Values(name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s %s has %s %q", res.Request.Method, res.Request.URL.Path, name, got)
		}
	}
	path := res.Request.URL.Path
	if strings.HasPrefix(path, "/api/") && res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s may be kept: %q", path, res.Header.Get("Cache-Control"))
	}
	if len(res.Header.Values("Set-Cookie")) > 0 || res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%s has %v", path, res.Header)
	}
}

// TestMethodsAndBodies: what a path does not take is refused, and said in one form.
func TestMethodsAndBodies(t *testing.T) {
	p := serve(t, Options{})
	taken := map[string][]string{}
	for _, path := range p.paths() {
		taken[path[1]] = append(taken[path[1]], path[0])
	}
	for path, methods := range taken {
		for _, m := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"} {
			if slices.Contains(methods, m) {
				continue
			}
			res, body := p.do(p.request(m, path, nil, nil))
			if res.StatusCode != http.StatusMethodNotAllowed || !strings.Contains(body, `"kind":"usage"`) {
				t.Errorf("%s %s: %s %s", m, path, res.Status, body)
			}
			checkHeaders(t, res)
		}
	}
	for _, path := range p.paths() {
		if path[0] == "GET" {
			continue
		}
		if r := p.s.routes.find(path[0], path[1]); r.most > maxBody {
			continue // it has a bound of its own
		}
		for body, status := range map[string]int{
			`{"code":"` + strings.Repeat("x", maxBody) + `"}`: http.StatusRequestEntityTooLarge,
			`{"code":`:               http.StatusBadRequest,
			`{"what is this":1}`:     http.StatusBadRequest,
			`{} {}`:                  http.StatusBadRequest,
			"\x00\xff":               http.StatusBadRequest,
			strings.Repeat("[", 1e5): http.StatusBadRequest,
		} {
			res, text := p.do(p.request(path[0], path[1], body, nil))
			if res.StatusCode != status && !noBody(path) {
				t.Errorf("%s %s with %.20q…: %s %s", path[0], path[1], body, res.Status, text)
			}
		}
	}
	for _, path := range []string{"/api/", "/api/nothing", "/api/jobs/1/2/3", "/api/../api/nothing"} {
		res, body := p.do(p.request("GET", path, nil, nil))
		if res.StatusCode != http.StatusNotFound || !strings.Contains(body, `"kind":"missing"`) {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
	}
}

// noBody: nothing is read there.
func noBody(path [2]string) bool { return strings.HasSuffix(path[1], "/stop") }

// TestEnter: a code lets in once, also when many try at once, and not for long.
func TestEnter(t *testing.T) {
	p := serve(t, Options{})
	var in struct{ Token string }
	p.token = "" // nobody has one yet
	p.get("POST", "/api/enter", map[string]string{"code": p.code}, 200, &in)
	if p.token = in.Token; len(p.token) < 26 {
		t.Fatalf("the token is %q", p.token)
	}
	p.get("POST", "/api/enter", map[string]string{"code": p.code}, 401, nil)
	p.get("POST", "/api/enter", map[string]string{"code": ""}, 401, nil)
	var hello told
	p.get("GET", "/api/hello", nil, 200, &hello)
	if hello.Kind != "hello" || hello.Workspace != p.root || hello.ReadOnly {
		t.Errorf("hello: %+v", hello)
	}

	link, err := p.s.Link()
	if err != nil || !strings.HasPrefix(link, p.base+"/#enter=") {
		t.Fatalf("a second link: %s, %v", link, err)
	}
	code := link[strings.IndexByte(link, '=')+1:]
	results := make(chan bool)
	for range 50 {
		go func() { results <- p.s.door.use(code) }()
	}
	n := 0
	for range 50 {
		if <-results {
			n++
		}
	}
	if n != 1 {
		t.Errorf("a code let in %d times", n)
	}
	if len(code) < 26 {
		t.Errorf("a code of %d letters has less than 128 bits", len(code))
	}
}

func TestCodesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(nil, nil)
		old := d.newCode()
		time.Sleep(codeLife - time.Second)
		young := d.newCode()
		time.Sleep(2 * time.Second)
		if d.use(old) || !d.use(young) || len(d.codes) > 0 {
			t.Errorf("after ten minutes: %v are left", d.codes)
		}
		first := d.newCode()
		for range maxCodes {
			time.Sleep(time.Second)
			d.newCode()
		}
		if len(d.codes) != maxCodes || d.use(first) {
			t.Errorf("%d codes are kept, the first among them", len(d.codes))
		}
	})
}

// TestGuessing: who guesses is slowed down, and keeps nobody out who knows.
func TestGuessing(t *testing.T) {
	p := serve(t, Options{})
	conn, err := net.Dial("tcp", p.base[len("http://"):])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	send := func(r *http.Request) int {
		if err := r.Write(conn); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(in, r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		return res.StatusCode
	}
	guess := func(code string) int {
		return send(p.request("POST", "/api/enter", map[string]string{"code": code}, nil))
	}
	slowed := 0
	for range 40 {
		if guess("x") == http.StatusTooManyRequests {
			slowed++
		}
	}
	if slowed < 10 {
		t.Errorf("of 40 guesses %d were refused for being many", slowed)
	}
	if got := guess(p.code); got != http.StatusOK {
		t.Errorf("who knows is answered with %d", got)
	}
	// Tokens are guessed on a connection that is closed then.
	if got := send(p.request("GET", "/api/hello", nil, func(r *http.Request) { r.Header.Del("Authorization") })); got != 429 {
		t.Errorf("a guess of a token after many: %d", got)
	}
	if _, err := in.ReadByte(); err == nil {
		t.Error("the connection is still open")
	}
}

// TestActingIsBounded: verbs are not called faster than a person can.
func TestActingIsBounded(t *testing.T) {
	p := serve(t, Options{})
	c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	refused := 0
	for range 80 {
		res, err := c.Do(p.request("POST", "/api/jobs/none/stop", nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode == http.StatusTooManyRequests {
			refused++
			if res.Header.Get("Retry-After") == "" {
				t.Error("nobody is told when")
			}
		}
	}
	if refused == 0 {
		t.Error("80 acts at once were not too many")
	}
}

// TestReadOnly: the server refuses whatever acts, whichever path, and shows the rest.
func TestReadOnly(t *testing.T) {
	p := serve(t, Options{ReadOnly: true})
	acts := 0
	for _, path := range p.paths() {
		r := p.s.routes.find(path[0], path[1])
		if path[0] != "GET" && !r.acts && path[1] != "/api/enter" && path[1] != "/api/sql" {
			t.Errorf("%s %s is said not to act", path[0], path[1])
		}
		if !r.acts {
			continue
		}
		acts++
		res, body := p.do(p.request(path[0], path[1], map[string]any{"verb": "Council", "args": []any{map[string]any{}}}, nil))
		if res.StatusCode != http.StatusForbidden || !strings.Contains(body, "--read-only") {
			t.Errorf("%s %s: %s %s", path[0], path[1], res.Status, body)
		}
	}
	if acts < 3 {
		t.Errorf("only %d paths act", acts)
	}
	var hello told
	p.get("GET", "/api/hello", nil, 200, &hello)
	if !hello.ReadOnly {
		t.Error("the page is not told")
	}
	if _, body := p.do(p.request("GET", "/", nil, nil)); !strings.Contains(body, `data-read-only="true"`) {
		t.Errorf("the shell does not say it: %s", body)
	}
}

// TestHostileServer: a server on another port of this machine, to which a browser
// sends whatever it would, can do nothing here with what it gets.
func TestHostileServer(t *testing.T) {
	p := serve(t, Options{})
	var heard []http.Header
	hostile := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		heard = append(heard, r.Header.Clone())
	}))
	defer hostile.Close()
	// What the page's browser has stored for our origin by cookies goes to every port.
	jar := &http.Client{Jar: newJar(t)}
	res, err := jar.Get(p.base + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	at, _ := url.Parse(hostile.URL)
	if got := jar.Jar.Cookies(at); len(got) > 0 {
		t.Errorf("a browser would send %v to %s", got, at)
	}
	if res, err = jar.Get(hostile.URL); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	for _, h := range heard {
		for _, path := range p.paths() {
			if path[1] == "/api/enter" {
				continue
			}
			got, body := p.do(p.request(path[0], path[1], nil, func(r *http.Request) { r.Header = h.Clone() }))
			if got.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s %s replayed: %s %s", path[0], path[1], got.Status, body)
			}
		}
	}
	// Its page asks for ours, by every way that a page has.
	for _, change := range []func(*http.Request){
		func(r *http.Request) {
			r.Header.Set("Origin", hostile.URL)
			r.Header.Set("Sec-Fetch-Site", "same-site")
		},
		func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "same-site")
			r.Header.Set("Sec-Fetch-Dest", "script")
		},
		navigated("same-site", "iframe"), navigated("same-site", "frame"), navigated("same-site", "object"),
		func(r *http.Request) { r.Host = at.Host },
	} {
		for _, path := range []string{"/", "/page/core.js", "/api/hello"} {
			got, body := p.do(p.request("GET", path, nil, change))
			if got.StatusCode != 403 && got.StatusCode != 421 {
				t.Errorf("%s for another port's page: %s %s", path, got.Status, body)
			}
		}
	}
}

// TestShell: every path of the page is the shell; files have a type and a tag.
func TestShell(t *testing.T) {
	p := serve(t, Options{})
	for _, path := range []string{"/", "/now", "/run/x/12", "/table/ash?as=bram", "/etc/passwd", "/page.html"} {
		res, body := p.do(p.request("GET", path, nil, navigated("cross-site", "document")))
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != types[".html"] ||
			!strings.Contains(body, `data-version="test"`) {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
		checkHeaders(t, res)
	}
	if len(p.s.door.pages.(*assets).files) < 3 {
		t.Error("there are no files")
	}
	for name, f := range p.s.door.pages.(*assets).files {
		res, body := p.do(p.request("GET", "/page/"+name, nil, nil))
		tag := res.Header.Get("Etag")
		if res.StatusCode != 200 || body != string(f.data) || res.Header.Get("Content-Type") != f.kind || len(tag) < 10 {
			t.Errorf("%s: %s %v", name, res.Status, res.Header)
		}
		checkHeaders(t, res)
		res, body = p.do(p.request("GET", "/page/"+name, nil, func(r *http.Request) { r.Header.Set("If-None-Match", `"x", W/`+tag) }))
		if res.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s again: %s", name, res.Status)
		}
		checkHeaders(t, res)
	}
	for _, path := range []string{"/page/", "/page/index.html", "/page/..%2fserver.go", "/page/nothing.js", "/favicon.ico"} {
		if res, body := p.do(p.request("GET", path, nil, nil)); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s %.80s", path, res.Status, body)
		}
	}
	if res, _ := p.do(p.request("POST", "/", nil, nil)); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /: %s", res.Status)
	}
}

// TestListenRules: others reach the page only with TLS, by a name, and it is said.
func TestListenRules(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Addr: "0.0.0.0:0"}, "only this machine"},
		{Options{Addr: "192.0.2.1:80"}, "only this machine"},
		{Options{Addr: "nonsense"}, "say HOST:PORT"},
		{Options{Listen: "127.0.0.1:0"}, "--host"},
		{Options{Listen: "nonsense"}, "--listen"},
		{Options{Listen: "127.0.0.1:0", Hosts: []string{"a.example"}}, "--behind-proxy"},
		{Options{Listen: "127.0.0.1:0", Hosts: []string{"a.example"}, Cert: "c"}, "belong together"},
		{Options{Listen: "127.0.0.1:0", Hosts: []string{"a.example"}, Cert: "c", Key: "k", Proxy: true}, "--behind-proxy"},
		{Options{Listen: "127.0.0.1:0", Hosts: []string{"a.example"}, Cert: "c", Key: "k"}, "no such file"},
	} {
		s, err := New(newApp(t), c.o)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Serve(t.Context(), "", func(string) { t.Errorf("%+v is served", c.o) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestBehindProxy(t *testing.T) {
	p := serve(t, Options{Listen: "127.0.0.1:0", Hosts: []string{"page.example", "page.example:8443"}, Proxy: true})
	if p.base != "https://page.example" {
		t.Errorf("the link leads to %s", p.base)
	}
	if said := strings.Join(p.s.Opens(), "\n"); !strings.Contains(said, "page.example:8443") || !strings.Contains(said, "spend") {
		t.Errorf("it says: %s", said)
	}
	ask := func(host, origin string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/api/hello", nil)
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+p.token)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		p.s.door.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"page.example", "", 200}, {"page.example", "https://page.example", 200},
		{"page.example:8443", "https://page.example:8443", 200}, {"page.example", "http://page.example", 403},
		{"127.0.0.1", "", 421}, {"localhost", "", 421}, {"page.example:80", "", 421},
	} {
		if got := ask(c.host, c.origin); got != c.want {
			t.Errorf("%s from %q: %d", c.host, c.origin, got)
		}
	}
}

func TestBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(3, 2)
		var got string
		for _, wait := range []time.Duration{0, 0, 0, 0, time.Second / 2, 0, time.Hour, 0, 0, 0} {
			time.Sleep(wait)
			got += fmt.Sprint(b.take())[:1]
		}
		if got != "tttftftttf" {
			t.Errorf("%s", got)
		}
	})
}
