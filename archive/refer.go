package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"conclave/bundle"
	"conclave/workspace"
)

// The blocks of a query cache say where they lie in the file that they are of,
// which is there whenever the cache is asked, and is the same file: its size and
// time are in the cache's name. Only what cannot be read at any place, the log of
// a bundle that is one stream, is in the cache itself. What the last byte of a
// block's number is:
const (
	blockHere  = iota // the block itself, squeezed
	blockPlain        // a part of a file
	blockPiece        // a piece of a bundle's log
)

// errChanged says that a file is no longer what a query cache was made of.
var errChanged = errors.New("it has changed since it was read for queries: ask again")

// reference is where a block lies.
type reference struct {
	path   string
	offset int64
	packed int    // its length there
	sum    uint32 // of what it unpacks to
}

// refer makes c a block that lies elsewhere.
func (p *packer) refer(c *chunk, form byte, r reference) {
	c.size = len(c.raw)
	p.number(c)
	c.sum[len(c.sum)-1] = form
	r.sum = lineSum(c.raw)
	b := binary.AppendUvarint(nil, uint64(r.offset))
	b = binary.AppendUvarint(b, uint64(r.packed))
	b = binary.AppendUvarint(b, uint64(r.sum))
	c.packed = append(b, r.path...)
}

func parseReference(b []byte) (r reference, err error) {
	var n [3]uint64
	for i := range n {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			return r, errDamaged
		}
		n[i], b = v, b[size:]
	}
	return reference{string(b), int64(n[0]), int(n[1]), uint32(n[2])}, nil
}

// elsewhere are the files in which blocks lie, open while they are asked.
type elsewhere struct {
	mu    sync.Mutex
	files map[string]*os.File
}

func (e *elsewhere) open(path string) (*os.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.files[path]; f != nil {
		return f, nil
	}
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	if e.files == nil {
		e.files = map[string]*os.File{}
	}
	e.files[path] = f
	return f, nil
}

func (e *elsewhere) close() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.files {
		err = errors.Join(err, f.Close())
	}
	e.files = nil
	return err
}

// read reads a block of size bytes from where it lies.
func (e *elsewhere) read(form byte, packed []byte, size int) ([]byte, error) {
	r, err := parseReference(packed)
	if err != nil {
		return nil, err
	}
	f, err := e.open(r.path)
	if err != nil {
		return nil, err
	}
	var raw []byte
	if form == blockPiece {
		raw, err = bundle.ReadPiece(f, r.offset, r.packed, size)
	} else {
		raw = make([]byte, size)
		if _, err = f.ReadAt(raw, r.offset); err == io.EOF {
			err = nil // seen by its sum
		}
	}
	if err != nil || len(raw) != size || lineSum(raw) != r.sum {
		return nil, fmt.Errorf("%s: %w", r.path, errChanged)
	}
	return raw, nil
}

// cutPieces cuts the log of a bundle that was packed in pieces, each of which
// becomes a block: no text is copied. It is not done when there are none.
func (a *Archive) cutPieces(j *job, c *cutter, name string) (done bool, err error) {
	pieces, err := j.bundle.Pieces(name)
	if err != nil {
		return false, nil // whoever reads it otherwise says what is wrong
	}
	first, err := pieces.Next(nil)
	if err != nil {
		return false, nil
	}
	ahead := newPiecesAhead(pieces, first)
	defer ahead.close()
	pos := int64(0)
	for {
		piece, err := ahead.next()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		k := &chunk{pos: pos, raw: piece.Text}
		c.texts(k)
		a.packer.refer(k, blockPiece, reference{path: j.path, offset: piece.Offset, packed: piece.Packed})
		pos += int64(k.size)
		k.raw = nil
		ahead.free(piece.Text)
		if err := c.emit(k); err != nil {
			return true, err
		}
	}
}

// texts takes the lines of a chunk that is there as a whole.
func (c *cutter) texts(k *chunk) {
	for off := 0; off < len(k.raw); {
		text := k.raw[off:]
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[:i]
		}
		if len(bytes.TrimSpace(text)) > 0 {
			k.items = c.feed.add(k.items, text, off)
		}
		off += len(text) + 1
	}
}

// piecesAhead unpacks pieces in a goroutine of its own.
type piecesAhead struct {
	full  chan unpacked
	rooms chan []byte
	stop  chan struct{}
}

type unpacked struct {
	bundle.Piece
	err error
}

func newPiecesAhead(p *bundle.Pieces, first bundle.Piece) *piecesAhead {
	const rooms = 3
	a := &piecesAhead{full: make(chan unpacked, rooms), rooms: make(chan []byte, rooms+1), stop: make(chan struct{})}
	for range rooms - 1 {
		a.rooms <- nil
	}
	a.full <- unpacked{Piece: first}
	go func() {
		defer close(a.full)
		for {
			select {
			case room := <-a.rooms:
				piece, err := p.Next(room)
				if a.full <- (unpacked{piece, err}); err != nil {
					return
				}
			case <-a.stop:
				return
			}
		}
	}()
	return a
}

func (a *piecesAhead) next() (bundle.Piece, error) {
	u, ok := <-a.full
	if !ok {
		return u.Piece, io.EOF
	}
	return u.Piece, u.err
}

// free gives the memory of a piece back.
func (a *piecesAhead) free(text []byte) {
	if cap(text) > 4<<20 {
		text = nil // one long line must not stay
	}
	a.rooms <- text
}

// close ends the goroutine and waits for it.
func (a *piecesAhead) close() {
	close(a.stop)
	for range a.full {
	}
}
