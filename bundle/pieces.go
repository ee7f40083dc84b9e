package bundle

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"conclave/internal/pack"
)

// Piece is a part of a file of a bundle that can be unpacked without the others:
// some whole lines.
type Piece struct {
	Text   []byte
	Offset int64 // of its packed form in the zip
	Packed int   // how long that is
}

// ErrNoPieces says that a file was not packed in pieces: Open reads it all the
// same.
var ErrNoPieces = errors.New("it was not packed in pieces")

// A bundle may be anyone's: how long a piece may be, packed or not, and how many
// marks it may hold that do not end it. Create's have half a megabyte and none,
// but for those of giant lines; who goes beyond is read another way.
const (
	mostOfPiece = 64 << 20
	mostMarks   = 16
)

// Pieces reads a file that was packed in pieces, as create packs its logs. Any
// other packer's deflate stream has none: that is known by the first of them,
// unless it was made to look like one.
type Pieces struct {
	src     io.Reader
	file    *zip.File
	name    string
	inflate pack.Inflater
	store   []byte
	buf     []byte // of store: packed, and not unpacked yet
	at      int64  // of buf in the zip
	crc     uint32
	size    uint64
	ended   bool
}

// Pieces begins to read a file in its pieces.
func (r *Reader) Pieces(name string) (*Pieces, error) {
	f := r.files[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f.Method != zip.Deflate {
		return nil, ErrNoPieces
	}
	return &Pieces{src: io.NewSectionReader(r.src, at, int64(f.CompressedSize64)), file: f, name: name, at: at}, nil
}

// Next unpacks the next piece into room, or into new memory if that is too small.
// After the last comes io.EOF, when size and CRC are as stated.
func (p *Pieces) Next(room []byte) (Piece, error) {
	end, tried := 0, 0 // of what was tried as a piece
	for {
		i := bytes.Index(p.buf[min(len(p.buf), end):], pack.Mark)
		if i < 0 {
			end = max(0, len(p.buf)-len(pack.Mark)+1)
			if p.ended {
				return Piece{}, p.end()
			}
			if err := p.fill(); err != nil {
				return Piece{}, err
			}
			continue
		}
		end += i + len(pack.Mark)
		if tried++; tried > mostMarks {
			return Piece{}, ErrNoPieces
		}
		left := p.file.UncompressedSize64 - p.size
		text, err := p.inflate.Append(room[:0], p.buf[:end], int(min(left, mostOfPiece)))
		if err != nil {
			continue // the mark was one of the piece's own
		}
		if len(text) == 0 || text[len(text)-1] != '\n' {
			return Piece{}, ErrNoPieces
		}
		p.size += uint64(len(text))
		p.crc = crc32.Update(p.crc, crc32.IEEETable, text)
		piece := Piece{Text: text, Offset: p.at, Packed: end}
		p.at += int64(end)
		p.buf = p.buf[end:]
		return piece, nil
	}
}

// fill reads on.
func (p *Pieces) fill() error {
	const step = 512 << 10
	if p.size == 0 && len(p.buf) >= 4*step || len(p.buf) > mostOfPiece {
		return ErrNoPieces // somebody else's: do not read it all to find out
	}
	have := len(p.buf)
	if cap(p.store) < have+step {
		p.store = make([]byte, 0, 2*(have+step))
	}
	copy(p.store[:have], p.buf)
	n, err := io.ReadFull(p.src, p.store[have:have+step])
	p.buf = p.store[:have+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		p.ended, err = true, nil
	}
	return err
}

// end says whether everything was there.
func (p *Pieces) end() error {
	switch {
	case !bytes.Equal(p.buf, pack.End):
		return ErrNoPieces
	case p.size != p.file.UncompressedSize64 || p.crc != p.file.CRC32:
		return fmt.Errorf("%s: %w", p.name, zip.ErrChecksum)
	}
	return io.EOF
}

// ReadPiece unpacks a piece of size bytes of the bundle that src is.
func ReadPiece(src io.ReaderAt, offset int64, packed, size int) ([]byte, error) {
	b := make([]byte, packed)
	if _, err := src.ReadAt(b, offset); err != nil {
		return nil, err
	}
	var inflate pack.Inflater
	return inflate.Append(make([]byte, 0, size), b, size)
}
