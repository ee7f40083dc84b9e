package room

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// insidePort is where the gateway is found on a sealed room's own loopback,
// which nobody else uses.
const insidePort = 8377

// gatewayServer is the room's only way out: it hands every connection to the gateway.
// A room on this system's network has one listener for its life; a sealed one
// has one per program, born on the loopback of the program's own network and
// passed out of it as a descriptor, so that no byte is copied on the way.
type gatewayServer struct {
	gateway func(net.Conn)
	port    int

	mu     sync.Mutex
	closed bool
	open   map[io.Closer]struct{}
	wg     sync.WaitGroup
}

// newGatewayServer returns nil when there is no gateway.
func newGatewayServer(gateway func(net.Conn), inside bool) (*gatewayServer, error) {
	if gateway == nil {
		return nil, nil
	}
	d := &gatewayServer{gateway: gateway, port: insidePort, open: map[io.Closer]struct{}{}}
	if inside {
		return d, nil
	}
	l, err := listen()
	if err != nil {
		return nil, err
	}
	d.port = l.Addr().(*net.TCPAddr).Port
	return d, d.serve(l)
}

func (d *gatewayServer) url() string { return fmt.Sprintf("http://127.0.0.1:%d", d.port) }

// serve answers l until it is closed.
func (d *gatewayServer) serve(l net.Listener) error {
	if !d.hold(l) {
		return errors.Join(ErrClosed, l.Close())
	}
	go func() {
		defer d.wg.Done()
		defer d.release(l)
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed, or of no further use: the program sees it
			}
			if !d.hold(c) {
				c.Close()
				return
			}
			go func() {
				defer d.wg.Done()
				defer d.release(c)
				d.gateway(c)
			}()
		}
	}()
	return nil
}

// hold keeps c for close, and counts who works on it.
func (d *gatewayServer) hold(c io.Closer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.open[c] = struct{}{}
	d.wg.Add(1)
	return true
}

func (d *gatewayServer) release(c io.Closer) {
	c.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, c)
}

// close ends all connections and waits for those who serve them.
func (d *gatewayServer) close() error {
	d.mu.Lock()
	d.closed = true
	for c := range d.open {
		c.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
	return nil
}
