package mcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// lines lets through what a client sends, line by line: a line that is no JSON, or
// longer than a message may be, is answered at once and goes no further. Without
// that a bracket which is never closed would swallow every line after it.
type lines struct {
	from  *bufio.Reader
	close func() error
	to    io.Writer
	left  []byte // of the line that is being read
}

// byLine puts lines before a pair of streams. What is written is written whole.
func byLine(in io.ReadCloser, out io.WriteCloser) (io.ReadCloser, io.WriteCloser) {
	w := &whole{to: out}
	return &lines{from: bufio.NewReaderSize(in, 64<<10), close: in.Close, to: w}, w
}

func (l *lines) Close() error { return l.close() }

func (l *lines) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		line, long, err := l.next()
		switch {
		case long:
			l.refuse(fmt.Sprintf("a message has at most %d bytes", maxMessage))
		case len(line) > 0 && json.Valid(line):
			l.left = append(line, '\n')
		case len(line) > 0:
			l.refuse("a message is one line of JSON")
		}
		if err != nil && len(l.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// next is a line without its end; of one that is too long nothing is kept.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		part, err := l.from.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return trimEnd(line), long, err
		}
	}
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// refuse says to the client that a line was no message. Who has gone hears nothing.
func (l *lines) refuse(why string) {
	_, _ = fmt.Fprintf(l.to, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":%q}}`+"\n", "parse error: "+why)
}

// whole keeps one message from being written into another.
type whole struct {
	mu sync.Mutex
	to io.WriteCloser
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func (w *whole) Close() error { return w.to.Close() }
