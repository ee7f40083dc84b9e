// Package kept is the form of what a program writes down to be quicker next time, and
// could find out again: a line that says what it is, names that occur often, then
// numbers and texts in the order of whoever wrote them, and a checksum.
//
// A file that is damaged, or whose first line is another, is as none: Open refuses it.
// Behind that a Reader never fails before its end: what is not as it was written gives
// nothing, and Whole says so. It opens no file and knows nobody's content.
package kept

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer collects what is to be kept. Its zero value is ready.
type Writer struct {
	b     []byte
	names map[string]int64
	list  []string
}

// Number writes numbers; small ones take a byte.
func (w *Writer) Number(list ...int64) {
	for _, n := range list {
		w.b = binary.AppendVarint(w.b, n)
	}
}

// Yes writes whether.
func (w *Writer) Yes(is bool) {
	n := int64(0)
	if is {
		n = 1
	}
	w.Number(n)
}

// Text writes a text.
func (w *Writer) Text(s string) {
	w.Number(int64(len(s)))
	w.b = append(w.b, s...)
}

// Name writes a text that occurs often: it stands in the file once.
func (w *Writer) Name(s string) {
	n, ok := w.names[s]
	if !ok {
		if w.names == nil {
			w.names = map[string]int64{}
		}
		n = int64(len(w.list))
		w.names[s] = n
		w.list = append(w.list, s)
	}
	w.Number(n)
}

// Bytes writes bytes whose number the reader knows.
func (w *Writer) Bytes(p []byte) { w.b = append(w.b, p...) }

// Seal is everything as a file whose first line is form.
func (w *Writer) Seal(form string) []byte {
	head := Writer{b: []byte(form)}
	head.Number(int64(len(w.list)))
	for _, s := range w.list {
		head.Text(s)
	}
	out := append(head.b, w.b...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// Reader reads what a Writer wrote, in the same order.
type Reader struct {
	b     []byte
	bad   bool
	names []string
}

// Open begins to read a file whose first line is form; false: it is none, or damaged.
func Open(form string, data []byte) (*Reader, bool) {
	end := len(data) - 4
	if end < len(form) || !strings.HasPrefix(string(data[:len(form)]), form) ||
		binary.LittleEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], castagnoli) {
		return nil, false
	}
	r := &Reader{b: data[len(form):end]}
	for range r.Count() {
		r.names = append(r.names, r.Text())
	}
	return r, !r.bad
}

func (r *Reader) fail() { r.bad, r.b = true, nil }

// Number reads a number.
func (r *Reader) Number() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// Numbers reads several.
func (r *Reader) Numbers(list ...*int64) {
	for _, n := range list {
		*n = r.Number()
	}
}

// Count reads how many of something follow, of which each takes a byte at least.
func (r *Reader) Count() int {
	n := r.Number()
	if n < 0 || n > int64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(n)
}

// Yes reads whether.
func (r *Reader) Yes() bool { return r.Number() == 1 }

// Bytes reads so many bytes.
func (r *Reader) Bytes(n int) []byte {
	if n > len(r.b) {
		r.fail()
		return make([]byte, n)
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// Text reads a text.
func (r *Reader) Text() string { return string(r.Bytes(r.Count())) }

// Name reads what Name wrote.
func (r *Reader) Name() string {
	n := r.Number()
	if n < 0 || n >= int64(len(r.names)) {
		r.fail()
		return ""
	}
	return r.names[n]
}

// Whole says whether everything was as it was written so far, and nothing follows.
func (r *Reader) Whole() bool { return !r.bad && len(r.b) == 0 }
