package wire

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// place is a directory that is held open, and a name in it.
type place struct {
	name string
	dir  *os.File
}

// shorten names a socket through the open directory: the system allows a socket
// 108 bytes of name, and a workspace may lie deeper. Where /proc is not there
// the name itself must do.
func shorten(dir, base string) (*place, error) {
	f, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	held := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	name := filepath.Join(held, base)
	if _, err := os.Stat(held); err != nil {
		if name = filepath.Join(dir, base); len(name) > mostPath {
			f.Close()
			return nil, &Refused{name, "too long for a socket on a system without /proc"}
		}
	}
	return &place{name, f}, nil
}

func (p *place) close() { p.dir.Close() }

func peerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}
