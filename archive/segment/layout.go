package segment

import "encoding/binary"

// Segment is a segment that no database has yet. The ids of its pages are those
// that they have in segment 0: see PageID.
type Segment struct {
	Documents, Words int64
	Leaves           int
	Pages            []Page  // rows of the _data table
	Splits           []Split // rows of the _idx table
}

// Page is a leaf of the index, or a page of the list of one word's leaves.
type Page struct {
	ID   int64
	Data []byte
}

// Split says on which leaf the words begin that are not before Term.
type Split struct {
	Term []byte
	Leaf int64 // twice its number, and one if its last word has a list of leaves
}

// The id of a page, from its lowest bits on: 31 of the page's number, 5 of the
// level in a list of leaves, 1 for those lists, and the segment.
const (
	levelShift   = 31
	leafListFlag = 1 << 36
	segmentShift = 37
)

// PageID is the id of a page in a segment.
func PageID(segment int, page int64) int64 { return int64(segment)<<segmentShift | page }

// mainIndex begins every word: there are no others for prefixes.
const mainIndex = '0'

// fewLeaves is how many leaves without a word of their own a word's documents
// take at least to have a list of them.
const fewLeaves = 4

// layout writes the leaves of a segment. A leaf has a header of two numbers (where
// its first document stands if that is of a word of an earlier leaf, and where its
// words end), the words with their documents, and at its end where each word
// begins.
type layout struct {
	size     int // of a page
	out      *Segment
	memory   []byte // for pages to come
	page     []byte
	footer   []byte
	lastWord int   // where the last word of the page begins
	number   int64 // of the page
	word     []byte
	noWord   bool // the page has none yet
	noDoc    bool // nor a document
	split    Split
	empty    int         // leaves without a word since the last one with
	lists    []leafLevel // of the last word, the lowest level first
	bytes    []byte
}

// leafLevel is a level of the list of one word's leaves.
type leafLevel struct {
	page  []byte
	id    int64
	last  int64 // document
	begun bool
}

func newLayout(size int) *layout {
	return &layout{size: size, out: new(Segment), number: 1, page: make([]byte, 4, size+64), noWord: true,
		lists: make([]leafLevel, 1), split: Split{Term: []byte{}, Leaf: 1}}
}

