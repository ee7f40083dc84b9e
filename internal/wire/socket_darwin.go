package wire

import (
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// place is a name that is short enough, by a link of our own where the socket's
// is not.
type place struct{ name, link string }

func shorten(dir, base string) (*place, error) {
	name := filepath.Join(dir, base)
	if len(name) <= mostPath {
		return &place{name: name}, nil
	}
	link, err := os.MkdirTemp("", "c") // of mode 0700
	if err != nil {
		return nil, err
	}
	p := &place{filepath.Join(link, "d", base), link}
	if err := os.Symlink(dir, filepath.Join(link, "d")); err != nil {
		p.close()
		return nil, err
	}
	if len(p.name) > mostPath {
		p.close()
		return nil, &Refused{p.name, "too long for a socket; set TMPDIR to a shorter name"}
	}
	return p, nil
}

func (p *place) close() {
	if p.link != "" {
		os.RemoveAll(p.link)
	}
}

func peerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Xucred
	var failed error
	pid := 0
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		pid, _ = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID) // for people only
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: int(cred.Uid), PID: pid}, nil
}
