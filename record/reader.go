package record

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"conclave/workspace"
)

// Cursor is a place between two frames and what the chain was there. The zero
// Cursor is the beginning.
//
// A cursor kept elsewhere survives a crash of the writer. It survives a power
// cut when Count was not above Reader.Durable as it was kept.
type Cursor struct {
	Offset int64  `json:"offset"`
	Head   Hash   `json:"head"`
	Count  uint64 `json:"count"`
}

// Damage is a place where a record does not verify.
type Damage struct {
	Offset int64  `json:"offset"` // where the frame in question begins
	Frame  uint64 `json:"frame"`  // its number; those before it verify
	Reason string `json:"reason"`
	newer  error  // a *newer.Error: it is no damage to who knows the version
}

func (d *Damage) Error() string {
	if d.newer != nil {
		return d.Reason
	}
	return fmt.Sprintf("damaged at byte %d (frame %d): %s; everything before it verifies, nothing was changed", d.Offset, d.Frame, d.Reason)
}

func (d *Damage) Unwrap() error { return d.newer }

// Reader reads a record, finished or being written, and verifies as it goes.
// It is pulled: it has no goroutine and no clock. It is not safe for
// concurrent use. Seeing that a file ends within a frame it says "not yet":
// Next is false, Err is nil, and Next may be asked again later.
type Reader struct {
	win     window
	closer  io.Closer
	next    Cursor
	durable uint64
	header  Header
	seal    *Seal
	frame   Frame
	marks   bool
	err     error
}

// Open reads the record at path from its beginning. It takes no lock.
func Open(path string) (*Reader, error) { return openAt(path, Cursor{}) }

// openAt reads the record at path from a cursor. A cursor of another record is
// found out at the next frame, mark or seal, as damage.
func openAt(path string, c Cursor) (*Reader, error) {
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return nil, fmt.Errorf("open record: %w", err)
	}
	r, err := NewReaderAt(f, c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open record %s: %w", path, err), f.Close())
	}
	r.closer = f
	return r, nil
}

// NewReader reads a record from src, which may be growing.
func NewReader(src io.ReaderAt) *Reader {
	return &Reader{win: window{src: src}, next: Cursor{Head: newChain().head}}
}

// NewReaderAt reads a record from src, beginning at a cursor.
func NewReaderAt(src io.ReaderAt, c Cursor) (*Reader, error) {
	r := NewReader(src)
	if c.Offset == 0 {
		return r, nil
	}
	if c.Offset < int64(len(magic)) || c.Count == 0 {
		return nil, fmt.Errorf("cursor at byte %d, frame %d is in no record", c.Offset, c.Count)
	}
	if ok, err := r.opening(); err != nil || !ok {
		return nil, errors.Join(err, errors.New("it is no record"))
	}
	r.next = c
	return r, nil
}

// Next advances to the next frame. It is false at the end of what is there,
// after the seal, and at the first error.
func (r *Reader) Next() bool {
	if r.err != nil {
		return false
	}
	for {
		f, err := r.careful()
		if err != nil {
			r.end(err)
			return false
		}
		if f.Kind != kindMark || r.marks {
			r.frame = f
			return true
		}
	}
}

// Marks makes Next stop at marks, too: a Stripper keeps those that stay true.
func (r *Reader) Marks() *Reader {
	r.marks = true
	return r
}

// end notes why there is no next frame.
func (r *Reader) end(err error) {
	r.frame = Frame{}
	r.win.drop()
	if bad, ok := err.(flaw); ok {
		r.err = &Damage{Offset: r.next.Offset, Frame: r.next.Count + 1, Reason: bad.reason, newer: bad.newer}
	} else if !errors.Is(err, errNotYet) {
		r.err = err
	}
}

// Frame is the frame that Next found. Its payload is valid until the next
// call of Next.
func (r *Reader) Frame() Frame { return r.frame }

// Err is the error that ended reading: a *Damage, or one of the file. It is
// nil while there may be more.
func (r *Reader) Err() error { return r.err }

// Cursor is the place after the frame that Next found.
func (r *Reader) Cursor() Cursor { return r.next }

// Header is how the record begins; it is zero before the first frame was read
// and for a reader that began at a cursor.
func (r *Reader) Header() Header { return r.header }

// Sealed returns the seal once its frame was read. Nothing follows it.
func (r *Reader) Sealed() (Seal, bool) {
	if r.seal == nil {
		return Seal{}, false
	}
	return *r.seal, true
}

