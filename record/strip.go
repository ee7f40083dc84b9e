package record

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
)

// A stripped record is a record without the payloads that stand beside it, as
// lines of a log: what is left are heads, salts and the payloads that stand
// nowhere else. docs/record-format.md has the form; Restore makes the record of
// it again, byte for byte.

// strippedMagic opens a stripped record; its last byte is the version.
const strippedMagic = "CONCFRM\x01"

// What a stripped record says of a frame, beside flagWithheld.
const (
	flagLine = 2 // the next line of the log is this frame's
	flagLean = 4 // and is its payload, which is left out here
)

// Kept says what a stripped record keeps of a log or blob frame.
type Kept struct {
	Withheld bool // neither payload nor salt: what cannot be guessed from a digest stays unknown
	Line     bool // the log has a line for it
	Same     bool // which is its payload
}

func (k Kept) flags() (flags byte) {
	if k.Withheld {
		flags |= flagWithheld
	}
	if k.Line {
		flags |= flagLine
	}
	if k.Line && k.Same && !k.Withheld {
		flags |= flagLean
	}
	return flags
}

// Stripper writes a stripped record, frame by frame as a Reader gives them.
// The record that it stands for verifies to the same head and the same seal,
// whatever is withheld: what stays visible of such a frame is its kind, its
// length, its place and its digest. Marks of the source are kept as long as
// they are true of the copy, which is all of them when nothing is withheld.
type Stripper struct {
	dst      io.Writer
	buf      []byte
	chain    chain
	offset   int64 // in the record that it stands for
	withheld int
	dropped  bool // a mark that spoke of another offset
	sealed   bool
}

// NewStripper begins a stripped record.
func NewStripper(dst io.Writer) (*Stripper, error) {
	s := &Stripper{dst: dst, chain: newChain(), offset: int64(len(magic))}
	if _, err := dst.Write([]byte(strippedMagic)); err != nil {
		return nil, fmt.Errorf("strip record: %w", err)
	}
	return s, nil
}

// Add adds a frame. A frame that was withheld already stays so.
func (s *Stripper) Add(f Frame, k Kept) error {
	switch f.Kind {
	case kindMark:
		if f.offset != s.offset {
			s.dropped = true
			return nil
		}
		k = Kept{}
	case KindLog, KindBlob:
		k.Withheld = k.Withheld || f.Withheld
		if f.Withheld = k.Withheld; f.Withheld {
			s.withheld++
		}
	default:
		k = Kept{}
		s.sealed = f.Kind == KindSeal
	}
	s.buf = appendRead(s.buf[:0], f, k.flags())
	s.offset += int64(f.stored())
	if f.Kind != kindMark {
		s.chain.add(f.Kind, f.Size, f.digest)
	}
	return s.write()
}

func (s *Stripper) write() error {
	if _, err := s.dst.Write(s.buf); err != nil {
		return fmt.Errorf("strip record: %w", err)
	}
	return nil
}

// Close ends the copy and says how many payloads it lacks and how long the
// record is that it stands for. Where marks were left out, one of the copy's
// own takes their place; a seal needs none.
func (s *Stripper) Close() (withheld int, size int64, err error) {
	if s.chain.count > 0 && !s.sealed && (s.withheld > 0 || s.dropped) {
		s.buf = closingMark(s.chain, s.offset)
		s.offset += int64(len(s.buf))
		err = s.write()
	}
	return s.withheld, s.offset, err
}

func closingMark(c chain, offset int64) []byte {
	var salt [saltSize]byte
	rand.Read(salt[:])
	payload := markPayload(c, offset)
	b, _ := appendFrame(nil, kindMark, salt[:], "", payload[:])
	return b
}

// Restore writes the record that a stripped one stands for. line gives the
// lines of the log in order, without their newlines; each is valid until the
// next. It refuses a stripped record that is cut or not one, and lines that are
// not as long as the payloads that they should be; whether they are those
// payloads is for Verify to say.
func Restore(dst io.Writer, stripped io.Reader, line func() ([]byte, error)) error {
	r := &restorer{in: bufio.NewReaderSize(stripped, step), out: dst, line: line}
	if err := r.all(); err != nil {
		return fmt.Errorf("restore record: %w", err)
	}
	return nil
}

type restorer struct {
	in   *bufio.Reader
	out  io.Writer
	line func() ([]byte, error)
	head [prefixSize + saltSize]byte
}

func (r *restorer) all() error {
	opening := r.head[:len(strippedMagic)]
	if _, err := io.ReadFull(r.in, opening); err != nil || string(opening) != strippedMagic {
		return errors.Join(err, errors.New("it is no stripped record of this version"))
	}
	if _, err := r.out.Write([]byte(magic)); err != nil {
		return err
	}
	for n := 1; ; n++ {
		if _, err := r.in.Peek(1); err == io.EOF {
			return nil
		}
		if err := r.frame(); err != nil {
			return fmt.Errorf("frame %d: %w", n, err)
		}
	}
}

// frame restores one frame.
func (r *restorer) frame() error {
	if _, err := io.ReadFull(r.in, r.head[:prefixSize]); err != nil {
		return cut(err)
	}
	f, flags, reason := parseFlags(r.head[:], flagWithheld|flagLine|flagLean)
	if reason != "" {
		return errors.New(reason)
	}
	lean := flags&flagLean != 0
	if (lean || flags&flagLine != 0) && f.Kind != KindLog || lean && (f.Withheld || flags&flagLine == 0) {
		return errors.New("its flags contradict each other")
	}
	copy(f.digest[:], r.head[headerSize:])
	putPrefix(r.head[:], f.Kind, flags&flagWithheld, f.Size, f.digest)
	head := r.head[:prefixSize]
	if !f.Withheld {
		head = r.head[:]
		if _, err := io.ReadFull(r.in, head[prefixSize:]); err != nil {
			return cut(err)
		}
	}
	var text []byte
	if flags&flagLine != 0 {
		var err error
		if text, err = r.line(); err != nil {
			return fmt.Errorf("its line in the log: %w", cut(err))
		}
		if lean && len(text) != f.Size {
			return fmt.Errorf("its line in the log has %d bytes, not %d", len(text), f.Size)
		}
	}
	if _, err := r.out.Write(head); err != nil {
		return err
	}
	switch {
	case lean:
		_, err := r.out.Write(text)
		return err
	case !f.Withheld:
		_, err := io.CopyN(r.out, r.in, int64(f.Size))
		return cut(err)
	}
	return nil
}

// cut calls an end within a frame what it is.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
