package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"conclave/internal/program"
)

// The one program and the one Chromium that the tests share: each takes a second to
// get, and tabs of their own keep the tests apart.
var (
	scratch string
	shared  struct {
		sync.Mutex
		browser *Browser
	}
	theProgram = sync.OnceValues(func() (string, error) { return program.BuildFrom(filepath.Join("..", ".."), scratch) })
)

var servers []*Server // that tests share

func atEnd(s *Server) { servers = append(servers, s) }

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "conclave-page-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	for _, s := range servers {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if shared.browser != nil {
		shared.browser.Close()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// chromium is the browser that all tests share.
func chromium(t testing.TB) *Browser {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.browser == nil {
		b, err := Start(Options{})
		if err != nil {
			t.Fatal(err)
		}
		shared.browser = b
	}
	return shared.browser
}

// open is a tab that shares nothing with those of other tests.
func open(t testing.TB, b *Browser) *Tab {
	t.Helper()
	tab, err := b.Open(true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tab.Close)
	if err := tab.See(Look{Width: 1280, Height: 800}); err != nil {
		t.Fatal(err)
	}
	return tab
}
