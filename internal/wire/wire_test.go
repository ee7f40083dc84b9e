//go:build linux || darwin

package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const program = "conclave test"

// listen takes one connection after another and greets each.
func listen(t *testing.T, path string, serve func(*Conn, error)) *Listener {
	t.Helper()
	l, err := Listen(path, program)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c, l.Greet(c))
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l
}

func echo(c *Conn, err error) {
	for err == nil {
		var m Message
		if m, err = c.Receive(); err == nil {
			err = c.Send(m.Kind, m.ID, m.Body)
		}
	}
}

func spot(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "table-ash.sock")
}

func TestTalk(t *testing.T) {
	path := spot(t)
	if _, err := Dial(path, program); !errors.Is(err, ErrNobody) {
		t.Fatalf("nobody is there: %v", err)
	}
	l := listen(t, path, echo)
	c, err := Dial(path, program)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Peer() != (Peer{os.Geteuid(), os.Getpid()}) {
		t.Errorf("the peer is %+v", c.Peer())
	}
	long := strings.Repeat("ü", MaxMessage/32)
	if err := c.Send("x", 7, long); err != nil {
		t.Fatal(err)
	}
	m, err := c.Receive()
	if err != nil || m.Kind != "x" || m.ID != 7 || string(m.Body) != `"`+long+`"` {
		t.Fatalf("came back: %s %d, %d bytes, %v", m.Kind, m.ID, len(m.Body), err)
	}
	if err := c.Send("x", 8, strings.Repeat("x", MaxMessage)); err == nil {
		t.Error("more than a message may have was sent")
	}
	for _, f := range []string{path, keyFile(path)} {
		if info, err := os.Lstat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info, err)
		}
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A workspace may lie deeper than the system allows the name of a socket.
func TestLongPath(t *testing.T) {
	dir := t.TempDir()
	for range 30 {
		dir = filepath.Join(dir, "a-directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "table-"+strings.Repeat("s", 60)+".sock")
	listen(t, path, echo)
	c, err := Dial(path, program)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// What a killed process left is replaced; what is not ours is refused, by both.
func TestWhatIsInTheWay(t *testing.T) {
	path := spot(t)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	if err := os.WriteFile(keyFile(path), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(path, program); !errors.Is(err, ErrNobody) {
		t.Errorf("a dead socket: %v", err)
	}
	l, err := Listen(path, program)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for name, put := range map[string]func(string) error{
		"file":      func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"link":      func(p string) error { return os.Symlink("/run/elsewhere.sock", p) },
	} {
		path := spot(t)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		refused := (*Refused)(nil)
		if _, err := Listen(path, program); !errors.As(err, &refused) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s, to listen: %v", name, err)
		}
		if _, err := Dial(path, program); !errors.As(err, &refused) {
			t.Errorf("%s, to dial: %v", name, err)
		}
	}
	open := spot(t)
	if err := os.Chmod(filepath.Dir(open), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(open, program); err == nil || !strings.Contains(err.Error(), "others may write") {
		t.Errorf("a directory of everybody's: %v", err)
	}
}

// Each side compares who the other is: nobody else is answered, root neither.
func TestSomebodyElse(t *testing.T) {
	path := spot(t)
	l, err := Listen(path, program)
	if err != nil {
		t.Fatal(err)
	}
	l.uid++
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	raw, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if told, err := io.ReadAll(raw); len(told) > 0 || err != nil {
		t.Errorf("somebody else is told %q, %v", told, err)
	}
	if refused := (*Refused)(nil); !errors.As(second(dial(path, program, os.Geteuid()+1)), &refused) {
		t.Error("a socket of somebody else was used")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("somebody else was let in: %v", err)
	}
}

func second(_ *Conn, err error) error { return err }

// Who does not know the key is told nothing, whoever runs it.
func TestWithoutTheKey(t *testing.T) {
	path := spot(t)
	greeted := make(chan error, 1)
	listen(t, path, func(_ *Conn, err error) { greeted <- err })
	if err := os.WriteFile(keyFile(path), []byte("a guess\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(path, program); err == nil {
		t.Error("a guess opened it")
	}
	if refused := (*Refused)(nil); !errors.As(<-greeted, &refused) {
		t.Error("the listener took a guess")
	}
}

func TestVersions(t *testing.T) {
	path := spot(t)
	greeted := make(chan error, 1)
	listen(t, path, func(_ *Conn, err error) { greeted <- err })
	version := (*VersionError)(nil)
	if _, err := Dial(path, "conclave 2"); !errors.As(err, &version) || !strings.Contains(err.Error(), "is conclave test, and this is conclave 2") {
		t.Errorf("another version: %v", err)
	}
	if err := <-greeted; !errors.As(err, &version) {
		t.Errorf("the listener: %v", err)
	}
	if err := (greeting{Protocol: 2, Program: program}).check(program); !errors.As(err, &version) {
		t.Errorf("another protocol: %v", err)
	}
}

// A frame that claims too much is not read.
func TestTooLong(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		defer b.Close()
		_, _ = b.Write(binary.BigEndian.AppendUint32(nil, MaxMessage+1))
	}()
	c := &Conn{conn: a}
	if _, err := c.Receive(); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}
