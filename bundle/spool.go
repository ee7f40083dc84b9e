package bundle

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"time"
)

// spool is one file of a bundle that grows beside others: a zip takes one file
// at a time, a run tells several at once. It compresses as it is written, in a
// goroutine that done waits for, into a temporary file that holds nothing but
// redacted bytes.
type spool struct {
	name string
	file *os.File

	full  chan []byte
	free  chan []byte
	buf   []byte
	ended chan struct{}
	open  bool

	// These belong to the goroutine until ended is closed.
	err    error
	size   int64
	crc    uint32
	sha    hash.Hash
	packed int64
}

const spoolChunk = 256 << 10

func newSpool(dir, name string) (*spool, error) {
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return nil, err
	}
	s := &spool{name: name, file: f, full: make(chan []byte, 2), free: make(chan []byte, 3), ended: make(chan struct{}),
		sha: sha256.New(), open: true}
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
	out := &countingWriter{w: s.file}
	packer, err := flate.NewWriter(out, flate.BestSpeed)
	for b := range s.full {
		if err == nil {
			s.size += int64(len(b))
			s.crc = crc32.Update(s.crc, crc32.IEEETable, b)
			s.sha.Write(b)
			_, err = packer.Write(b)
		}
		s.free <- b[:0]
	}
	if err == nil {
		err = packer.Close()
	}
	s.err, s.packed = err, out.n
}

// done waits for the goroutine. It may be called again.
func (s *spool) done() error {
	if s.open {
		s.open = false
		s.flush()
		close(s.full)
	}
	<-s.ended
	return s.err
}

// discard removes the temporary file.
func (s *spool) discard() error {
	err := s.done()
	return errors.Join(err, s.file.Close(), os.Remove(s.file.Name()))
}

// copyTo puts the file into a zip as it is compressed already, and returns its
// checksum.
func (s *spool) copyTo(z *zip.Writer, modified time.Time) (sum string, err error) {
	if err := s.done(); err != nil {
		return "", err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := header(s.name, modified)
	//lint:ignore SA1019 CreateRaw writes these as they are, and nothing of Modified
	h.ModifiedDate, h.ModifiedTime = dosTime(h.Modified)
	h.CRC32, h.CompressedSize64, h.UncompressedSize64 = s.crc, uint64(s.packed), uint64(s.size)
	w, err := z.CreateRaw(h)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(w, s.file); err != nil {
		return "", err
	}
	return hex.EncodeToString(s.sha.Sum(nil)), nil
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

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
