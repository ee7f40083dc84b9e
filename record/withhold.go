package record

import (
	"crypto/rand"
	"fmt"
	"io"
)

// Withhold copies the record src to dst without the payloads of the log and
// blob frames that hide picks. The copy verifies to the same head and the same
// seal. What stays visible of such a frame is its kind, its length, its place
// and its digest; the salt goes with the payload, so that a short or likely
// text cannot be guessed from the digest. Frames already withheld stay so.
//
// A torn tail is left out. When src is damaged, the *Damage is returned and
// what was written to dst is of no use.
func Withhold(dst io.Writer, src io.ReaderAt, hide func(Frame) bool) (withheld int, err error) {
	out := &counted{w: dst}
	if _, err := out.Write([]byte(magic)); err != nil {
		return 0, fmt.Errorf("copy record: %w", err)
	}
	r := NewReader(src)
	var buf []byte
	for r.Next() {
		f := r.Frame()
		if !f.Withheld && (f.Kind == KindLog || f.Kind == KindBlob) && hide(f) {
			f.Withheld = true
		}
		if f.Withheld {
			withheld++
		}
		buf = appendRead(buf[:0], f)
		if _, err := out.Write(buf); err != nil {
			return withheld, fmt.Errorf("copy record: %w", err)
		}
	}
	if r.Err() != nil {
		return withheld, fmt.Errorf("copy record: %w", r.Err())
	}
	if _, sealed := r.Sealed(); sealed || r.Cursor().Count == 0 {
		return withheld, nil
	}
	// The marks of src speak of its offsets. One of the copy's own takes
	// their place; a seal needs none.
	if _, err := out.Write(closingMark(chain{r.next.Count, r.next.Head}, out.n)); err != nil {
		return withheld, fmt.Errorf("copy record: %w", err)
	}
	return withheld, nil
}

func closingMark(c chain, offset int64) []byte {
	var salt [saltSize]byte
	rand.Read(salt[:])
	payload := markPayload(c, offset)
	b, _, _ := appendFrame(nil, kindMark, salt[:], "", payload[:])
	return b
}

// counted knows how much was written to w.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
