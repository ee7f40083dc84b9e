package archive

import (
	"io"
	"path/filepath"
	"slices"

	"conclave/session"
	"conclave/transcript"
)

// sessionFeed makes items of the lines of one session file of a program.
type sessionFeed struct {
	index  indexer
	file   session.File
	mapper session.Mapper
	items  []transcript.Item
	seq    int64
	off    int // the last line, in its block
	size   int
	places []place // of the lines of the block so far
	clock  session.Clock
	at     int64 // of the line at hand
	sum    uint32
	beside int64 // what is added to the numbers of the line's entries
	began  int64
	org    origin
	origin *origin
}

// place is where a line stands in its block.
type place struct{ off, size int }

// newSessionFeed returns the feed of a session file.
func newSessionFeed(file session.File, x indexer) *sessionFeed {
	f := &sessionFeed{index: x, file: file, mapper: file.Kind.NewMapper(file, session.Options{Reuse: true})}
	f.org = origin{adapter: file.Kind.Adapter, source: file.Source, session: file.Session, seat: file.Role(),
		project: file.Project}
	if file.Kind.SessionIn != nil {
		f.org.session, f.org.project = "", "" // the file itself says
	}
	file.Link(f.mapper, nil)
	return f
}

// warm lets the mapping see a line that is in the archive already.
func (f *sessionFeed) warm(line []byte) {
	f.items = f.mapper.Append(f.items[:0], line)
	f.begin(line, f.early())
	f.seq += int64(len(f.items))
}

// begin takes up a line whose items begin at early.
func (f *sessionFeed) begin(line []byte, early int) {
	aside := early < len(f.items) && !searchable(f.items[early].Type)
	f.at, f.sum = f.clock.Line(f.mapper.Time(), line, aside), lineSum(line)
	f.beside = 0
	if place := session.Place(f.file.Source, line); place != f.file.Source {
		f.beside = besideFrom + int64(lineSum([]byte(place)))
	}
}

// besideFrom is from where on the entries of what lies beside a session's own files
// are numbered, each file's from a number that its name gives: those of the session
// have the first ones, and both are numbers of one session.
const besideFrom = 1 << 32

// add appends the items of a line, which stands at off in its block.
func (f *sessionFeed) add(dst []item, line []byte, off int) []item {
	f.items = f.mapper.Append(f.items[:0], line)
	early := f.early()
	for i := range early {
		dst = append(dst, f.late(f.items[i].Type, i))
	}
	f.begin(line, early)
	if off == 0 {
		f.opened()
	}
	f.off, f.size = off, len(line)
	f.places = append(f.places, place{off, len(line)})
	for i := early; i < len(f.items); i++ {
		it := f.item(f.items[i].Type, i, i-early)
		if searchable(f.items[i].Type) && !f.index.off {
			f.index.text = f.mapper.Words(f.index.text[:0], i)
			f.index.index(&it, f.sum)
		}
		dst = append(dst, it)
	}
	return dst
}

// opened says that a block begins.
func (f *sessionFeed) opened() { f.places = f.places[:0] }

// early counts the items at hand that are of the line before: they come before
// the one that has its bytes.
func (f *sessionFeed) early() int {
	if n := slices.IndexFunc(f.items, func(it transcript.Item) bool { return it.Raw != nil }); n > 0 {
		return n
	}
	return 0
}

// late is an item that the mapping held back: it stands where the last line does,
// behind the items of that line.
func (f *sessionFeed) late(typ transcript.Type, i int) item { return f.item(typ, i, partLate+i) }

// holds says that the mapping holds something back for its place alone: it is
// better not to end a block here.
func (f *sessionFeed) holds() bool {
	h, ok := f.mapper.(session.Holder)
	return ok && h.Holding()
}

// due appends what the mapping holds back for its place alone: the next line
// stands in another block.
func (f *sessionFeed) due(dst []item) []item {
	h, ok := f.mapper.(session.Holder)
	if !ok {
		return dst
	}
	for i, t := range h.Due() {
		dst = append(dst, f.late(t.Type, i))
	}
	return dst
}

// flush appends what the mapping held back for a line that did not come.
func (f *sessionFeed) flush(dst []item, off, size int) []item {
	f.off, f.size = off, size
	for i, t := range f.mapper.Flush() {
		dst = append(dst, f.late(t.Type, i))
	}
	return dst
}

// identify finds out whose session it is by how the file begins. All of its
// entries have one origin.
func (f *sessionFeed) identify(r io.Reader) error {
	held := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(held)
	start, err := session.ReadStart(r, *held)
	if err != nil {
		return err
	}
	b := session.Begin(f.file, start)
	f.org.session, f.org.whose, f.began = b.Session, b.ID, b.At
	if b.Directory != "" {
		f.org.project = b.Directory
	}
	f.org.prompt = filepath.Base(f.org.project) + "/" + f.org.session
	org := f.org // rows that wait for the writer hold it, and not the feed
	f.origin = &org
	return nil
}

// item is the item at i of the mapping's last, the part-th of its line.
func (f *sessionFeed) item(typ transcript.Type, i, part int) item {
	f.seq++
	it := item{typ: typ, seq: f.beside + f.seq, at: f.at, part: part, off: f.off, size: f.size, origin: f.origin}
	facts := f.mapper.Facts(i)
	if facts.Back > 0 {
		f.putBack(&it, facts)
	}
	it.take(facts)
	it.setLine(f.sum, f.size)
	return it
}

// putBack puts an item that was held back where its own line stands, with the time
// of that.
func (f *sessionFeed) putBack(it *item, facts session.Facts) {
	if facts.At != 0 {
		it.at = facts.At
	}
	it.part = partElsewhere
	if n := len(f.places) - 1 - facts.Back; n >= 0 {
		it.part, it.off, it.size = partLate, f.places[n].off, f.places[n].size
	}
}

// The numbers of items that their line alone does not give, from where on: what
// comes when the mapping is done with the line, and what is of a line in an earlier
// block.
const (
	partLate      = 100
	partElsewhere = 1000
)
