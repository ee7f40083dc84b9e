//go:build linux || darwin

package room

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// scene is the terrain of one start and what answers in it.
type scene struct {
	terrain
	closers []io.Closer
	wg      sync.WaitGroup
}

// setScene makes things outside the room that its user can reach as long as
// nothing holds it back.
func setScene(r *Room) (*scene, error) {
	s := &scene{}
	if err := s.set(r); err != nil {
		s.close()
		return nil, fmt.Errorf("set the scene for the probes: %w", err)
	}
	return s, nil
}

func (s *scene) set(r *Room) error {
	dir, err := os.MkdirTemp(r.work.outside(), "")
	if err != nil {
		return err
	}
	s.Dir, s.Token = dir, rand.Text()
	s.closers = append(s.closers, closer(func() error { return os.RemoveAll(dir) }))
	if err := os.WriteFile(s.file(), []byte(s.Token), 0o600); err != nil {
		return err
	}
	s.Socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", s.Socket)
	if err != nil {
		return fmt.Errorf("%w (a TMPDIR with a shorter name may help)", err)
	}
	s.accept(l)
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.TCP = tcp.Addr().String()
	s.accept(tcp)
	if err := s.echo(); err != nil {
		return err
	}
	return s.describe()
}

func (s *scene) accept(l net.Listener) {
	s.closers = append(s.closers, l)
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// A connection alone proves little: a socket can meet itself when
			// it is given the port it asks for.
			_, _ = io.WriteString(c, s.Token)
			c.Close()
		}
	})
}

// udpAnswer comes before what is echoed, for the same reason.
const udpAnswer = "heard "

func (s *scene) echo() error {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.UDP = c.LocalAddr().String()
	s.closers = append(s.closers, c)
	s.wg.Go(func() {
		b := make([]byte, 256)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = c.WriteTo(append([]byte(udpAnswer), b[:n]...), from)
		}
	})
	return nil
}

func (s *scene) close() {
	for _, c := range s.closers {
		c.Close()
	}
	s.wg.Wait()
}

type closer func() error

func (c closer) Close() error { return c() }
