package forwarder

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// line is one connection and its bounds.
type line struct {
	most           int64
	idle           time.Duration
	sent, received atomic.Int64
	last           atomic.Int64 // when a byte last passed, in nanoseconds
}

// Why a connection was cut.
const (
	cutBytes = "bytes"
	cutIdle  = "idle"
)

// pass sends the hello and then passes bytes both ways until either side has
// ended and the other has nothing more to say; it returns why it was cut before.
func (l *line) pass(in net.Conn, from io.Reader, out net.Conn, hello []byte) string {
	l.last.Store(time.Now().UnixNano())
	l.sent.Add(int64(len(hello)))
	_ = out.SetWriteDeadline(time.Now().Add(l.idle)) // writing says that it is gone
	if _, err := out.Write(hello); err != nil {
		return ""
	}
	var cuts [2]string
	var wg sync.WaitGroup
	wg.Go(func() { cuts[0] = l.copy(out, from, in, &l.sent) })
	wg.Go(func() { cuts[1] = l.copy(in, out, out, &l.received) })
	wg.Wait()
	if cuts[0] != "" {
		return cuts[0]
	}
	return cuts[1]
}

// copy moves bytes from one side to the other until the one ends, which the
// other is told; what is cut, is cut on both sides.
func (l *line) copy(to net.Conn, from io.Reader, side net.Conn, count *atomic.Int64) string {
	buf := make([]byte, 32<<10)
	for {
		_ = side.SetReadDeadline(time.Now().Add(l.idle)) // reading says that it is gone
		n, err := from.Read(buf)
		if n > 0 {
			l.last.Store(time.Now().UnixNano())
			if count.Add(int64(n)) > l.most {
				return l.cut(to, side, cutBytes)
			}
			_ = to.SetWriteDeadline(time.Now().Add(l.idle))
			if _, err := to.Write(buf[:n]); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return l.cut(to, side, cutIdle)
				}
				return l.cut(to, side, "")
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			if time.Since(time.Unix(0, l.last.Load())) >= l.idle {
				return l.cut(to, side, cutIdle)
			}
		case errors.Is(err, io.EOF):
			half, ok := to.(interface{ CloseWrite() error })
			if !ok || half.CloseWrite() != nil {
				return l.cut(to, side, "")
			}
			return ""
		default:
			return l.cut(to, side, "")
		}
	}
}

func (l *line) cut(a, b net.Conn, why string) string {
	a.Close()
	b.Close()
	return why
}
