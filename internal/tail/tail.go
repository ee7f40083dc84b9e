package tail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
)

// DefaultReadSize is how much is read at a time.
const DefaultReadSize = 64 << 10

// Options configure a File. The zero value works.
type Options struct {
	ReadSize int // bytes at a time; 0 means DefaultReadSize

	// Cuts are places, in ascending order, where an earlier reader had to
	// deliver a line before its end came: lines are cut there again. They
	// are of the first generation only.
	Cuts []int64

	// MaxLine bounds what is delivered at once: a longer line comes in
	// pieces of PieceSize, of which Piece is true. 0: no line is too long;
	// and pieces are as long as a line may be.
	MaxLine, PieceSize int64

	// Start is where the first generation begins: what stands before it was
	// delivered to somebody else. It needs NoHash.
	Start int64

	NoHash bool // leave SHA256 out of positions
}

// Position is how far a file was delivered.
type Position struct {
	ID     string `json:"id"`     // of the file, as the system tells files apart; "" where it does not
	Offset int64  `json:"offset"` // bytes delivered
	SHA256 string `json:"sha256"` // of those bytes
}

// State says what is known of the file.
type State int

// The states.
const (
	Absent    State = iota // never seen
	Following              // it is there
	Gone                   // it was there
	Denied                 // it is there and may not be read; see Err
)

// overlap is how many bytes before the place reached are looked at again, to
// notice a file that was rewritten in place.
const overlap = 256

// File is a file that is being followed. It is not safe for concurrent use.
type File struct {
	path string
	o    Options
	size int

	file *os.File
	info fs.FileInfo
	id   string

	state State
	err   error
	gen   int
	lost  int64
	held  int64 // of a line without end, when the handle was released

	offset  int64  // delivered up to here
	scanned int64  // no line end in between offset and here
	base    int64  // place of buf[0]; past offset while a long line is scanned
	buf     []byte // what was read last
	last    []byte // the last bytes before the place reached by reading
	paused  bool   // Next was false: look at last before going on

	line     []byte
	unended  bool
	piece    bool // the line at hand is one of a longer one's pieces
	within   bool // pieces of the line at offset were delivered
	swallow  bool // an unended line was delivered: a newline now ends nothing else
	finish   bool
	starting bool // the content is to be begun anew
	cuts     []int64
	hash     hash.Hash
}

// New returns a follower of the file at path, which need not exist. Nothing is
// opened before the first Next.
func New(path string, o Options) *File {
	f := &File{path: path, o: o, size: o.ReadSize, cuts: o.Cuts, offset: o.Start, scanned: o.Start, base: o.Start}
	if f.size <= 0 {
		f.size = DefaultReadSize
	}
	if o.PieceSize <= 0 {
		f.o.PieceSize = o.MaxLine
	}
	if !o.NoHash {
		f.hash = sha256.New()
	}
	return f
}

// Next advances to the next line. It is false when there is none for now.
func (f *File) Next() bool {
	f.line, f.unended = nil, false
	for {
		if f.starting {
			f.restart()
		}
		if f.file == nil && !f.open() {
			return false
		}
		end, newline, err := f.lineEnd()
		if err == nil {
			if f.deliver(end, newline) {
				return true
			}
			continue
		}
		if !errors.Is(err, errNotYet) {
			f.state, f.err = Denied, err
			f.Release()
			return false
		}
		f.paused = true
		switch f.look() {
		case again:
		case anew:
			f.starting = true
			if f.rest() {
				return true
			}
		default:
			return f.finish && f.rest()
		}
	}
}

// Line is the line that Next found, without its newline. It is valid until the
// next call of Next, and never nil.
func (f *File) Line() []byte { return f.line }

// Unended says that the line has no newline: it was the last of its file, or
// it is cut.
func (f *File) Unended() bool { return f.unended }

// Piece says that the line is a piece of one that is longer than MaxLine. What
// a piece holds may look like a line of its own and is none.
func (f *File) Piece() bool { return f.piece }

// Err says why the file may not be read; nil when it may.
func (f *File) Err() error { return f.err }

// State says what Next found out about the file.
func (f *File) State() State { return f.state }

// Generation counts how often the content was begun anew.
func (f *File) Generation() int { return f.gen }

// Offset is how many bytes of this generation were delivered, newlines
// included.
func (f *File) Offset() int64 { return f.offset }

// Pending is how many bytes were seen beyond Offset: the rest of a line whose
// end is not there.
func (f *File) Pending() int64 { return max(f.reached(), f.scanned) - f.offset }

// Lost is how many bytes were read and could not be delivered, because they
// were gone before the line that they belong to was whole.
func (f *File) Lost() int64 { return f.lost }

// Position is the place after the line that Next found.
func (f *File) Position() Position {
	p := Position{ID: f.id, Offset: f.offset}
	if f.hash != nil {
		p.SHA256 = hex.EncodeToString(f.hash.Sum(nil))
	}
	return p
}

// Finish says that nothing will be written any more: the next Next delivers
// the rest as a line.
func (f *File) Finish() { f.finish = true }

