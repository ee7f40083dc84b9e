package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func create(t testing.TB, path string) *Writer {
	t.Helper()
	w, err := Create(path, Header{
		Run:        "20260102T150405.678Z-0123456789ab",
		Created:    time.Date(2026, 1, 2, 15, 4, 5, 678e6, time.UTC),
		Program:    "conclave test",
		Attributes: map[string]string{"role": "cat"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func line(n int) []byte {
	return fmt.Appendf(nil, `{"event":"test","context":{"n":%d,"pad":"%s"}}`, n, bytes.Repeat([]byte("p"), n%97))
}

// sample writes a small record and returns its path and bytes.
func sample(t testing.TB, sealed bool) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sample.record")
	w := create(t, path)
	for n := range 5 {
		must(t, w.AppendLog(line(n)))
		if n%2 == 1 {
			must(t, w.AppendBlob("stdout", []byte("bytes\nthat are \x00 evidence")))
			must(t, w.Commit())
		}
	}
	if sealed {
		_, err := w.Seal("done")
		must(t, err)
	}
	must(t, w.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	return path, data
}

// seen is a frame in a form that compares and stays.
type seen struct {
	Kind     Kind
	Withheld bool
	Payload  string
}

// readAll reads src to its end and returns the frames and the reader.
func readAll(src *bytes.Reader) ([]seen, []Cursor, *Reader) {
	var all []seen
	var cursors []Cursor
	r := NewReader(src)
	for r.Next() {
		f := r.Frame()
		all = append(all, seen{f.Kind, f.Withheld, string(f.Payload)})
		cursors = append(cursors, r.Cursor())
	}
	return all, cursors, r
}

func asDamage(err error) *Damage {
	var d *Damage
	errors.As(err, &d)
	return d
}

func (r Recovery) String() string {
	s := fmt.Sprintf("%d frames kept", r.Frames)
	if r.Unmarked > 0 {
		s += fmt.Sprintf(", %d of them past the last durable mark", r.Unmarked)
	}
	if r.TornBytes > 0 {
		s += fmt.Sprintf("; torn tail of %d bytes cut at byte %d", r.TornBytes, r.TornAt)
	}
	return s
}

// withhold copies a record without the payloads that hide picks, by way of its
// stripped form.
func withhold(dst io.Writer, src []byte, hide func(Frame) bool) (withheld int, err error) {
	withheld, _, err = stripThen(dst, src, func(f Frame) Kept { return Kept{Withheld: hide(f)} }, func() [][]byte { return nil })
	return withheld, err
}

// stripThen strips a record, restores it into dst and returns its stripped
// form. log are the lines that stand beside it then.
func stripThen(dst io.Writer, src []byte, keep func(Frame) Kept, log func() [][]byte) (withheld int, stripped []byte, err error) {
	var b bytes.Buffer
	s, err := NewStripper(&b)
	if err != nil {
		return 0, nil, err
	}
	r := NewReader(bytes.NewReader(src)).Marks()
	for r.Next() {
		var k Kept
		if f := r.Frame(); !f.Withheld && (f.Kind == KindLog || f.Kind == KindBlob) {
			k = keep(f)
		}
		if err := s.Add(r.Frame(), k); err != nil {
			return 0, nil, err
		}
	}
	if r.Err() != nil {
		return 0, nil, r.Err()
	}
	withheld, size, err := s.Close()
	if err != nil {
		return 0, nil, err
	}
	var out bytes.Buffer
	err = Restore(&out, bytes.NewReader(b.Bytes()), linesOf(log()))
	if err == nil && int64(out.Len()) != size {
		err = fmt.Errorf("restored %d bytes, %d were promised", out.Len(), size)
	}
	_, werr := dst.Write(out.Bytes())
	return withheld, b.Bytes(), errors.Join(err, werr)
}

func linesOf(log [][]byte) func() ([]byte, error) {
	return func() ([]byte, error) {
		if len(log) == 0 {
			return nil, io.EOF
		}
		next := log[0]
		log = log[1:]
		return next, nil
	}
}
