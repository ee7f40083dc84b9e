package browser

import (
	"fmt"
	"net/url"
	"strings"
)

// core is the page's own module, the one that is loaded, as an expression.
const core = `(await import(new URL('core.js', document.querySelector('script[type=module]').src)))`

// API asks the server as the page does, with its credential.
func API[T any](t *Tab, path string) (T, error) {
	return Eval[T](t, fmt.Sprintf("(async () => %s.api(%q))()", core, path))
}

// Run is what the tests need to know of a run.
type Run struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Kind    string `json:"kind"`
	Role    string `json:"role"`
	Entries int    `json:"entries"`
	Source  string `json:"source"`
}

// Runs asks for the runs that fit a query.
func (t *Tab) Runs(query url.Values) ([]Run, error) {
	if query.Get("n") == "" {
		query.Set("n", "1000")
	}
	got, err := API[struct{ Items []Run }](t, "/api/runs?"+query.Encode())
	return got.Items, err
}

// Registered are the paths of the pages, with their parameters as :name, as the page
// has them in its registry.
func (t *Tab) Registered() ([]string, error) {
	return Eval[[]string](t, fmt.Sprintf("(async () => %s.pages.map(p => p.path))()", core))
}

// Fill makes an address of a registered path: each parameter gets its value, and those
// that may be left out are left out if there is none. It fails for a parameter that
// nobody gave a value for.
func Fill(path string, values map[string]string) (string, error) {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		name, isParam := strings.CutPrefix(part, ":")
		if !isParam {
			parts = append(parts, part)
			continue
		}
		bare := strings.TrimRight(name, "?*")
		value, ok := values[bare]
		switch {
		case ok:
			parts = append(parts, url.PathEscape(value))
		case bare == name:
			return "", fmt.Errorf("the page %s has a parameter %s, and no test knows a value for it", path, name)
		}
	}
	return strings.Join(parts, "/"), nil
}

// Visit goes to an address of the page and waits until it is rendered.
func (s *Server) Visit(t *Tab, address string) error {
	if err := t.Go(s.Origin + address); err != nil {
		return err
	}
	return t.Ready()
}
