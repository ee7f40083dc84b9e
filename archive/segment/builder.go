package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// Builder collects documents for a segment. The zero value is empty. It is not
// safe for concurrent use.
type Builder struct {
	docs  []doc
	ids   []uint32 // of the words of all documents
	terms []term
	text  []byte   // of all terms
	slots []uint64 // by hash: its upper half, and the number of a term plus one

	// Memory for laying out, kept for the next segment.
	lists []uint32 // the documents of all terms, by rank
	order []uint32 // the numbers of terms
}

// doc is a document; its words are those from the end of the one before on.
type doc struct {
	number int64
	first  int
}

type term struct {
	key   uint64 // the first bytes, to sort by
	at    uint32 // in text
	size  uint32
	count uint32 // of documents
	end   uint32 // of its list, while lists are made
}

// seed makes it impossible to write a text that fills one slot of the table.
var seed = maphash.MakeSeed()

// Add adds a document with its distinct words, each with its length, one byte,
// before it (index.Bag). A number may come several times: the words of one
// document are all that were added with it.
func (b *Builder) Add(number int64, words []byte) {
	b.docs = append(b.docs, doc{number, len(b.ids)})
	for len(words) > 0 {
		n := 1 + int(words[0])
		id := b.term(words[1:n])
		b.terms[id].count++
		b.ids = append(b.ids, id)
		words = words[n:]
	}
}

// term returns the number of a word.
func (b *Builder) term(w []byte) uint32 {
	if 2*len(b.terms) >= len(b.slots) {
		b.grow()
	}
	h := maphash.Bytes(seed, w)
	mask := uint64(len(b.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := b.slots[i]
		if s == 0 {
			b.slots[i] = h>>32<<32 | uint64(len(b.terms)+1)
			b.terms = append(b.terms, term{key: sortKey(w), at: uint32(len(b.text)), size: uint32(len(w))})
			b.text = append(b.text, w...)
			return uint32(len(b.terms) - 1)
		}
		if s>>32 == h>>32 {
			if id := uint32(s) - 1; bytes.Equal(b.word(id), w) {
				return id
			}
		}
	}
}

func (b *Builder) word(id uint32) []byte {
	t := &b.terms[id]
	return b.text[t.at : t.at+t.size]
}

func (b *Builder) grow() {
	b.slots = make([]uint64, max(1<<12, 2*len(b.slots)))
	mask := uint64(len(b.slots) - 1)
	for id := range b.terms {
		h := maphash.Bytes(seed, b.word(uint32(id)))
		i := h & mask
		for b.slots[i] != 0 {
			i = (i + 1) & mask
		}
		b.slots[i] = h>>32<<32 | uint64(id+1)
	}
}

// sortKey orders words by their first eight bytes.
func sortKey(w []byte) uint64 {
	var first [8]byte
	copy(first[:], w)
	return binary.BigEndian.Uint64(first[:])
}

// Segment lays out what was added, in pages of about so many bytes, and empties
// the builder; nil when nothing was added.
func (b *Builder) Segment(pageSize int) *Segment {
	if len(b.docs) == 0 {
		return nil
	}
	numbers := b.fillLists()
	b.sortTerms()
	l := newLayout(pageSize)
	for _, id := range b.order {
		t := &b.terms[id]
		l.term(b.word(id))
		l.list(numbers, b.lists[t.end-t.count:t.end])
	}
	s := l.finish()
	s.Documents, s.Words = int64(len(numbers)), int64(len(b.lists))
	b.reset()
	return s
}

// fillLists gives every term the ranks of its documents, ascending, and returns
// the number of each rank.
func (b *Builder) fillLists() (numbers []int64) {
	ends := make([]int, len(b.docs)) // of the words of each document
	for i := range b.docs {
		ends[i] = len(b.ids)
		if i > 0 {
			ends[i-1] = b.docs[i].first
		}
	}
	sorted := make([]int, len(b.docs))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(x, y int) int { return cmp.Compare(b.docs[x].number, b.docs[y].number) })
	// Lists are filled from where they begin; t.end runs ahead of what is filled.
	begin := uint32(0)
	for i := range b.terms {
		t := &b.terms[i]
		t.end, begin = begin, begin+t.count
		t.count = 0
	}
	b.lists = slices.Grow(b.lists[:0], len(b.ids))[:len(b.ids)]
	for _, i := range sorted {
		if last := len(numbers) - 1; last < 0 || numbers[last] != b.docs[i].number {
			numbers = append(numbers, b.docs[i].number)
		}
		rank := uint32(len(numbers) - 1)
		for _, id := range b.ids[b.docs[i].first:ends[i]] {
			t := &b.terms[id]
			if t.count > 0 && b.lists[t.end-1] == rank {
				continue // two entries under one number have the word
			}
			b.lists[t.end] = rank
			t.end++
			t.count++
		}
	}
	return numbers
}

func (b *Builder) sortTerms() {
	b.order = slices.Grow(b.order[:0], len(b.terms))[:len(b.terms)]
	for i := range b.order {
		b.order[i] = uint32(i)
	}
	slices.SortFunc(b.order, func(x, y uint32) int {
		if n := cmp.Compare(b.terms[x].key, b.terms[y].key); n != 0 {
			return n
		}
		return bytes.Compare(b.word(x), b.word(y))
	})
}

func (b *Builder) reset() {
	b.docs, b.ids, b.terms, b.text = b.docs[:0], b.ids[:0], b.terms[:0], b.text[:0]
	clear(b.slots)
}
