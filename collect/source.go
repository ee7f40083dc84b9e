package collect

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"conclave/internal/jsontext"
	"conclave/internal/tail"
	"conclave/session"
	"conclave/transcript"
	"conclave/workspace"
)

// allOfIt says that every entry of a line is on the record.
const allOfIt = -1

// source is one file and the entries that come from it.
type source struct {
	sess *recording
	t    target
	how  string // it was found: "hook", "scan", "event" or "import"

	file  *session.Follower
	items []transcript.Item
	gen   int // of file, as its mapping knows it

	// What is on the record of the present content, and how much of it has
	// been met again.
	ledger *ledger
	done   int
	raws   int // lines mapped
	ofRaw  int // items of the last of them
	stops  []int64

	generation int
	stated     position // as last written
	fresh      bool     // entries since then
	expect     tail.Position

	since    time.Time // first seen
	active   time.Time // something new last came
	linked   bool
	moved    bool // the path has changed
	settled  bool // unchanged since an earlier run; not opened
	stopping bool // the last line is being delivered

	lines, entries, added int64
	waiting               int64 // bytes of a last line whose other half is still to come
	found                 int64 // its size, when it was
	size                  int64 // at the end, or as the index has it
	unknown               map[string]int64
	faults                []string
	complained            string // of what the log was told last
}

// attach connects the source with what its session's record knows of it.
func (s *source) attach() {
	p := s.sess.past.source(s.t.Place())
	s.ledger, s.done = p.ledger, p.done
	s.generation, s.stated, s.expect = p.at.Generation, p.at, p.at.Position
	s.stops, s.size = p.stops, 0
	s.follow(p.stops)
}

// follow begins the file at its first byte.
func (s *source) follow(cuts []int64) {
	if s.file != nil {
		s.file.Close()
	}
	o := &s.sess.c.o
	s.file = session.Follow(s.t.File, s.sess.callers, tail.Options{ReadSize: o.MaxReadBytes, MaxLine: o.maxLine,
		PieceSize: o.pieceSize, Cuts: cuts}, s.since, func() session.Mapper {
		return s.t.Kind.NewMapper(s.t.File, session.Options{Reuse: true}) // items are recorded at once
	})
	s.gen = 0
	s.fromStart()
}

// fromStart forgets what was met of the content. What is on the record stays
// in the ledger.
func (s *source) fromStart() {
	s.raws, s.ofRaw, s.lines, s.entries = 0, 0, 0, 0
	s.unknown = s.file.Mapper.Unknown()
}

// move goes on with the file at the path that it has now.
func (s *source) move() error {
	s.moved = false
	s.done, s.stops, s.expect = allOfIt, nil, tail.Position{}
	s.fresh = true
	s.follow(nil)
	return s.announce()
}

// announce says that the file was found, once per record and path.
func (s *source) announce() error {
	key := [2]string{s.t.Source, s.t.Path}
	if s.sess.past.seen[key] {
		return nil
	}
	s.sess.past.seen[key] = true
	if s.t.Source == transcript.Main {
		return s.sess.emitter.PathDiscovered(s.t.Path, s.how)
	}
	return s.sess.emitter.SubagentDiscovered(s.t.Source, s.t.Path, s.how)
}

// read takes lines until there are none for now or about limit bytes were
// taken. more says that there may be further ones.
func (s *source) read(limit int64, last bool) (took int64, more bool, err error) {
	if !s.linked {
		// A note that cannot be read keeps no line from the record.
		if s.linked, _ = s.file.Link(last); !s.linked {
			return 0, false, nil
		}
	}
	for took < limit && !s.sess.c.hurry() {
		before := s.file.Offset()
		if !s.file.Next() {
			s.unreadable()
			return took, false, s.anew()
		}
		if err := s.anew(); err != nil {
			return took, false, err
		}
		if s.file.Offset() > before {
			took += s.file.Offset() - before
		}
		if err := s.line(); err != nil {
			return took, false, err
		}
	}
	return took, true, nil
}

// unreadable says in the log, once, that the file cannot be read.
func (s *source) unreadable() {
	err := s.file.Err()
	if err == nil {
		s.complained = ""
	} else if s.complained != err.Error() {
		s.complained = err.Error()
		s.sess.emitter.Fault(s.t.Source, err)
	}
}

// anew notices that the content has been begun anew. What the mapping held
// back belongs to the content before it.
func (s *source) anew() error {
	if s.file.Generation() == s.gen {
		return nil
	}
	for _, it := range s.file.Mapper.Flush() {
		if err := s.item(it); err != nil {
			return err
		}
	}
	s.gen = s.file.Generation()
	s.done, s.stops, s.expect = allOfIt, nil, tail.Position{}
	s.file.Restart()
	s.fromStart()
	return nil
}

// line maps the line at hand.
func (s *source) line() error {
	line := s.file.Line()
	s.lines++
	s.items = s.file.Map(s.items[:0])
	take := s.all
	if len(line) >= s.sess.c.o.giant {
		take = s.giantLine
	}
	if err := take(); err != nil {
		return err
	}
	s.check()
	for len(s.stops) > 0 && s.file.Offset() >= s.stops[0] {
		s.stops = s.stops[1:]
		for _, it := range s.file.Mapper.Flush() {
			if err := s.item(it); err != nil {
				return err
			}
		}
	}
	if s.file.Offset()-s.stated.Offset > stateEvery {
		return s.state(false)
	}
	return nil
}

