package record

import (
	"errors"
	"io"
)

// step is how much a window reads at a time.
const step = 128 << 10

// window is a buffered view of a file that may be growing. It allocates in
// proportion to the bytes that are there, never to the bytes that a frame
// claims to have.
type window struct {
	src  io.ReaderAt
	base int64 // offset of buf[0]
	buf  []byte
}

// peek returns n bytes at off, fewer where the file ends. The slice is valid
// until the next call.
func (w *window) peek(off int64, n int) ([]byte, error) {
	if off < w.base || off > w.base+int64(len(w.buf)) {
		w.base, w.buf = off, w.buf[:0]
	}
	have := w.buf[off-w.base:]
	if len(have) >= n {
		return have[:n], nil
	}
	w.buf = w.buf[:copy(w.buf, have)]
	w.base = off
	for len(w.buf) < n {
		more, err := w.read(n)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return w.buf[:min(n, len(w.buf))], nil
}

// read adds what comes next, towards n bytes in all.
func (w *window) read(n int) (more bool, err error) {
	have := len(w.buf)
	if cap(w.buf)-have == 0 || cap(w.buf) < step {
		grown := make([]byte, have, max(step, min(n, 2*have)))
		copy(grown, w.buf)
		w.buf = grown
	}
	got, err := w.src.ReadAt(w.buf[have:cap(w.buf)], w.base+int64(have))
	w.buf = w.buf[:have+got]
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return got > 0, nil
}

// drop forgets everything: bytes past the last whole frame may be cut and
// written anew before they are looked at again.
func (w *window) drop() {
	w.buf = w.buf[:0]
	if cap(w.buf) > 8*step {
		w.buf = nil
	}
}
