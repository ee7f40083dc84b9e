package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// event is one of a stream of server-sent events.
type event struct {
	name string
	data []byte
	raw  []byte // with what stood before it: comments, blank lines
}

const (
	mostLine   = 16 << 20 // of a stream: an image in an answer is one
	mostStream = 64 << 20 // of an answer: nobody says as much
)

var errEndless = errors.New("the stream does not end")

// events reads a stream.
type events struct {
	r    *bufio.Reader
	most int64 // bytes
	read int64
	end  error
}

func newEvents(r io.Reader, most int64) *events {
	return &events{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// next returns the next event that has data. What stands behind the last one
// comes with an error, and without data.
func (s *events) next() (e event, err error) {
	for s.end == nil {
		line, err := s.line()
		e.raw = append(e.raw, line...)
		if err != nil {
			s.end = err
			line = bytes.TrimRight(line, "\r\n")
			if errors.Is(err, io.EOF) {
				e.field(line) // some servers leave the last line break out
			}
			break
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 {
			e.field(line)
			continue
		}
		if e.data != nil {
			return e, nil
		}
	}
	if e.data != nil && errors.Is(s.end, io.EOF) {
		return e, nil
	}
	e.data = nil
	return e, s.end
}

func (e *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		if e.data != nil {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		if e.data == nil {
			e.data = []byte{}
		}
	}
}

// line reads a line with its break.
func (s *events) line() (line []byte, err error) {
	for {
		part, err := s.r.ReadSlice('\n')
		line = append(line, part...)
		if s.read += int64(len(part)); s.read > s.most {
			return line, fmt.Errorf("%w: after %d bytes it was left", errEndless, s.read)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > mostLine {
			return line, fmt.Errorf("%w: one of its lines has more than %d bytes", errEndless, mostLine)
		}
	}
}
