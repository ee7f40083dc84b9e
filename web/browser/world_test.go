package browser

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

var repository = filepath.Join("..", "..")

// house is the furnished world that the reading tests share, with its server.
var house = sync.OnceValues(func() (*Server, error) {
	program, err := theProgram()
	if err != nil {
		return nil, err
	}
	w, err := NewWorld(filepath.Join(scratch, "house"))
	if err == nil {
		err = w.Furnish(program, repository)
	}
	if err != nil {
		return nil, err
	}
	s, err := w.Serve(program)
	if err == nil {
		atEnd(s)
	}
	return s, err
})

// serve is a server in a world of its own.
func serve(t testing.TB, w World, args ...string) *Server {
	t.Helper()
	program, err := theProgram()
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Serve(program, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// world is an empty one of a test's own.
func world(t testing.TB) World {
	t.Helper()
	w, err := NewWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// inside opens the furnished house in a tab of a test's own.
func inside(t *testing.T) (*Server, *Tab) {
	t.Helper()
	s, err := house()
	if err != nil {
		t.Fatal(err)
	}
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	return s, tab
}

// runOf is the run whose title has these words; it waits until the archive has it.
func runOf(t testing.TB, tab *Tab, words string) Run {
	t.Helper()
	if err := tab.Wait(fmt.Sprintf(`(async () => (await %s.api('/api/runs?n=1000')).items.some(r => r.title.includes(%q)))()`,
		core, words)); err != nil {
		t.Fatal(err)
	}
	runs, err := tab.Runs(url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if strings.Contains(r.Title, words) {
			return r
		}
	}
	t.Fatalf("none of %d runs is called %q", len(runs), words)
	return Run{}
}

var reload = chromedp.Reload()
