package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"conclave/workspace"
)

// Report is what verification found. Sound says whether all of it is well.
type Report struct {
	Header   Header `json:"header"`
	Frames   uint64 `json:"frames"` // that verify, header and seal included
	Logs     uint64 `json:"logs"`
	Blobs    uint64 `json:"blobs"`
	Withheld uint64 `json:"withheld"` // of Logs and Blobs
	Durable  uint64 `json:"durable"`  // frames under the last mark or seal
	Head     Hash   `json:"head"`     // over Frames
	Sealed   bool   `json:"sealed"`
	Seal     Seal   `json:"seal,omitzero"`
	// TornBytes at the end belong to no whole frame. A writer may still be
	// writing them, or was killed; Resume cuts them.
	TornBytes int64 `json:"torn_bytes"`
	// Damage is the first place that does not verify, nil when there is
	// none. Nothing behind it was looked at.
	Damage *Damage `json:"damage,omitempty"`
	// Matched is how many frames the head given to VerifyAgainst covers:
	// Frames when nothing was added since that head was noted, fewer when
	// the run went on, zero when the head is not this record's.
	Matched uint64 `json:"matched,omitempty"`
}

// Sound returns nil for a record without damage, and else the *Damage. A torn
// tail is not damage, and a record that is not sealed may be sound.
func (r Report) Sound() error {
	if r.Damage != nil {
		return r.Damage
	}
	return nil
}

// ErrOtherHead is returned by VerifyAgainst for a record that never had the
// head in question: frames it covers were changed, removed or cut off, or it
// is the head of another record.
var ErrOtherHead = errors.New("the record does not have the head that was noted")

// Verify reads the whole record at path and checks every frame, mark and the
// seal. It needs nothing but the file, takes no lock, and may be used on a
// record that is being written. Damage is in the report; the error is one of
// reading the file.
func Verify(path string) (Report, error) { return verifyFile(path, nil) }

// VerifyAgainst is Verify, and also says whether the record ever had the head
// that was noted elsewhere: in a receipt, a manifest, a cursor. If not, it
// returns ErrOtherHead with the report.
func VerifyAgainst(path string, head Hash) (Report, error) { return verifyFile(path, &head) }

func verifyFile(path string, head *Hash) (Report, error) {
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return Report{}, fmt.Errorf("verify record: %w", err)
	}
	defer f.Close()
	rep, err := verify(f, head)
	if err != nil {
		return rep, fmt.Errorf("verify record %s: %w", path, err)
	}
	return rep, nil
}

// VerifyReader is Verify for a record that is not a file of its own.
func VerifyReader(src io.ReaderAt) (Report, error) { return verify(src, nil) }

// VerifyReaderAgainst is VerifyAgainst for such a record.
func VerifyReaderAgainst(src io.ReaderAt, head Hash) (Report, error) { return verify(src, &head) }

func verify(src io.ReaderAt, head *Hash) (Report, error) {
	var rep Report
	r := NewReader(src)
	for r.Next() {
		rep.count(r.Frame())
		if c := r.Cursor(); head != nil && c.Head == *head {
			rep.Matched = c.Count
		}
	}
	rep.Header, rep.Frames, rep.Head, rep.Durable = r.Header(), r.Cursor().Count, r.Cursor().Head, r.durable
	rep.Seal, rep.Sealed = r.Sealed()
	if err := r.Err(); err != nil && !errors.As(err, &rep.Damage) {
		return rep, err
	}
	if rep.Damage == nil {
		size, err := sizeFrom(src, r.Cursor().Offset)
		if err != nil {
			return rep, err
		}
		rep.TornBytes = size - r.Cursor().Offset
	}
	if head != nil && rep.Matched == 0 {
		return rep, ErrOtherHead
	}
	return rep, nil
}

func (rep *Report) count(f Frame) {
	switch f.Kind {
	case KindLog:
		rep.Logs++
	case KindBlob:
		rep.Blobs++
	}
	if f.Withheld {
		rep.Withheld++
	}
}

// sizeFrom finds the end of src: a file knows it, else by reading on from off.
func sizeFrom(src io.ReaderAt, off int64) (int64, error) {
	if f, ok := src.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return max(info.Size(), off), nil
		}
	}
	b := make([]byte, 64<<10)
	for {
		n, err := src.ReadAt(b, off)
		off += int64(n)
		if errors.Is(err, io.EOF) || (err == nil && n == 0) {
			return off, nil
		}
		if err != nil {
			return off, err
		}
	}
}
