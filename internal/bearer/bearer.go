// Package bearer decides whether a request bears a token: in X-Api-Key or
// X-Goog-Api-Key, or in Authorization as a bearer's. Tokens are compared in constant time, by digests,
// which have one length whatever was sent. The empty token is borne by nobody.
package bearer

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// Has says whether a header has the token. Any one value that is right will do:
// some programs send a second one of their own.
func Has(h http.Header, token string) bool {
	values := slices.Concat(h.Values("X-Api-Key"), h.Values("X-Goog-Api-Key"))
	for _, v := range h.Values("Authorization") {
		if scheme, v, _ := strings.Cut(v, " "); strings.EqualFold(scheme, "bearer") {
			values = append(values, strings.TrimSpace(v))
		}
	}
	ok := false
	for _, v := range values {
		ok = Same(v, token) || ok
	}
	return ok
}

// Same says whether two tokens are one.
func Same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1 && a != ""
}
