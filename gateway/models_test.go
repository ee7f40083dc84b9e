package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Every kind of upstream is asked for its models in its own way, with its key and
// nothing else of ours.
func TestModels(t *testing.T) {
	const key = "sk-models-test"
	lists := map[Kind]struct{ path, header, body string }{
		Anthropic: {"/v1/models", "X-Api-Key", `{"data":[{"type":"model","id":"claude-b"},{"id":"claude-a"}]}`},
		OpenAI:    {"/v1/models", "Authorization", `{"object":"list","data":[{"id":"gpt-b"},{"id":"gpt-a"}]}`},
		Chat:      {"/v1/models", "Authorization", `{"data":[{"id":"b:7b"},{"id":"a"},{"id":"a"}]}`},
		Gemini:    {"/v1beta/models", "X-Goog-Api-Key", `{"models":[{"name":"models/gemini-b"},{"name":"models/gemini-a"}]}`},
	}
	for _, kind := range Kinds() {
		want, ok := lists[kind]
		if !ok {
			t.Errorf("%s: how are its models listed?", kind)
			continue
		}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != want.path || !strings.HasSuffix(r.Header.Get(want.header), key) {
				t.Errorf("%s: %s %s, %v", kind, r.Method, r.URL.Path, r.Header)
			}
			if strings.Contains(r.URL.RawQuery, key) {
				t.Errorf("%s: the key is in the address: %s", kind, r.URL)
			}
			w.Write([]byte(want.body))
		}))
		names, err := Models(t.Context(), Upstream{Kind: kind, BaseURL: s.URL, Key: key})
		s.Close()
		if err != nil || len(names) != 2 || !slices.IsSorted(names) || strings.Contains(names[0], "/") {
			t.Errorf("%s: %q, %v", kind, names, err)
		}
	}
}

// What is no list of models is none, and says why without the key; nobody is sent
// on to another server with it.
func TestModelsRefused(t *testing.T) {
	const key = "sk-models-test"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("it was sent on")
	}))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"a page":     {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>" + key)) }, ErrNoList},
		"not found":  {http.NotFound, ErrNoList},
		"no key":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, ErrKey},
		"a redirect": {http.RedirectHandler(elsewhere.URL, http.StatusFound).ServeHTTP, ErrNoList},
		"half":       {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"data":[{"id":"a"`)) }, ErrNoList},
	} {
		s := httptest.NewServer(c.answer)
		names, err := Models(t.Context(), Upstream{Kind: OpenAI, BaseURL: s.URL, Key: key})
		s.Close()
		if names != nil || !errors.Is(err, c.want) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %q, %v", name, names, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Models(ctx, Upstream{Kind: OpenAI, BaseURL: elsewhere.URL}); err == nil {
		t.Error("nobody was to be asked")
	}
}
