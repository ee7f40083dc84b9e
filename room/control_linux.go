package room

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// controlSocket is this process's end of a line to a helper. Each packet is one
// report; the kernel says who sent it.
type controlSocket struct {
	conn *net.UnixConn
	stop func() bool
	once sync.Once
	pid  int // of the last sender, as this process sees it
	fd   int // received and not yet taken
}

// newControlSocket returns both ends. Waiting ends with ctx, and at the latest when
// patience does.
func newControlSocket(ctx context.Context) (*controlSocket, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a line: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "line")
	f := os.NewFile(uintptr(fds[0]), "line")
	defer f.Close()
	var c net.Conn
	if err = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err == nil {
		c, err = net.FileConn(f)
	}
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("open a line: %w", err)
	}
	t := &controlSocket{conn: c.(*net.UnixConn), fd: -1}
	_ = t.conn.SetDeadline(time.Now().Add(patience))
	t.stop = context.AfterFunc(ctx, func() { _ = t.conn.SetDeadline(time.Unix(1, 0)) })
	return t, theirs, nil
}

func (t *controlSocket) send(word string) error {
	_, err := t.conn.Write([]byte(word))
	return err
}

// hear returns the next report, io.EOF when the other side is gone.
func (t *controlSocket) hear() (report, error) {
	b, oob := make([]byte, 256<<10), make([]byte, 256)
	n, oobn, _, _, err := t.conn.ReadMsgUnix(b, oob)
	if err != nil {
		return report{}, err
	}
	if err := t.note(oob[:oobn]); err != nil {
		return report{}, err
	}
	var r report
	if err := json.Unmarshal(b[:n], &r); err != nil {
		return report{}, fmt.Errorf("understand a helper: %w", err)
	}
	return r, nil
}

// note keeps what came along with a packet.
func (t *controlSocket) note(oob []byte) error {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return fmt.Errorf("understand a helper: %w", err)
	}
	for i := range msgs {
		if cred, err := unix.ParseUnixCredentials(&msgs[i]); err == nil {
			t.pid = int(cred.Pid)
		}
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			if t.fd >= 0 {
				unix.Close(fd)
				continue
			}
			t.fd = fd
		}
	}
	return nil
}

// takeFD hands a received descriptor over, -1 when there is none.
func (t *controlSocket) takeFD() int {
	fd := t.fd
	t.fd = -1
	return fd
}

func (t *controlSocket) close() {
	t.once.Do(func() {
		t.stop()
		t.conn.Close()
		if t.fd >= 0 {
			unix.Close(t.fd)
		}
	})
}
