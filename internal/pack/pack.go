// Package pack makes bytes smaller and takes them apart again: the one user of
// the compression library, so that it can be exchanged.
//
// A Deflater gives pieces of a deflate stream that know nothing of each other
// and end at a byte: a file is any number of pieces and then End, and a piece
// that was made once may stand in several files. Inflate reads such a file like
// any other deflate stream, an Inflater takes single pieces. Squeeze and Expand are for blocks that are read
// often: they cost little and save less; Snappy is their elder, for other
// programs' files. Unzstd is for files that other programs have packed.
//
// It stores nothing and decides nothing. What it unpacks may be anyone's: it
// gives an error for what is damaged, and how much is too much is the caller's
// to say.
package pack

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// level is the one beyond which each per cent costs as much as ten before it.
const level = 5

// End is what comes after the last piece of a file.
var End = []byte{3, 0}

// Deflater packs pieces. It is not safe for concurrent use.
type Deflater struct {
	w   *flate.Writer
	out []byte
}

// Append appends the piece that src becomes to dst.
func (d *Deflater) Append(dst, src []byte) ([]byte, error) {
	d.out = dst
	if d.w == nil {
		w, err := flate.NewWriter(d, level)
		if err != nil {
			return dst, err
		}
		d.w = w
	} else {
		d.w.Reset(d)
	}
	_, err := d.w.Write(src)
	if err == nil {
		err = d.w.Flush()
	}
	dst, d.out = d.out, nil
	return dst, err
}

// Write takes what the library packed: Append is the way in.
func (d *Deflater) Write(p []byte) (int, error) {
	d.out = append(d.out, p...)
	return len(p), nil
}

// Inflate unpacks a deflate stream.
func Inflate(r io.Reader) io.ReadCloser { return flate.NewReader(r) }

// Mark ends every piece; it may stand within one, too.
var Mark = []byte{0, 0, 0xff, 0xff}

// Inflater unpacks single pieces. It is not safe for concurrent use.
type Inflater struct {
	r    io.ReadCloser
	in   bytes.Reader
	room []byte
	out  []byte
	most int
}

var (
	errNoPiece = errors.New("it is no whole piece of a deflate stream")
	errTooMuch = errors.New("it unpacks to more than it may")
)

// Append appends what a piece unpacks to, at most most bytes, to dst. It refuses
// what needs anything before it, or ends in the middle.
func (i *Inflater) Append(dst, piece []byte, most int) ([]byte, error) {
	i.room = append(append(i.room[:0], piece...), End...)
	i.in.Reset(i.room)
	if i.r == nil {
		i.r = flate.NewReader(&i.in)
	} else if err := i.r.(flate.Resetter).Reset(&i.in, nil); err != nil {
		return dst, err
	}
	i.out, i.most = dst, len(dst)+most
	_, err := i.r.(io.WriterTo).WriteTo((*inflated)(i))
	dst, i.out = i.out, nil
	if err == nil && i.in.Len() > 0 {
		err = errNoPiece
	}
	return dst, err
}

// inflated takes what the library unpacks.
type inflated Inflater

func (i *inflated) Write(p []byte) (int, error) {
	if len(i.out)+len(p) > i.most {
		return 0, errTooMuch
	}
	i.out = append(i.out, p...)
	return len(p), nil
}

// Squeeze packs a block into room, or into new memory if that is too small.
func Squeeze(room, block []byte) []byte { return s2.Encode(room[:cap(room)], block) }

// Snappy packs a block of at most 2 GiB in the way of that name, which other
// programs read.
func Snappy(room, block []byte) []byte { return s2.EncodeSnappy(room[:cap(room)], block) }

// Expand unpacks a block of size bytes. What comes out may have another size if
// the packed form is not what it should be.
func Expand(packed []byte, size int) ([]byte, error) { return s2.Decode(make([]byte, 0, size), packed) }

// zstdWindow is how far back a packed file may refer, and so about how much memory
// unpacking it takes. Packers use an eighth of it unless they are told otherwise.
const zstdWindow = 64 << 20

// Unzstd unpacks what is packed in the way of Zstandard, at most most bytes, into
// dst. It refuses what ends in the middle, and what takes too much memory to unpack.
func Unzstd(dst io.Writer, src io.Reader, most int64) error {
	r, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(dst, io.LimitReader(r, most))
	if err == nil && n == most {
		if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
			return errTooMuch
		}
	}
	return err
}
