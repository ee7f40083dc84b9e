// Package wire is how two processes of one person on one machine talk about a
// workspace: the one that holds a lock of it, and one that came second.
//
// The holder of a lock listens on a socket beside it (Listen); who finds the lock
// held asks there (Dial). The name of the socket is the lock's, so whoever may
// bind it is whoever holds the lock, and a socket that a killed process left
// behind is replaced without a race. The caller of Listen must hold the lock.
//
// # Who is talked to
//
// The same user, and nobody else, root neither: the credentials of the peer, as
// the system tells them, are compared on both sides; a socket, or a directory of
// it, that belongs to somebody else or that others may write to is not opened. A
// key lies in a file of mode 0600 beside the socket and is shown at the beginning: a
// program in a room is of the same user and may be able to connect, but reads no
// file outside. Where the system tells no credentials (Windows) there is no wire:
// errors.ErrUnsupported.
//
// # What is said
//
// First each side says its protocol and its program with version. They must be
// equal, for what follows are the program's own types; what differs is a
// *VersionError on both sides. Then messages: a kind, a number, a body as JSON,
// in frames of at most MaxMessage bytes. What they mean is the caller's affair.
//
// A Conn may be used by one reader and several writers at once. A write that the
// other side does not take within seconds fails, and so does every later one.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// protocol is the version of frames and greeting.
const protocol = 1

// MaxMessage bounds one message.
const MaxMessage = 16 << 20

// How long a greeting, and a write, may take.
const (
	greetWait = 5 * time.Second
	writeWait = 10 * time.Second
)

// ErrNobody: nobody listens at a socket, or nobody any more.
var ErrNobody = errors.New("nobody listens there")

// VersionError is another version of the program at the other end.
type VersionError struct{ Theirs, Ours string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the process that holds it is %s, and this is %s: use the same one, or end the other first",
		e.Theirs, e.Ours)
}

// Refused says why a socket is not used: whose it is, or what it is.
type Refused struct{ path, reason string }

func (e *Refused) Error() string { return e.path + ": " + e.reason }

// Peer is the process at the other end; PID is 0 where the system does not tell.
type Peer struct{ UID, PID int }

// Message is one thing that is said.
type Message struct {
	Kind string          `json:"kind"`
	ID   int             `json:"id,omitempty"`
	Body json.RawMessage `json:"body,omitempty"`
}

// greeting opens a connection, in every version of the protocol.
type greeting struct {
	Protocol int    `json:"protocol"`
	Program  string `json:"program"`
	Key      string `json:"key,omitempty"`
}

// Conn is a connection whose other end is the same person.
type Conn struct {
	conn net.Conn
	peer Peer

	sending sync.Mutex
	broken  error
}

// Peer is the process at the other end.
func (c *Conn) Peer() Peer { return c.peer }

// Close ends the connection. Who reads or writes it gets an error.
func (c *Conn) Close() error { return c.conn.Close() }

// Send says something: v is the body, nil for none.
func (c *Conn) Send(kind string, id int, v any) error {
	m := Message{Kind: kind, ID: id}
	if v != nil {
		body, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("say %s: %w", kind, err)
		}
		m.Body = body
	}
	return c.write(m)
}

func (c *Conn) write(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(data) > MaxMessage {
		return fmt.Errorf("a message has %d bytes, at most %d are sent at once", len(data), MaxMessage)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data)))
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.broken != nil {
		return c.broken
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	if _, err := c.conn.Write(append(frame, data...)); err != nil {
		c.broken = err // a part may be there: nothing can follow it
		return err
	}
	return nil
}

// Receive waits for what the other side says next; io.EOF when it has ended.
func (c *Conn) Receive() (Message, error) {
	var m Message
	err := c.read(&m)
	return m, err
}

func (c *Conn) read(v any) error {
	var size [4]byte
	if _, err := io.ReadFull(c.conn, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > MaxMessage {
		return fmt.Errorf("a message has %d bytes, at most %d are read", n, MaxMessage)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(c.conn, data); err != nil {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(data, v)
}

// greet says who we are and hears who they are. The one who came speaks first.
func (c *Conn) greet(program, key string) error {
	if err := c.conn.SetReadDeadline(time.Now().Add(greetWait)); err != nil {
		return err
	}
	if err := c.write(greeting{protocol, program, key}); err != nil {
		return err
	}
	var theirs greeting
	if err := c.read(&theirs); err != nil {
		return err
	}
	return errors.Join(theirs.check(program), c.conn.SetReadDeadline(time.Time{}))
}

func (g greeting) check(program string) error {
	if g.Protocol == protocol && g.Program == program {
		return nil
	}
	ours := program
	if g.Program == program {
		ours = fmt.Sprintf("%s with protocol %d, not %d", program, protocol, g.Protocol)
	}
	return &VersionError{g.Program, ours}
}
