package means

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"conclave/config"
)

func environ(set map[string]string) func(string) string {
	return func(name string) string { return set[name] }
}

// Whatever is proposed is a configuration that can be read, and that asks whom it
// says: every provider that is known, with its program and without.
func TestLines(t *testing.T) {
	set := map[string]string{}
	for _, p := range providers {
		if p.KeyEnv == "" || p.BaseURL == "" || p.Kind == "" {
			t.Fatalf("%s: %+v", p.name, p.Provider)
		}
		set[p.KeyEnv] = "sk-never-shown"
	}
	all := Keys(environ(set), func(string) bool { return true })
	if len(all) != len(providers)+2 {
		t.Errorf("%d means of %d providers and two programs", len(all), len(providers))
	}
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.Name] {
			t.Errorf("two means are called %s", m.Name)
		}
		seen[m.Name] = true
		text := strings.Join(m.Configure("some/model:7b"), "\n") + "\n"
		c, err := config.Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v\n%s", m.Name, err, text)
			continue
		}
		c = config.Merge(config.Config{}, c)
		a := c.For("cat")
		p, err := c.ProviderOf(a)
		if err != nil || a.Agent != m.Agent || a.Model != "some/model:7b" || p != m.Provider {
			t.Errorf("%s: %+v, %+v, %v", m.Name, a, p, err)
		}
		if strings.Contains(text, "never-shown") || m.Upstream(environ(set)).Key != "sk-never-shown" {
			t.Errorf("%s: the key: %s", m.Name, text)
		}
	}
}

// A program is proposed where it is found, a key where it is set, and nothing
// else.
func TestKeys(t *testing.T) {
	names := func(list []Means) (out []string) {
		for _, m := range list {
			out = append(out, m.Name)
		}
		return out
	}
	set := environ(map[string]string{"OPENAI_API_KEY": "x", "GROQ_API_KEY": "y"})
	for _, c := range []struct {
		has  string
		want []string
	}{
		{"codex", []string{"codex", "openai", "groq"}},
		{"claude", []string{"openai", "groq"}},
	} {
		if got := names(Keys(set, func(p string) bool { return p == c.has })); !slices.Equal(got, c.want) {
			t.Errorf("with %s: %v", c.has, got)
		}
	}
	if got := Keys(environ(nil), func(string) bool { return true }); len(got) != 0 {
		t.Errorf("without a key: %v", names(got))
	}
	on, off := Variables(set)
	if !slices.Equal(on, []string{"OPENAI_API_KEY", "GROQ_API_KEY"}) || len(off) != len(providers)-2 {
		t.Errorf("%v, %v", on, off)
	}
}

// Servers of this machine that list models are found, with what they have; others
// that listen at the same port are not taken for one.
func TestHere(t *testing.T) {
	serve := func(body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Errorf("%s was shown a key", r.Host)
			}
			if r.URL.Path != "/v1/models" {
				http.NotFound(w, r)
				return
			}
			w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	before := servers
	t.Cleanup(func() { servers = before })
	servers = []server{
		{"ollama", "Ollama", "127.0.0.1:1"},
		{"one", "One", serve(`{"object":"list","data":[{"id":"b"},{"id":"a"}]}`)},
		{"page", "A page", serve(`<html><title>My project</title></html>`)},
		{"empty", "Nothing", serve(`{"data":[]}`)},
		{"gone", "Gone", "127.0.0.1:1"},
	}
	moved := serve(`{"data":[{"id":"llama3.2:latest"}]}`)
	got := Here(t.Context(), environ(map[string]string{"OLLAMA_HOST": moved, "OPENAI_API_KEY": "x"}))
	if len(got) != 2 || got[0].Name != "ollama" || got[1].Name != "one" {
		t.Fatalf("%+v", got)
	}
	if !slices.Equal(got[1].Models, []string{"a", "b"}) || !got[1].Local || !strings.Contains(got[0].What, moved) {
		t.Errorf("%+v", got)
	}
}

// Only an address of this machine is asked, whatever the variable says.
func TestOllamaAddress(t *testing.T) {
	for host, want := range map[string]string{
		"": "", "127.0.0.1:4000": "127.0.0.1:4000", "localhost": "localhost:11434", "0.0.0.0": "127.0.0.1:11434",
		"http://[::1]:9": "[::1]:9", "10.0.0.7:11434": "", "models.example.org": "", "https://localhost": "", "::bad": "",
	} {
		if got := ollamaAddress(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}