// Release closes the handle until the next Next: for files at rest, when there
// are more of them than handles.
func (f *File) Release() {
	if f.file == nil {
		return
	}
	f.file.Close() // opened for reading only
	f.file = nil
	f.held = f.Pending()
	f.last = f.last[:max(0, int64(len(f.last))-f.held)] // those that were delivered, too
	f.buf, f.base, f.scanned = nil, f.offset, f.offset
	f.paused = true
}

// Close ends following.
func (f *File) Close() { f.Release() }

// errNotYet says that there is no end of a line yet.
var errNotYet = errors.New("not yet")

// reached is the place up to which the file was read.
func (f *File) reached() int64 { return f.base + int64(len(f.buf)) }

// lineEnd finds the end of the line at offset: the place of its newline, or of
// a cut.
func (f *File) lineEnd() (end int64, newline bool, err error) {
	for {
		if i := bytes.IndexByte(f.buf[f.scanned-f.base:], '\n'); i >= 0 {
			end = f.scanned + int64(i)
			if cut, ok := f.cut(end); ok {
				return cut, false, nil
			}
			return end, true, nil
		}
		f.scanned = f.reached()
		if cut, ok := f.cut(f.scanned); ok {
			return cut, false, nil
		}
		if err := f.fill(); err != nil {
			return 0, false, err
		}
	}
}

// cut returns the next cut if it lies within the line and not after limit; a
// line that is too long is cut as well.
func (f *File) cut(limit int64) (int64, bool) {
	for len(f.cuts) > 0 && f.cuts[0] <= f.offset {
		f.cuts = f.cuts[1:]
	}
	longest, piece := f.o.MaxLine, f.o.PieceSize
	if f.within {
		longest = piece
	}
	if f.o.MaxLine > 0 && limit-f.offset > longest && (len(f.cuts) == 0 || f.cuts[0] > f.offset+longest) {
		f.within = true
		return f.offset + piece, true
	}
	if len(f.cuts) == 0 || f.cuts[0] > limit {
		return 0, false
	}
	return f.cuts[0], true
}

// fill reads on. When the buffer is full of one line, the line is left to be
// read again once its end is known.
func (f *File) fill() error {
	if f.paused {
		f.paused = false
		if !f.sameBefore() {
			f.starting = true
			return errNotYet
		}
	}
	if f.buf == nil {
		f.buf, f.base, f.scanned = make([]byte, 0, f.size), f.offset, f.offset
	}
	if f.offset >= f.base {
		n := copy(f.buf[:cap(f.buf)], f.buf[f.offset-f.base:])
		f.buf, f.base = f.buf[:n], f.offset
	}
	if len(f.buf) == cap(f.buf) || f.offset < f.base {
		f.base = f.reached()
		f.buf = f.buf[:0]
	}
	have := len(f.buf)
	n, err := f.file.ReadAt(f.buf[have:cap(f.buf)], f.reached())
	f.buf = f.buf[:have+n]
	f.remember(f.buf[have:])
	if n > 0 {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errNotYet
	}
	return err
}

// remember keeps the last bytes that were read.
func (f *File) remember(chunk []byte) {
	if len(chunk) >= overlap {
		f.last = append(f.last[:0], chunk[len(chunk)-overlap:]...)
		return
	}
	f.last = append(f.last, chunk...)
	if extra := len(f.last) - overlap; extra > 0 {
		f.last = f.last[:copy(f.last, f.last[extra:])]
	}
}

// deliver makes the bytes up to end the line. It is false when there is no
// line to deliver after all.
func (f *File) deliver(end int64, newline bool) bool {
	if f.swallow && end == f.offset && newline {
		f.advance([]byte{'\n'})
		f.swallow, f.within = false, false
		return false
	}
	line, ok := f.bytes(end)
	if !ok {
		f.starting = true
		f.lost += end - f.offset
		return false
	}
	f.line, f.unended, f.swallow = line, !newline, !newline
	f.piece, f.within = f.within, f.within && !newline
	f.advance(line)
	if newline {
		f.advance([]byte{'\n'})
	}
	return true
}

// bytes returns those from offset to end: from the buffer, or read again.
func (f *File) bytes(end int64) ([]byte, bool) {
	if f.offset >= f.base && f.buf != nil {
		return f.buf[f.offset-f.base : end-f.base : end-f.base], true
	}
	line := make([]byte, end-f.offset)
	if f.file == nil {
		return nil, false
	}
	if n, _ := f.file.ReadAt(line, f.offset); n < len(line) {
		return nil, false
	}
	return line, true
}

func (f *File) advance(b []byte) {
	if f.hash != nil {
		f.hash.Write(b)
	}
	f.offset += int64(len(b))
	f.scanned = max(f.scanned, f.offset)
}

// rest delivers what is left of a line that has no end.
func (f *File) rest() bool {
	end := max(f.reached(), f.scanned)
	if f.buf == nil || end <= f.offset {
		return false
	}
	return f.deliver(end, false)
}
