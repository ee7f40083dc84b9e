package record

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"conclave/internal/newer"
)

// sector is the smallest unit in which a disk loses what it was to write.
const sector = 512

// opening checks the magic. It is false while there is less than all of it.
func (r *Reader) opening() (bool, error) {
	b, err := r.win.peek(0, len(magic))
	if err != nil {
		return false, err
	}
	whole := len(b) == len(magic)
	switch {
	case strings.HasPrefix(magic, string(b)):
		return whole, nil
	case whole && string(b[:len(b)-1]) == magic[:len(magic)-1]:
		if err := newer.Check(int(b[len(b)-1]), formatVersion); err != nil {
			return false, flaw{err.Error(), int64(len(magic)), err}
		}
	}
	return false, flaw{"it does not begin as a record does", int64(len(magic)), nil}
}

// atEnd tells a file that ends here from one that has become shorter.
func (r *Reader) atEnd() error {
	var one [1]byte
	n, err := r.win.src.ReadAt(one[:], r.next.Offset-1)
	if n == 1 {
		return errNotYet
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return flaw{"the file is shorter than it was", 0, nil}
}

// zeroTail reports whether the frame at r.next, which does not verify and
// would end at end, is what a power cut leaves of a write that was under way:
// the file's length was extended but its last blocks never arrived, so that
// everything is zero from the frame's beginning, or from a sector border
// within the frame, to the end of the file. No other content counts as torn.
func (r *Reader) zeroTail(end int64) (bool, error) {
	start := r.next.Offset
	if end <= start {
		return false, nil
	}
	if torn, err := r.zeroFrom(start); torn || err != nil {
		return torn, err
	}
	border := (end - 1) / sector * sector
	if border <= start {
		return false, nil
	}
	return r.zeroFrom(border)
}

// zeroFrom reports whether there are bytes at off, and all of them are zero.
// More of them than a write can have been are no trace of one: a file of zeros
// without an end would be read for as long.
func (r *Reader) zeroFrom(off int64) (bool, error) {
	b, zeros := make([]byte, 256<<10), make([]byte, 256<<10)
	for from := off; from-off <= maxPayload+sector; {
		n, err := r.win.src.ReadAt(b, from)
		if !bytes.Equal(b[:n], zeros[:n]) {
			return false, nil
		}
		from += int64(n)
		if errors.Is(err, io.EOF) || (err == nil && n == 0) {
			return from > off, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
