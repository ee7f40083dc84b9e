package browser

import (
	"path/filepath"
	"sync"
	"testing"
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