// term begins a word. Words come in ascending order.
func (l *layout) term(w []byte) {
	size := 1 + len(w)
	if len(l.page)+len(l.footer)+size+2 >= l.size && len(l.page) > 4 {
		l.endLeaf()
	}
	l.footer = appendVarint(l.footer, uint64(len(l.page)-l.lastWord))
	l.lastWord = len(l.page)
	shared := 0
	if len(l.word) > 0 {
		shared = 1 + common(l.word[1:], w)
	}
	if l.noWord {
		if l.number != 1 {
			// What tells the word from the one before it is enough.
			split := append([]byte{mainIndex}, w...)
			l.endSplit()
			l.split = Split{Term: split[:min(shared+1, size)], Leaf: l.number}
		}
		l.page = append(appendVarint(l.page, uint64(size)), mainIndex)
		l.page = append(l.page, w...)
	} else {
		l.page = appendVarint(appendVarint(l.page, uint64(shared)), uint64(size-shared))
		l.page = append(l.page, w[shared-1:]...)
	}
	l.word = append(append(l.word[:0], mainIndex), w...)
	l.noWord, l.noDoc = false, false
	l.lists[0].id = l.number
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// list writes the documents of the word that was begun last, by their ranks.
func (l *layout) list(numbers []int64, ranks []uint32) {
	room := l.size - len(l.page) - len(l.footer) - 1
	if len(ranks) <= room { // it takes a byte each at least
		l.bytes = l.bytes[:0]
		last := int64(0)
		for _, r := range ranks {
			l.bytes = appendVarint(l.bytes, uint64(numbers[r]-last))
			last = numbers[r]
		}
		if len(l.bytes) <= room {
			l.page = append(l.page, l.bytes...)
			return
		}
	}
	last := int64(0)
	for _, r := range ranks {
		number := numbers[r]
		if l.noDoc {
			binary.BigEndian.PutUint16(l.page, uint16(len(l.page)))
			l.page = appendVarint(l.page, uint64(number))
			l.noDoc = false
			l.listLeaf(number)
		} else {
			l.page = appendVarint(l.page, uint64(number-last))
		}
		last = number
		if len(l.page)+len(l.footer) >= l.size {
			l.endLeaf()
		}
	}
}

// listLeaf notes the first document of a leaf that begins within a word's.
func (l *layout) listLeaf(number int64) {
	for i := 0; ; i++ {
		v := &l.lists[i]
		full := len(v.page) >= l.size
		if full {
			v.page[0] = 1 // there is one above it
			l.emit(listID(i, v.id), v.page)
			if len(l.lists) == i+1 {
				l.lists = append(l.lists, leafLevel{})
				v = &l.lists[i]
			}
			if up := &l.lists[i+1]; len(up.page) == 0 {
				first := firstDocument(v.page)
				up.id, up.last, up.begun = v.id, first, true
				up.page = appendVarint(appendVarint(append(up.page, 0), uint64(v.id)), uint64(first))
			}
			v.page, v.begun = v.page[:0], false
			v.id++
		}
		if v.begun {
			v.page = appendVarint(v.page, uint64(number-v.last))
		} else {
			below := l.number
			if i > 0 {
				below = l.lists[i-1].id
			}
			flag := byte(0)
			if full {
				flag = 1
			}
			v.page = appendVarint(appendVarint(append(v.page, flag), uint64(below)), uint64(number))
		}
		v.last, v.begun = number, true
		if !full {
			return
		}
	}
}

func listID(level int, page int64) int64 { return leafListFlag | int64(level)<<levelShift | page }

// firstDocument is the one that a page of a list begins with.
func firstDocument(page []byte) int64 {
	_, n := varint(page[1:])
	v, _ := varint(page[1+n:])
	return int64(v)
}

func (l *layout) endLeaf() {
	binary.BigEndian.PutUint16(l.page[2:], uint16(len(l.page)))
	if l.noWord {
		l.empty++
	}
	l.page = append(l.page, l.footer...)
	l.emit(l.number, l.page)
	l.page = append(l.page[:0], 0, 0, 0, 0)
	l.footer, l.lastWord = l.footer[:0], 0
	l.number++
	l.out.Leaves++
	l.noWord, l.noDoc = true, true
}

// endSplit writes the split of the leaf whose last word is complete, with the list
// of the leaves that follow it.
func (l *layout) endSplit() {
	s := Split{Term: l.split.Term, Leaf: l.split.Leaf << 1}
	if len(l.lists[0].page) > 0 && l.empty >= fewLeaves {
		s.Leaf |= 1
	}
	for i := range l.lists {
		v := &l.lists[i]
		if len(v.page) == 0 {
			break
		}
		if s.Leaf&1 != 0 {
			l.emit(listID(i, v.id), v.page)
		}
		v.page, v.begun = v.page[:0], false
	}
	l.empty = 0
	l.out.Splits = append(l.out.Splits, s)
}

func (l *layout) finish() *Segment {
	if len(l.page) > 4 {
		l.endLeaf()
	}
	l.endSplit()
	return l.out
}

// emit keeps a page. Pages stand together in memory: there are thousands.
func (l *layout) emit(id int64, data []byte) {
	if len(data) > cap(l.memory)-len(l.memory) {
		l.memory = make([]byte, 0, max(1<<20, len(data)))
	}
	at := len(l.memory)
	l.memory = append(l.memory, data...)
	l.out.Pages = append(l.out.Pages, Page{id, l.memory[at:len(l.memory):len(l.memory)]})
}

// appendVarint appends a number as SQLite writes it: seven bits to a byte, the
// highest first; of nine bytes the last has eight.
func appendVarint(dst []byte, v uint64) []byte {
	if v < 1<<7 {
		return append(dst, byte(v))
	}
	if v >= 1<<56 {
		for shift := 57; shift >= 8; shift -= 7 {
			dst = append(dst, byte(v>>shift)|0x80)
		}
		return append(dst, byte(v))
	}
	n := 1
	for x := v >> 7; x != 0; x >>= 7 {
		n++
	}
	for shift := 7 * (n - 1); shift > 0; shift -= 7 {
		dst = append(dst, byte(v>>shift)|0x80)
	}
	return append(dst, byte(v&0x7f))
}

// varint reads such a number and says how long it is, 0 where none is.
func varint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 8 {
			return v<<8 | uint64(c), 9
		}
		if v = v<<7 | uint64(c&0x7f); c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