// stateEvery is after how many bytes a position is stated in any case.
const stateEvery = 8 << 20

// check compares what was read up to the stated position with what had been
// read when it was stated.
func (s *source) check() {
	if s.expect.Offset == 0 || s.file.Offset() < s.expect.Offset {
		return
	}
	now := s.file.Position()
	if now.Offset == s.expect.Offset && now.SHA256 != s.expect.SHA256 && s.raws <= s.ledger.n {
		const fault = "the bytes up to the stated position are not those that were read"
		s.faults = append(s.faults, fault)
		s.sess.emitter.Fault(s.t.Source, fmt.Errorf("%s: %s", s.t.Path, fault))
	}
	s.expect = tail.Position{}
}

// item takes one item: known ones are passed over, others recorded.
func (s *source) item(it transcript.Item) error {
	s.entries++
	s.ofRaw++
	if it.Raw != nil {
		s.raws++
		s.ofRaw = 1
		if s.raws <= s.ledger.n && s.ledger.at(s.raws-1) != s.ledger.hash(it.Raw) {
			if err := s.diverge(); err != nil {
				return err
			}
		}
	}
	if s.known() {
		return nil
	}
	if _, err := s.sess.emitter.Emit(it); err != nil {
		return err
	}
	if it.Raw != nil {
		s.ledger.add(s.ledger.hash(it.Raw))
		s.done = 1
	} else if s.done != allOfIt {
		s.done++
	}
	s.added++
	s.fresh, s.sess.unstated = true, true
	s.active = time.Now()
	return nil
}

// known says whether the item at hand is on the record.
func (s *source) known() bool {
	switch {
	case s.raws == 0 || s.raws > s.ledger.n:
		return false
	case s.raws < s.ledger.n || s.done == allOfIt:
		return true
	}
	return s.ofRaw <= s.done
}

// diverge begins a new generation: the content differs from what is on the
// record, from this line on.
func (s *source) diverge() error {
	kept := s.raws - 1
	s.ledger.truncate(kept)
	s.done, s.stops, s.expect = allOfIt, nil, tail.Position{}
	s.file.Uncut()
	s.generation++
	p := s.position()
	p.Kept, p.Stop = &kept, s.stopping
	s.stated = p
	return s.sess.event(p)
}

func (s *source) position() position {
	return position{Source: s.t.Source, Beside: s.t.Beside, Path: s.t.Path, Position: s.file.Position(),
		Lines: s.lines, Entries: s.entries, Generation: s.generation}
}

// state writes the position when there is something new to state.
func (s *source) state(stop bool) error {
	if !s.fresh && !stop || s.file == nil {
		return nil
	}
	s.fresh = false
	p := s.position()
	p.Stop = stop
	s.stated = p
	return s.sess.event(p)
}

// finish reads to the end that the file has now, and delivers the rest.
func (s *source) finish() error {
	size := s.file.Size()
	for {
		_, more, err := s.read(1<<20, true)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if s.sess.c.hurry() {
			s.size = s.file.Size()
			return nil // the rest is for the next time
		}
		if s.file.Offset() > size {
			s.size = s.file.Offset()
			return nil // it grows faster than it is read: the rest is for the next time
		}
	}
	s.size = s.file.Size()
	return s.end()
}

// letGo forgets a file that is in the index, until it changes.
func (s *source) letGo() {
	s.file.Close()
	s.file, s.items, s.ledger, s.settled = nil, nil, nil, true
}

// tornAfter is how long a half line waits for its other half. Programs write a
// line at once; who has not gone on by then was cut off.
const tornAfter = 10 * time.Minute

// halfLine says that the file ends in the middle of a line that is being written:
// what is there of it is no JSON yet, and was written a short while ago. Taken
// as it is, neither half would mean anything.
func (s *source) halfLine() bool {
	n := s.file.Pending()
	if n == 0 || n > session.MaxLine {
		return false
	}
	f, err := workspace.OpenNamed(s.t.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || time.Since(info.ModTime()) > tornAfter {
		return false
	}
	half := make([]byte, n)
	if _, err := f.ReadAt(half, s.file.Offset()); err != nil && err != io.EOF {
		return false
	}
	return bytes.HasPrefix(bytes.TrimSpace(half), []byte("{")) && !jsontext.Valid(half)
}

// end delivers a last line without newline, and what the mapping holds back.
// That reading stopped here is stated first: whoever goes on after a crash in
// between does the same.
func (s *source) end() error {
	var items []transcript.Item
	if s.waiting = 0; s.halfLine() {
		s.waiting = s.file.Pending()
	} else if s.file.Finish(); s.file.Next() {
		s.lines++
		items = s.file.Map(nil)
		if len(s.file.Line()) >= s.sess.c.o.giant {
			for i := range items {
				slim(&items[i])
			}
		}
	}
	items = append(items, s.file.Mapper.Flush()...)
	if len(items) > 0 {
		s.stopping = true
		if err := s.state(true); err != nil {
			return err
		}
	}
	for _, it := range items {
		if err := s.item(it); err != nil {
			return err
		}
	}
	return s.state(false)
}
