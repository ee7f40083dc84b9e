//go:build linux || darwin

package wire

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"conclave/internal/atomicfile"
	"conclave/internal/bearer"
	"conclave/workspace"
)

// Listener is a socket of ours.
type Listener struct {
	path    string
	program string
	key     string
	uid     int // whom this process acts for
	place   *place
	socket  *net.UnixListener
	close   sync.Once
}

// Listen binds the socket at path, which ends in ".sock". The caller holds the
// lock that it stands beside, and so what another process left there is dead.
func Listen(path, program string) (*Listener, error) {
	uid := os.Geteuid()
	at, err := openPlace(path, uid)
	if err != nil {
		return nil, err
	}
	l := &Listener{path: path, program: program, key: rand.Text(), uid: uid, place: at}
	if err := l.listen(); err != nil {
		at.close()
		return nil, err
	}
	return l, nil
}

func (l *Listener) listen() error {
	info, err := os.Lstat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := checkSocket(l.path, info, l.uid); err != nil {
			return err
		}
		if err := os.Remove(l.path); err != nil {
			return err
		}
	}
	if err := atomicfile.Replace(keyFile(l.path), []byte(l.key+"\n"), 0o600); err != nil {
		return err
	}
	l.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: l.place.name, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen at %s: %w", l.path, err)
	}
	l.socket.SetUnlinkOnClose(false) // by a name that may not be there any more
	return os.Chmod(l.path, 0o600)
}

// Accept waits for the next of the same person, whoever else knocks. It returns
// net.ErrClosed once the listener is closed. The greeting is still to be read: Greet.
func (l *Listener) Accept() (*Conn, error) {
	for {
		conn, err := l.socket.AcceptUnix()
		if err != nil {
			return nil, err
		}
		peer, err := peerOf(conn)
		if err == nil && peer.UID == l.uid {
			return &Conn{conn: conn, peer: peer}, nil
		}
		conn.Close()
	}
}

// Greet hears whether who came knows the key and is of the same version. If not
// they are told what we are, and no more is said.
func (l *Listener) Greet(c *Conn) error {
	if err := c.conn.SetReadDeadline(time.Now().Add(greetWait)); err != nil {
		return err
	}
	var theirs greeting
	if err := c.read(&theirs); err != nil {
		return err
	}
	if !bearer.Same(theirs.Key, l.key) {
		return &Refused{l.path, "somebody without the key"}
	}
	if err := c.write(greeting{Protocol: protocol, Program: l.program}); err != nil {
		return err
	}
	return errors.Join(theirs.check(l.program), c.conn.SetReadDeadline(time.Time{}))
}

// Close removes the socket. Connections stay.
func (l *Listener) Close() (err error) {
	l.close.Do(func() {
		err = errors.Join(l.socket.Close(), os.Remove(l.path), os.Remove(keyFile(l.path)))
		l.place.close()
	})
	return err
}

// Dial reaches whoever listens at path. It is ErrNobody when nobody does.
func Dial(path, program string) (*Conn, error) { return dial(path, program, os.Geteuid()) }

func dial(path, program string, uid int) (*Conn, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNobody
	}
	if err != nil {
		return nil, err
	}
	if err := checkSocket(path, info, uid); err != nil {
		return nil, err
	}
	key, err := workspace.ReadOwn(keyFile(path), 1<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNobody
	}
	if err != nil {
		return nil, err
	}
	at, err := openPlace(path, uid)
	if err != nil {
		return nil, err
	}
	defer at.close()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: at.name, Net: "unix"})
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return nil, ErrNobody
	}
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", path, err)
	}
	peer, err := peerOf(conn)
	if err == nil && peer.UID != uid {
		err = &Refused{path, fmt.Sprintf("somebody else listens there (uid %d)", peer.UID)}
	}
	c := &Conn{conn: conn, peer: peer}
	if err == nil {
		err = c.greet(program, strings.TrimSpace(string(key)))
		if version := (*VersionError)(nil); err != nil && !errors.As(err, &version) {
			err = fmt.Errorf("%w: %w", ErrNobody, err) // it has just gone, or does not know us
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func keyFile(path string) string { return strings.TrimSuffix(path, ".sock") + ".key" }

// checkSocket refuses what is not a socket of ours, and one in a directory where
// somebody else could have put it.
func checkSocket(path string, info fs.FileInfo, uid int) error {
	if info.Mode().Type() != fs.ModeSocket {
		return &Refused{path, "not a socket, where one of ours belongs; remove it"}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid {
		return &Refused{path, "a socket of somebody else; remove it"}
	}
	return nil
}

// checkDir refuses a directory where somebody else could put a socket.
func checkDir(dir string, uid int) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return &Refused{dir, "not a directory"}
	case !ok || int(st.Uid) != uid:
		return &Refused{dir, "belongs to somebody else; nobody is talked to there"}
	case info.Mode().Perm()&0o022 != 0:
		return &Refused{dir, "others may write there, so nobody is talked to; chmod 700 it"}
	}
	return nil
}

// mostPath is the longest name that every system binds.
const mostPath = 100

// openPlace checks the directory of a socket and gives a name of the socket
// that is short enough for the system.
func openPlace(path string, uid int) (*place, error) {
	dir := filepath.Dir(path)
	if err := checkDir(dir, uid); err != nil {
		return nil, err
	}
	return shorten(dir, filepath.Base(path))
}
