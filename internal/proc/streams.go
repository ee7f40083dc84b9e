package proc

import (
	"errors"
	"io"
	"os"
	"sync"
)

// stdin can be closed by the ladder while another goroutine writes.
type stdin struct {
	f    *os.File
	once sync.Once
}

func (s *stdin) Write(b []byte) (int, error) { return s.f.Write(b) }

func (s *stdin) Close() error {
	var err error
	s.once.Do(func() { err = s.f.Close() })
	return err
}

// output gives its descriptor back at the end of the stream.
type output struct{ f *os.File }

func (o *output) Read(b []byte) (int, error) {
	n, err := o.f.Read(b)
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	if err != nil {
		o.close()
	}
	return n, err
}

func (o *output) close() { o.f.Close() }
