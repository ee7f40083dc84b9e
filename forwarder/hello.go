package forwarder

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// encryptedHello is the extension behind which a hello may name another host
// than the one in the clear.
const encryptedHello = 0xfe0d

var errHello = errors.New("the hello was read")

// readHello reads a TLS ClientHello that names host, and returns all the bytes
// that were read. The parser is the standard library's, on a connection that
// answers nothing.
func readHello(from io.Reader, host string) ([]byte, error) {
	c := &listened{from: from}
	var name string
	var hidden bool
	err := tls.Server(c, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, hidden = h.ServerName, slices.Contains(h.Extensions, encryptedHello)
		return nil, errHello
	}}).Handshake()
	switch {
	case !errors.Is(err, errHello):
		return nil, fmt.Errorf("no TLS hello came: %s", strconv.QuoteToASCII(clip(err.Error())))
	case hidden:
		return nil, errors.New("the hello is encrypted: whom it names cannot be seen")
	case name == "":
		return nil, errors.New("the hello names no host")
	case !strings.EqualFold(name, host):
		return nil, fmt.Errorf("the hello names another host: %s", strconv.QuoteToASCII(clip(name)))
	}
	return c.heard.Bytes(), nil
}

// listened is a connection that is only listened to.
type listened struct {
	from  io.Reader
	heard bytes.Buffer
}

func (c *listened) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.heard.Write(b[:n])
	return n, err
}

func (c *listened) Write(b []byte) (int, error)      { return len(b), nil }
func (c *listened) Close() error                     { return nil }
func (c *listened) LocalAddr() net.Addr              { return nil }
func (c *listened) RemoteAddr() net.Addr             { return nil }
func (c *listened) SetDeadline(time.Time) error      { return nil }
func (c *listened) SetReadDeadline(time.Time) error  { return nil }
func (c *listened) SetWriteDeadline(time.Time) error { return nil }
