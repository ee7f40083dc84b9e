package bearer

import (
	"net/http"
	"testing"
)

func TestHas(t *testing.T) {
	for _, c := range []struct {
		token  string
		header http.Header
		want   bool
	}{
		{"t", http.Header{"X-Api-Key": {"t"}}, true},
		{"t", http.Header{"X-Api-Key": {"their own", "t"}}, true},
		{"t", http.Header{"X-Goog-Api-Key": {"t"}}, true},
		{"t", http.Header{"X-Goog-Api-Key": {"tt"}}, false},
		{"t", http.Header{"Authorization": {"bearer  t "}}, true},
		{"t", http.Header{"Authorization": {"Basic t", "Bearer t"}}, true},
		{"t", http.Header{"X-Api-Key": {"their own"}, "Authorization": {"Bearer t"}}, true},
		{"t", http.Header{"Authorization": {"Basic t"}}, false},
		{"t", http.Header{"Authorization": {"t"}}, false},
		{"t", http.Header{"X-Api-Key": {"", "T", "tt"}, "Cookie": {"t"}}, false},
		{"t", nil, false},
		{"", http.Header{"X-Api-Key": {""}, "Authorization": {"Bearer "}}, false},
	} {
		if got := Has(c.header, c.token); got != c.want {
			t.Errorf("%q in %v: %v", c.token, c.header, got)
		}
	}
}
