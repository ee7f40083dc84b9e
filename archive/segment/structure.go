package segment

import (
	"errors"
	"math/bits"
	"slices"
)

// The rows of the _data table that say what is in the others.
const (
	TotalsRow    = 1
	StructureRow = 10
)

// Structure is the record of the segments of an index.
type Structure struct {
	cookie [4]byte // of FTS5's settings
	writes uint64  // leaves that were ever written; FTS5 counts its work by it
	levels []level
}

// level has the segments of about one size, the oldest first. The first merging
// of them are on their way into one of the next level.
type level struct {
	merging  uint64
	segments []place
}

// place is a segment: its id, and which of its leaves are left of a merge.
type place struct{ id, first, last uint64 }

var errStructure = errors.New("the index of words has a structure that this program does not know: " +
	"conclave archive rebuild makes it anew")

// maxSegments is how many FTS5 allows.
const maxSegments = 2000

// Forget is how many leaves to merge, none, so that FTS5 forgets the structure
// that it remembers on a connection: it would not see that this one has changed it.
const Forget = 0

// ReadStructure reads the record.
func ReadStructure(b []byte) (*Structure, error) {
	if len(b) < 7 || b[4] == 0xff {
		return nil, errStructure
	}
	s := new(Structure)
	copy(s.cookie[:], b)
	b = b[4:]
	next := func() uint64 {
		v, n := varint(b)
		b = b[n:]
		if n == 0 {
			b = nil
		}
		return v
	}
	levels, total := next(), next()
	s.writes = next()
	if levels > 64 || total > maxSegments {
		return nil, errStructure
	}
	have := uint64(0)
	for range levels {
		l := level{merging: next()}
		n := next()
		if have += n; have > total {
			return nil, errStructure
		}
		for range n {
			l.segments = append(l.segments, place{next(), next(), next()})
		}
		s.levels = append(s.levels, l)
	}
	if have != total || len(b) > 0 {
		return nil, errStructure
	}
	return s, nil
}

// Bytes are the record.
func (s *Structure) Bytes() []byte {
	b := appendVarint(slices.Clone(s.cookie[:]), uint64(len(s.levels)))
	total := 0
	for _, l := range s.levels {
		total += len(l.segments)
	}
	b = appendVarint(appendVarint(b, uint64(total)), s.writes)
	for _, l := range s.levels {
		b = appendVarint(appendVarint(b, l.merging), uint64(len(l.segments)))
		for _, p := range l.segments {
			b = appendVarint(appendVarint(appendVarint(b, p.id), p.first), p.last)
		}
	}
	return b
}

// Add gives a segment of so many leaves its id, and a place on the level of its
// size.
func (s *Structure) Add(leaves int) (id int, err error) {
	used := map[uint64]bool{}
	for _, l := range s.levels {
		for _, p := range l.segments {
			used[p.id] = true
		}
	}
	if len(used) >= maxSegments {
		return 0, errStructure
	}
	for id = 1; used[uint64(id)]; id++ {
	}
	at := levelOf(leaves)
	for len(s.levels) <= at {
		s.levels = append(s.levels, level{})
	}
	s.levels[at].segments = append(s.levels[at].segments, place{uint64(id), 1, uint64(leaves)})
	s.writes += uint64(leaves)
	return id, nil
}

// A level has segments of up to wide times the leaves of the one below it, and
// they are merged when there are that many: as many as FTS5 allows, for a merge of
// large ones takes longer than laying them out did, and a search hardly notices.
const wide = 16

// levelOf is 0 for fewer than wide leaves, and one more for each wide times as
// many.
func levelOf(leaves int) int { return (bits.Len(uint(leaves)|1) - 1) / bits.TrailingZeros(wide) }

// Merge says how many leaves FTS5 should merge after a segment of so many was
// added, 0 when there is nothing to merge. What is written passes the levels above
// it once each; a little more is always done, so that many small ones keep up.
func (s *Structure) Merge(leaves int) int {
	for _, l := range s.levels {
		if l.merging > 0 || len(l.segments) >= wide {
			return max(leaves, 4*wide) * (len(s.levels) - levelOf(leaves))
		}
	}
	return 0
}

// AddTotals adds to the record of how many documents and words there are.
func AddTotals(b []byte, documents, words int64) []byte {
	d, n := varint(b)
	w, _ := varint(b[n:])
	return appendVarint(appendVarint(nil, d+uint64(documents)), w+uint64(words))
}
