package tail

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// verdict is what a look at the path says about the end that was reached.
type verdict int

const (
	nothing verdict = iota // there is no more for now
	again                  // read on
	anew                   // the content is another one
)

// open opens the file. It notices when it is not the one that was followed.
func (f *File) open() bool {
	info, err := os.Stat(f.path)
	if err != nil {
		f.absent(err)
		return false
	}
	if !info.Mode().IsRegular() {
		f.state, f.err = Denied, fmt.Errorf("follow %s: it is no regular file", f.path)
		return false
	}
	file, err := os.Open(f.path)
	if err != nil {
		f.absent(err)
		return false
	}
	if now, err := file.Stat(); err == nil {
		info = now
	}
	other := f.info != nil && !os.SameFile(f.info, info)
	f.file, f.info, f.id = file, info, identity(file, info)
	f.state, f.err = Following, nil
	if other && f.offset+f.held > 0 {
		f.lost += f.held
		f.again()
	}
	f.held = 0
	return true
}

// absent notes why the file cannot be opened.
func (f *File) absent(err error) {
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		f.state, f.err = Denied, fmt.Errorf("follow: %w", err)
	case f.info != nil:
		f.state, f.err = Gone, nil
	default:
		f.state, f.err = Absent, nil
	}
}

// look finds out what the end of the file means.
func (f *File) look() verdict {
	if f.starting {
		return anew // fill has found it out
	}
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		f.absent(err)
		return nothing
	case os.SameFile(info, f.info):
		f.state, f.err = Following, nil
		if info.Size() < f.reached() {
			return anew
		}
		return nothing
	case f.more():
		return again // the old one had something left
	}
	return anew
}

// more says whether the open handle has bytes beyond the place reached.
func (f *File) more() bool {
	info, err := f.file.Stat()
	return err == nil && info.Size() > f.reached()
}

// sameBefore says whether the bytes before the place reached are still those
// that were read.
func (f *File) sameBefore() bool {
	if len(f.last) == 0 {
		return true
	}
	now := make([]byte, len(f.last))
	n, _ := f.file.ReadAt(now, f.reached()-int64(len(f.last)))
	return bytes.Equal(now[:n], f.last)
}

// restart begins the content anew.
func (f *File) restart() {
	f.starting = false
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
	f.info = nil
	f.again()
}

// again puts everything to the beginning of a new generation.
func (f *File) again() {
	f.gen++
	f.offset, f.scanned, f.base = 0, 0, 0
	f.buf, f.last, f.paused, f.swallow, f.within = nil, nil, false, false, false
	f.cuts = nil
	if f.hash != nil {
		f.hash.Reset()
	}
}

// Uncut forgets the cuts: the content is not the one that they belong to.
func (f *File) Uncut() { f.cuts = nil }

// Size is the size of the file that is being followed; when it is gone, the
// last that was known.
func (f *File) Size() int64 {
	if f.file != nil {
		if info, err := f.file.Stat(); err == nil {
			f.info = info
		}
	} else if info, err := os.Stat(f.path); err == nil {
		return info.Size()
	}
	if f.info == nil {
		return 0
	}
	return f.info.Size()
}

// Is says whether info is of the file that is being followed.
func (f *File) Is(info fs.FileInfo) bool { return f.info != nil && os.SameFile(f.info, info) }
