package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/internal/lockfile"
	"conclave/internal/wire"
)

// heldAt is a lock in other hands, and the socket beside it.
func heldAt(t *testing.T) (socket string, held error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := lockfile.TryLock(filepath.Join(dir, "table-rot.lock"), "conclave table play rot")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Unlock() })
	_, held = lockfile.TryLock(filepath.Join(dir, "table-rot.lock"), "another")
	return filepath.Join(dir, "table-rot.sock"), tableError("rot", held)
}

// TestReachAnotherVersion: both are named, and the lock's refusal stands.
func TestReachAnotherVersion(t *testing.T) {
	socket, held := heldAt(t)
	other := &App{Version: "9.9"}
	s := other.listenAt(t.Context(), socket, "", nil)
	defer s.close()
	err := (&App{Version: "1.0"}).reach(t.Context(), socket, verb{method: "X"}, func() error { return held })
	if KindOf(err) != Environment || !strings.Contains(err.Error(), "the table is in use") ||
		!strings.Contains(err.Error(), "is conclave 9.9, and this is conclave 1.0") {
		t.Errorf("%v", err)
	}
}

// TestReachWhatIsInTheWay: a file where the socket belongs is named to the one who
// holds the lock and to the one who comes.
func TestReachWhatIsInTheWay(t *testing.T) {
	socket, held := heldAt(t)
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	told := ""
	a := &App{Show: func(e Event) {
		if w, ok := e.(Warning); ok {
			told = w.Text.String()
		}
	}}
	if s := a.listenAt(t.Context(), socket, "", nil); s != nil || !strings.Contains(told, socket+": not a socket") {
		t.Errorf("it listens, or says %q", told)
	}
	err := a.reach(t.Context(), socket, verb{method: "X"}, func() error { return held })
	if !strings.Contains(err.Error(), socket+": not a socket") {
		t.Errorf("%v", err)
	}
}

// TestReachAfterTheHolder: whoever holds the lock goes while it is asked; then the
// verb is run here.
func TestReachAfterTheHolder(t *testing.T) {
	socket, held := heldAt(t)
	host := &App{Version: "1"}
	over := func(*App, []reflect.Value) error { return errOver }
	s := host.listenAt(t.Context(), socket, "", over)
	defer s.close()
	times := 0
	err := (&App{Version: "1"}).reach(t.Context(), socket, verb{method: "Tables"}, func() error {
		if times++; times == 1 {
			return held
		}
		return nil
	})
	if err != nil || times != 2 {
		t.Errorf("after %d: %v", times, err)
	}
}

// TestVerbsFromElsewhere: only a verb that takes what is held is run, with the
// right arguments; the rest is refused in words.
func TestVerbsFromElsewhere(t *testing.T) {
	socket, _ := heldAt(t)
	host := &App{Version: "1", Getenv: func(string) string { return "" }}
	own := host.newTableScreen(nil, nil)
	h := newTableHub(host, t.TempDir(), "rot", own)
	s := host.listenAt(t.Context(), socket, h.root, h.admit)
	defer s.close()
	for _, c := range []struct {
		call call
		want string
	}{
		{call{Verb: "Nothing"}, `no verb is called "Nothing"`},
		{call{Verb: "AbsPath", Args: []json.RawMessage{[]byte(`"x"`)}}, `no verb is called "AbsPath"`},
		{call{Verb: "Build"}, `no verb is called "Build"`},
		{call{Verb: "SaveTable"}, "SaveTable is called with 0 arguments"},
		{call{Verb: "SaveTable", Args: []json.RawMessage{[]byte(`{"Table":"rot"}`), []byte(`7`)}}, "cannot unmarshal"},
		{call{Verb: "SaveTable", Args: []json.RawMessage{[]byte(`{"Table":"other"}`), []byte(`"a"`)}}, "nothing for the table rot"},
		{call{Verb: "Tables"}, "nothing for the table rot"},
	} {
		conn, err := wire.Dial(socket, host.program())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Send(sayCall, 0, c.call); err != nil {
			t.Fatal(err)
		}
		m, err := conn.Receive()
		var r wireResult
		if err := errors.Join(err, json.Unmarshal(m.Body, &r), conn.Close()); err != nil {
			t.Fatal(err)
		}
		if m.Kind != sayResult || r.Error == nil || r.Error.Kind != Usage || !strings.Contains(r.Error.Words, c.want) {
			t.Errorf("%s: %s %+v", c.call.Verb, m.Kind, r.Error)
		}
	}
}
