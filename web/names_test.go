package web

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var parameter = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// TestNamesAreNoFiles: what stands in an address is the name of a run, a table, a
// turn. A path leads nowhere, and does not even tell whether there is a file.
func TestNamesAreNoFiles(t *testing.T) {
	p := serve(t, Options{})
	there := filepath.Join(t.TempDir(), "there.record")
	if err := os.WriteFile(there, []byte("CONCREC"), 0o600); err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(p.root, there)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, r := range p.s.routes.list {
		method, path, _ := strings.Cut(r.pattern, " ")
		if method != http.MethodGet || !strings.Contains(path, "{") {
			continue
		}
		for _, name := range []string{there, up, "./" + up} {
			answer := func(name string) (int, string) {
				address := parameter.ReplaceAllString(path, url.PathEscape(name))
				res, body := p.do(p.request(http.MethodGet, address, nil, func(*http.Request) {}))
				return res.StatusCode, strings.ReplaceAll(string(body), filepath.Base(name), "NAME")
			}
			was, words := answer(name)
			none, other := answer(strings.Replace(name, "there.record", "nowhere.record", 1))
			if was == http.StatusOK || was != none || words != other {
				t.Errorf("%s with %s: %d %s\nand where there is no file: %d %s", path, name, was, words, none, other)
			}
			tried++
		}
	}
	if tried < 15 {
		t.Errorf("only %d addresses were tried", tried)
	}
}

// TestWordsAreNoFiles: what is said to an agent on the page is said as it is.
func TestWordsAreNoFiles(t *testing.T) {
	p := serve(t, Options{})
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("the heron sleeps at four"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := p.listen("")
	p.start("Council", map[string]any{"message": "@" + secret, "once": true})
	if e := l.until("done"); e.Error != nil {
		t.Fatalf("%+v", e.Error)
	}
	said := ""
	err := filepath.WalkDir(p.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			said += string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said, "heron") || !strings.Contains(said, "@"+secret) {
		t.Error("of a message that begins like the name of a file something else was kept")
	}
	for name, c := range map[string]struct{ verb, args, want string }{
		"answers from a file":        {"Council", `{"answers":"` + secret + `"}`, "command line"},
		"a receipt":                  {"Gate", `{"again":"` + secret + `"}`, "command line"},
		"criteria from elsewhere":    {"Gate", `{"criteria":"` + secret + `","work":["README.md"]}`, "not in the workspace"},
		"a command in the criteria":  {"Gate", "{\"criteria\":\"1. It runs (check: `touch x`)\\n2. It is there\",\"work\":[\"README.md\"]}", "runs a command"},
		"somebody else's trust base": {"Gate", `{"criteria":"It runs well.","base":"HEAD"}`, "command line"},
	} {
		if err := os.WriteFile(filepath.Join(p.root, "README.md"), []byte("# A pier\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := p.refusal(l, c.verb, c.args); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// refusal is why a verb is not done.
func (p *served) refusal(l *listener, verb, arg string) string {
	p.t.Helper()
	body := `{"verb":"` + verb + `","args":[` + arg + `]}`
	res, answer := p.do(p.request(http.MethodPost, "/api/jobs", body, func(*http.Request) {}))
	if res.StatusCode != http.StatusAccepted {
		return string(answer)
	}
	if e := l.until("done"); e.Error != nil {
		return e.Error.Text
	}
	return "it was done"
}

// TestPortOfItsOwn: what listened on a port before has left nothing that could be
// found there, as the page comes to another one each time.
func TestPortOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		s, err := New(newApp(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen[l.Addr().String()] = true
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("three times it listened at %v", seen)
	}
}
