package archive

import (
	"bytes"

	"conclave/session/kind"
	"conclave/transcript"
)

// lineReader maps lines of a session file and says what their entries say: when
// they are taken up, for the index, and again when one of them is shown. It is the
// only way from such a line to words, so that what is found is what is seen.
type lineReader struct {
	adapter string
	mapper  kind.Mapper
	line    []byte            // that was read last
	items   []transcript.Item // of it
	taken   claudeLine        // see apart
	extra   []byte            // see beside
}

func newLineReader(k *kind.Kind, file kind.File, o kind.Options) lineReader {
	return lineReader{adapter: k.Adapter, mapper: k.NewMapper(file, o)}
}

// read maps a line.
func (r *lineReader) read(line []byte) {
	r.line, r.taken = line, claudeLine{}
	r.items = r.mapper.Append(r.items[:0], line)
}

// apart is the line taken apart, once; nil where nothing was said on it: lines
// that only copy a request are long.
func (r *lineReader) apart() *claudeLine {
	if r.adapter != transcript.AdapterClaude || len(r.items) == 0 ||
		r.items[0].Type == transcript.SystemEvent || r.items[0].Type == transcript.Unknown {
		return nil
	}
	if r.taken.line == nil {
		r.taken.read(r.line)
	}
	return &r.taken
}

// text appends the words of an item of the line.
func (r *lineReader) text(dst []byte, t *transcript.Item) []byte {
	if rest, whole := r.beside(t.Detail); whole && searchable(t.Type) {
		if l := r.apart(); l != nil {
			return bytes.TrimRight(l.text(dst, t.Type, members(rest, "block_index")[0]), "\n")
		}
	}
	return textOf(dst, r.adapter, t.Type, t.Detail)
}

var lineMember = []byte(`{"sdk_entry":`)

// beside is the detail of an item without the line, which is most of it and has
// been read; whole says that the line was there.
func (r *lineReader) beside(detail []byte) (rest []byte, whole bool) {
	rest, whole = bytes.CutPrefix(detail, lineMember)
	if !whole || !bytes.HasPrefix(rest, r.line) {
		return detail, false
	}
	r.extra = append(append(r.extra[:0], '{'), bytes.TrimPrefix(rest[len(r.line):], []byte(","))...)
	return r.extra, true
}
