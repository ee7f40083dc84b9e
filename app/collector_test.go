package app

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCollector: each line is a request of its own, with the headers that the
// person set, and where it goes is where they said.
func TestCollector(t *testing.T) {
	t.Parallel()
	var got []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("it went elsewhere")
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Content-Type"),
			r.Header.Get("Authorization"), string(body)}, " "))
		switch string(body) {
		case "no":
			http.Error(w, "not today", http.StatusTooManyRequests)
		case "away":
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	for _, address := range []string{server.URL, server.URL + "/v1/traces"} {
		got = nil
		c, err := newCollector(t.Context(), address, "authorization=Basic%20abc, x=y")
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []string{`{"a"`, ":1}\n{}", "\n"} {
			if _, err := io.WriteString(c, piece); err != nil {
				t.Fatal(err)
			}
		}
		const head = "POST /v1/traces application/json Basic abc "
		if strings.Join(got, "|") != head+`{"a":1}|`+head+"{}" {
			t.Errorf("%s: %q", address, got)
		}
		for _, bad := range []string{"no\n", "away\n"} {
			c, err := newCollector(t.Context(), address, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(c, bad); err == nil || !errors.As(err, new(*Error)) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	for _, address := range []string{"", "127.0.0.1:4318", "ftp://x", "file:///etc/passwd"} {
		if _, err := newCollector(t.Context(), address, ""); err == nil {
			t.Errorf("%q is no address of a collector", address)
		}
	}
}
