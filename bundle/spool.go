package bundle

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"time"

	"conclave/internal/pack"
)

// part is one file of a bundle that grows beside others: a zip takes one file
// at a time, a run tells several at once. Until then it lies, packed, in a
// temporary file that holds nothing but redacted bytes.
type part interface {
	name() string
	done() error    // it has its end; it may be called again
	discard() error // the temporary file goes
	// copyTo puts the file into a zip as it is packed already, and returns its
	// checksum.
	copyTo(z *zip.Writer, modified time.Time) (sum string, err error)
}

// pieces is a file whose pieces come packed. It is for one goroutine.
type pieces struct {
	called string
	file   *os.File
	ended  bool
	err    error // the first one; nothing is written behind it
	size   int64
	packed int64
	crc    uint32
	sha    hash.Hash
}

func newPieces(dir, name string) (*pieces, error) {
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return nil, err
	}
	return &pieces{called: name, file: f, sha: sha256.New()}, nil
}

func (p *pieces) name() string { return p.called }

// add takes some bytes and what they are packed. What goes wrong is said by
// done.
func (p *pieces) add(text, packed []byte) {
	p.size += int64(len(text))
	p.crc = crc32.Update(p.crc, crc32.IEEETable, text)
	p.sha.Write(text)
	p.write(packed)
}

func (p *pieces) write(packed []byte) {
	if p.err != nil {
		return
	}
	n, err := p.file.Write(packed)
	p.packed += int64(n)
	p.err = err
}

func (p *pieces) done() error {
	if !p.ended {
		p.ended = true
		p.write(pack.End)
	}
	return p.err
}

func (p *pieces) discard() error { return errors.Join(p.err, p.file.Close(), os.Remove(p.file.Name())) }

func (p *pieces) copyTo(z *zip.Writer, modified time.Time) (sum string, err error) {
	if err := p.done(); err != nil {
		return "", err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := header(p.called, modified)
	//lint:ignore SA1019 CreateRaw writes these as they are, and nothing of Modified
	h.ModifiedDate, h.ModifiedTime = dosTime(h.Modified)
	h.CRC32, h.CompressedSize64, h.UncompressedSize64 = p.crc, uint64(p.packed), uint64(p.size)
	w, err := z.CreateRaw(h)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(w, p.file); err != nil {
		return "", err
	}
	return hex.EncodeToString(p.sha.Sum(nil)), nil
}

// spool is a file that is packed as it is written, by a goroutine of its own
// that done waits for.
type spool struct {
	*pieces // the goroutine's until ended is closed

	full  chan []byte
	free  chan []byte
	buf   []byte
	ended chan struct{}
	open  bool
}

const spoolChunk = 256 << 10

func newSpool(dir, name string) (*spool, error) {
	p, err := newPieces(dir, name)
	if err != nil {
		return nil, err
	}
	s := &spool{pieces: p, full: make(chan []byte, 2), free: make(chan []byte, 3), ended: make(chan struct{}), open: true}
	for range 3 {
		s.free <- nil
	}
	go s.pack()
	return s, nil
}

// Write never fails: what went wrong is said by done.
func (s *spool) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.buf == nil {
			if s.buf = <-s.free; s.buf == nil {
				s.buf = make([]byte, 0, spoolChunk)
			}
		}
		k := min(len(p), cap(s.buf)-len(s.buf))
		s.buf = append(s.buf, p[:k]...)
		p = p[k:]
		if len(s.buf) == cap(s.buf) {
			s.flush()
		}
	}
	return n, nil
}

func (s *spool) flush() {
	if len(s.buf) > 0 {
		s.full <- s.buf
		s.buf = nil
	}
}

func (s *spool) pack() {
	defer close(s.ended)
	var deflate pack.Deflater
	var packed []byte
	for b := range s.full {
		var err error
		if packed, err = deflate.Append(packed[:0], b); err != nil && s.err == nil {
			s.err = err
		}
		s.add(b, packed)
		s.free <- b[:0]
	}
}

func (s *spool) done() error {
	if s.open {
		s.open = false
		s.flush()
		close(s.full)
	}
	<-s.ended
	return s.pieces.done()
}

func (s *spool) discard() error {
	_ = s.done() // it is said again
	return s.pieces.discard()
}

func (s *spool) copyTo(z *zip.Writer, modified time.Time) (string, error) {
	if err := s.done(); err != nil {
		return "", err
	}
	return s.pieces.copyTo(z, modified)
}

func header(name string, modified time.Time) *zip.FileHeader {
	h := &zip.FileHeader{Name: Root + "/" + name, Method: zip.Deflate, Modified: modified.UTC().Truncate(time.Second)}
	h.SetMode(0o644)
	return h
}

// dosTime is a time as a zip's directory has it, in steps of two seconds.
func dosTime(t time.Time) (date, clock uint16) {
	return uint16(t.Day() + int(t.Month())<<5 + (t.Year()-1980)<<9), uint16(t.Second()/2 + t.Minute()<<5 + t.Hour()<<11)
}
