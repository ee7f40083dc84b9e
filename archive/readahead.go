package archive

import "io"

// readAhead reads r in a goroutine of its own, so that unpacking and reading
// share two processors. Close ends it.
type readAhead struct {
	full, free chan []byte
	stop       chan struct{}
	rest, held []byte
	err        error
}

func newReadAhead(r io.Reader) *readAhead {
	const buffers, size = 4, 512 << 10
	a := &readAhead{full: make(chan []byte, buffers), free: make(chan []byte, buffers), stop: make(chan struct{})}
	for range buffers {
		a.free <- make([]byte, size)
	}
	go a.fill(r)
	return a
}

func (a *readAhead) fill(r io.Reader) {
	defer close(a.full)
	for {
		var b []byte
		select {
		case b = <-a.free:
		case <-a.stop:
			return
		}
		n, err := io.ReadFull(r, b[:cap(b)])
		if n > 0 {
			a.full <- b[:n]
		}
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		if err != nil {
			a.err = err // seen after full is closed
			return
		}
	}
}

func (a *readAhead) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		if a.held != nil {
			a.free <- a.held
		}
		b, ok := <-a.full
		if !ok {
			a.held = nil
			return 0, a.err
		}
		a.held, a.rest = b, b
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close ends the goroutine and waits for it.
func (a *readAhead) Close() error {
	close(a.stop)
	for range a.full {
	}
	return nil
}