// Close closes the file that Open opened. Further calls do nothing.
func (r *Reader) Close() error {
	c := r.closer
	r.closer = nil
	if r.err == nil {
		r.err = errClosed
	}
	if c == nil {
		return nil
	}
	return c.Close()
}

// errNotYet says that the file ends before the frame does.
var errNotYet = errors.New("not yet")

// flaw is a frame that does not verify; end is where it would have ended.
type flaw struct {
	reason string
	end    int64
	newer  error // as in Damage
}

func (f flaw) Error() string { return f.reason }

// careful reads a frame, and looks afresh before it calls anything flawed: a
// writer that resumed may just have cut and rewritten what the window holds.
func (r *Reader) careful() (Frame, error) {
	const looks = 3
	f, err := r.read()
	for n := 1; isFlaw(err) && n < looks; n++ {
		r.win.drop()
		f, err = r.read()
	}
	if !isFlaw(err) {
		return f, err
	}
	torn, zerr := r.zeroTail(err.(flaw).end)
	if zerr != nil {
		return f, zerr
	}
	if torn {
		return f, errNotYet
	}
	return f, err
}

func isFlaw(err error) bool {
	_, ok := err.(flaw)
	return ok
}

// read reads and checks the frame at r.next, and moves past it.
func (r *Reader) read() (Frame, error) {
	if r.next.Offset == 0 {
		if ok, err := r.opening(); err != nil || !ok {
			return Frame{}, cmp.Or(err, errNotYet)
		}
		r.next.Offset = int64(len(magic))
	}
	off := r.next.Offset
	b, err := r.win.peek(off, headerSize)
	if err != nil {
		return Frame{}, err
	}
	if len(b) == 0 {
		return Frame{}, r.atEnd()
	}
	if r.seal != nil {
		return Frame{}, flaw{"bytes after the seal", 0, nil}
	}
	if len(b) < headerSize {
		return Frame{}, errNotYet
	}
	f, reason := parseHeader(b)
	if reason != "" {
		return f, flaw{reason, off + headerSize, nil}
	}
	f.offset, f.Number = off, r.next.Count+1
	end := off + int64(f.stored())
	if b, err = r.win.peek(off, f.stored()); err != nil {
		return f, err
	}
	if len(b) < f.stored() {
		return f, errNotYet
	}
	if reason := f.fill(b); reason != "" {
		return f, flaw{reason, end, nil}
	}
	if reason := r.accept(f, end); reason != "" {
		return f, flaw{reason, end, nil}
	}
	return f, nil
}

// fill takes digest, salt and payload from b and checks them.
func (f *Frame) fill(b []byte) (reason string) {
	copy(f.digest[:], b[headerSize:])
	if f.Withheld {
		return ""
	}
	copy(f.salt[:], b[prefixSize:])
	f.Payload = b[prefixSize+saltSize:]
	if sha256.Sum256(b[prefixSize:]) != f.digest {
		return f.Kind.String() + " frame does not match its digest"
	}
	return ""
}

// accept checks what a frame says against what came before it, and moves on.
func (r *Reader) accept(f Frame, end int64) (reason string) {
	c := chain{r.next.Count, r.next.Head}
	if (f.Kind == KindHeader) != (c.count == 0) {
		return f.Kind.String() + " frame where it cannot be: a record has one header, at its beginning"
	}
	if f.Kind == kindMark {
		want := markPayload(c, f.offset)
		if !bytes.Equal(f.Payload, want[:]) {
			return "mark does not agree with the frames before it, or they are not those of the cursor"
		}
		r.durable, r.next.Offset = c.count, end
		return ""
	}
	if err := r.understand(f, c); err != nil {
		return err.Error()
	}
	c.add(f.Kind, f.Size, f.digest)
	r.next = Cursor{Offset: end, Head: c.head, Count: c.count}
	if r.seal != nil {
		r.seal.Head, r.durable = c.head, c.count
	}
	return ""
}

// understand checks a payload's own form.
func (r *Reader) understand(f Frame, c chain) error {
	if f.Withheld {
		return nil
	}
	switch f.Kind {
	case KindHeader:
		h, err := parseHeaderPayload(f.Payload)
		r.header = h
		return err
	case KindLog:
		return checkLog(f.Payload)
	case KindBlob:
		if f.Size == 0 || f.Payload[0] == 0 || f.Size < 1+int(f.Payload[0]) {
			return errors.New("blob frame without a channel")
		}
	case KindSeal:
		s, err := parseSeal(f.Payload, c)
		if err != nil {
			return err
		}
		r.seal = &s
	}
	return nil
}
