package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"conclave/record"
	"conclave/session"
)

// feed makes items of the lines of one source.
type feed interface {
	opened() // a block begins
	add(dst []item, line []byte, off int) []item
	// holds says that what the last line means is not all there yet, and due
	// appends what comes of the end of a block all the same.
	holds() bool
	due(dst []item) []item
	// flush appends what comes of the end; the last line stands at off.
	flush(dst []item, off, size int) []item
}

func (f *logFeed) opened()                           {}
func (f *logFeed) holds() bool                       { return false }
func (f *logFeed) due(dst []item) []item             { return dst }
func (f *logFeed) flush(dst []item, _, _ int) []item { return dst }

// cutter cuts a source into chunks. The last one stays open.
type cutter struct {
	feed    feed
	emit    func(*chunk) error
	pool    *sync.Pool // of *[]byte
	current *chunk
	held    *chunk // complete, and perhaps the last
	lastOff int
	lastLen int
	longest int  // 0 means session.MaxLine
	late    bool // the block should have ended
}

// readBuffers are what files are read with: most are short, and there are many.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 1<<20); return &b }}

func (c *cutter) begin(pos int64) {
	var raw []byte
	if used, ok := c.pool.Get().(*[]byte); ok {
		raw = (*used)[:0]
	} else {
		raw = make([]byte, 0, blockMax+blockMin)
	}
	c.current = &chunk{pos: pos, raw: raw}
	c.feed.opened()
}

// end completes the current chunk.
func (c *cutter) end() error {
	if err := c.release(); err != nil {
		return err
	}
	c.held, c.current = c.current, nil
	return nil
}

func (c *cutter) release() error {
	if c.held == nil {
		return nil
	}
	h := c.held
	c.held = nil
	return c.emit(h)
}

// finish completes the source: the last chunk is open.
func (c *cutter) finish() error {
	if c.current != nil && len(c.current.raw) > 0 {
		if err := c.end(); err != nil {
			return err
		}
	}
	if c.held == nil {
		return nil
	}
	c.held.open = true
	c.held.items = c.feed.flush(c.held.items, c.lastOff, c.lastLen)
	return c.release()
}

// lines cuts a file of lines that begins at pos, perhaps within a line that is
// too long.
func (c *cutter) lines(r io.Reader, pos int64, within bool) error {
	longest := cmp.Or(c.longest, session.MaxLine) // of a longer one the bytes are kept, and that is all
	held := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(held)
	buf := (*held)[:0]
	for {
		if within && len(buf) > 0 || len(buf) > longest {
			within = true
			if err := c.piece(buf, pos); err != nil {
				return err
			}
			pos += int64(len(buf))
			buf = (*held)[:0]
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)] // a line longer than what was there
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		rest := buf
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			take := c.line
			if within {
				take, within = c.piece, false
			}
			if e := take(rest[:i+1], pos); e != nil {
				return e
			}
			pos += int64(i + 1)
			rest = rest[i+1:]
		}
		if err == io.EOF {
			take := c.line
			if within {
				take = c.piece
			}
			if len(rest) > 0 {
				if e := take(rest, pos); e != nil {
					return e
				}
			}
			return c.finish()
		}
		if err != nil {
			return err
		}
		buf = buf[:copy(buf, rest)]
	}
}

// line takes a line with its newline.
func (c *cutter) line(line []byte, pos int64) error {
	if c.current == nil {
		c.begin(pos)
	}
	k := c.current
	off := len(k.raw)
	k.raw = append(k.raw, line...)
	text := bytes.TrimSuffix(k.raw[off:], []byte("\n"))
	c.lastOff, c.lastLen = off, len(text)
	if len(bytes.TrimSpace(text)) > 0 {
		k.items = c.feed.add(k.items, text, off)
	}
	if c.late || len(k.raw) >= blockMin && blockEnds(len(k.raw), lineSum(text)) {
		if c.late = c.feed.holds() && len(k.raw) < 2*blockMax; c.late {
			return nil // it ends with the next line
		}
		k.items = c.feed.due(k.items)
		return c.end()
	}
	return nil
}

// piece keeps a part of a line that is too long, in blocks of the usual size.
func (c *cutter) piece(part []byte, pos int64) error {
	c.lastOff, c.lastLen = 0, 0 // what comes at the end is of no line here
	for len(part) > 0 {
		if c.current == nil {
			c.begin(pos)
		}
		n := min(len(part), blockMax)
		c.current.raw = append(c.current.raw, part[:n]...)
		part, pos = part[n:], pos+int64(n)
		if len(c.current.raw) >= blockMax {
			if err := c.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// record cuts a record, beginning at a cursor.
func (c *cutter) record(src io.ReaderAt, from record.Cursor, visit func(record.Frame)) error {
	r, err := record.NewReaderAt(src, from)
	if err != nil {
		return err
	}
	last := from
	for r.Next() {
		f, end := r.Frame(), r.Cursor()
		if c.current == nil {
			c.begin(last.Offset)
			if c.current.cursor, err = json.Marshal(last); err != nil {
				return err
			}
		}
		k := c.current
		if visit != nil {
			visit(f)
		}
		off := int(end.Offset-k.pos) - f.Size
		if f.Kind == record.KindLog && !f.Withheld {
			k.items = c.feed.add(k.items, f.Payload, off)
		}
		last = end
		size := int(end.Offset - k.pos)
		if blockEnds(size, lineSum(f.Payload)) {
			if err := c.takeRaw(src, size); err != nil {
				return err
			}
			if err := c.end(); err != nil {
				return err
			}
		}
	}
	if c.current != nil {
		if err := c.takeRaw(src, int(last.Offset-c.current.pos)); err != nil {
			return err
		}
	}
	if err := c.finish(); err != nil {
		return err
	}
	return r.Err()
}

func (c *cutter) takeRaw(src io.ReaderAt, size int) error {
	k := c.current
	if cap(k.raw) < size {
		k.raw = make([]byte, size)
	}
	k.raw = k.raw[:size]
	if n, err := src.ReadAt(k.raw, k.pos); n < size {
		return fmt.Errorf("read the frames at byte %d again: %w", k.pos, err)
	}
	return nil
}
