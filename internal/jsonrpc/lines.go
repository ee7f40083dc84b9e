package jsonrpc

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"sync"
)

// Reader cuts a stream into lines at the newline byte and nothing else: a
// U+2028 inside a string is a part of its line.
type Reader struct {
	buf *bufio.Reader
}

// NewReader reads lines from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{buf: bufio.NewReaderSize(r, 64<<10)}
}

// Next returns the next line without its newline, in memory of its own. A
// last line without newline is a line too. After the last one the error is
// that of the stream, io.EOF when it ended well.
func (r *Reader) Next() ([]byte, error) {
	var line []byte
	for {
		part, err := r.buf.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(line) > 0:
			return line, nil // the error is met again at the next call
		default:
			return nil, err
		}
	}
}

// Writer writes lines whole, whoever writes at the same time.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter writes lines to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// WriteLine writes the line and its newline in one piece.
func (w *Writer) WriteLine(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

// Calls are the requests of one side that wait for an answer. The zero value
// is ready for use.
type Calls struct {
	mu      sync.Mutex
	last    int64
	waiting map[string]chan Message
	closed  error
}

// Begin reserves an id. The channel yields the answer, or is closed without
// one when the connection ends.
func (c *Calls) Begin() (id int64, answer <-chan Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	ch := make(chan Message, 1)
	if c.closed != nil {
		close(ch)
		return c.last, ch
	}
	if c.waiting == nil {
		c.waiting = map[string]chan Message{}
	}
	c.waiting[strconv.FormatInt(c.last, 10)] = ch
	return c.last, ch
}

// Settle hands an answer to whoever waits for it, and says whether anyone did.
func (c *Calls) Settle(m Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, ok := c.waiting[string(m.ID)]
	if ok {
		delete(c.waiting, string(m.ID))
		ch <- m
	}
	return ok
}

// Close ends every wait; err is what Err says from now on.
func (c *Calls) Close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed == nil {
		c.closed = err
	}
	for id, ch := range c.waiting {
		close(ch)
		delete(c.waiting, id)
	}
}
