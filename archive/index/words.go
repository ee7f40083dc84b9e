package index

import (
	"hash/maphash"
	"unicode"
	"unicode/utf8"
)

// The words of a text, for the index: runs of letters and digits, in lower
// case; signs of scripts that are written without spaces one by one. What
// else stands between them separates. Words are cut after maxWord bytes, so
// that a page of base64 is one short word.
const maxWord = 48

// Bag collects the distinct words of a text. The index needs each once: that
// a phrase stands in a text as it was asked for is looked up in the text
// itself, so that the index can do without positions and stays small and fast.
type Bag struct {
	out   []byte // the words, each with its length before it
	word  []byte
	table []uint64 // hashes seen, each with the number of the text in its top
	epoch uint64
	used  int
}

// Reset empties the bag for the next text.
func (b *Bag) Reset() {
	b.out = b.out[:0]
	b.used = 0
	b.epoch++
	if b.table == nil || b.epoch >= 1<<20 {
		b.table = make([]uint64, max(512, len(b.table)))
		b.epoch = 1
	}
}

// AddWord adds a word of at most 255 bytes as it is.
func (b *Bag) AddWord(w []byte) {
	if b.fresh(maphash.Bytes(seed, w)) {
		b.out = append(append(b.out, byte(len(w))), w...)
	}
}

// seed makes it impossible to write a text in which one word hides another.
var seed = maphash.MakeSeed()

// Bytes are the words, each with its length, one byte, before it, until the next
// Reset.
func (b *Bag) Bytes() []byte { return b.out }

func (b *Bag) fresh(h uint64) bool {
	if b.used*2 > len(b.table) {
		b.grow()
	}
	mark := b.epoch<<44 | h&(1<<44-1)
	mask := uint64(len(b.table) - 1)
	for i := h >> 20 & mask; ; i = (i + 1) & mask {
		switch have := b.table[i]; {
		case have == mark:
			return false
		case have>>44 != b.epoch:
			b.table[i] = mark
			b.used++
			return true
		}
	}
}

func (b *Bag) grow() {
	old := b.table
	b.table = make([]uint64, 2*len(old))
	mask := uint64(len(b.table) - 1)
	for _, mark := range old {
		if mark>>44 != b.epoch {
			continue
		}
		for i := (mark >> 20) & mask; ; i = (i + 1) & mask {
			if b.table[i] == 0 {
				b.table[i] = mark
				break
			}
		}
	}
}

// AddText adds the words of a text: those that Each finds. Most stand in the text
// as they are in the index, and are taken from there.
func (b *Bag) AddText(text []byte) {
	for i := 0; i < len(text); {
		if class[text[i]] == 0 && text[i] < utf8.RuneSelf {
			i++
			continue
		}
		start, changed := i, byte(0)
		for i < len(text) && class[text[i]] != 0 {
			changed |= class[text[i]] ^ text[i]
			i++
		}
		switch {
		case i < len(text) && text[i] >= utf8.RuneSelf:
			for i < len(text) && (class[text[i]] != 0 || text[i] >= utf8.RuneSelf) {
				i++
			}
			Each(text[start:i], &b.word, func(w []byte, _, _ int) { b.AddWord(w) })
		case changed == 0:
			b.AddWord(text[start:min(i, start+maxWord)])
		default:
			b.word = b.word[:0]
			for _, c := range text[start:min(i, start+maxWord)] {
				b.word = append(b.word, class[c])
			}
			b.AddWord(b.word)
		}
	}
}

// class has, for ASCII, the lower-case form of what belongs to a word, and 0
// for the rest.
var class = func() (t [256]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	return t
}()

// Each calls fn for every word of text and says where it stands; the word
// is valid until fn returns. buf is memory to work in.
func Each(text []byte, buf *[]byte, fn func(word []byte, start, end int)) {
	word, start := (*buf)[:0], 0
	for i := 0; i < len(text); {
		if class[text[i]] != 0 {
			if len(word) == 0 {
				start = i
			}
			for ; i < len(text) && class[text[i]] != 0; i++ {
				if len(word) < maxWord {
					word = append(word, class[text[i]])
				}
			}
			continue
		}
		if text[i] < utf8.RuneSelf {
			if len(word) > 0 {
				fn(word, start, i)
				word = word[:0]
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		alone := letter && unspaced(r)
		if len(word) > 0 && (!letter || alone) {
			fn(word, start, i)
			word = word[:0]
		}
		switch {
		case alone:
			word = utf8.AppendRune(word, r)
			fn(word, i, i+n)
			word = word[:0]
		case letter:
			if len(word) == 0 {
				start = i
			}
			if len(word) < maxWord {
				word = appendFolded(word, unicode.ToLower(r))
			}
		}
		i += n
	}
	if len(word) > 0 {
		fn(word, start, len(text))
	}
	*buf = word
}

// unspaced says whether r is of a script that is written without spaces.
func unspaced(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x0E00 && r < 0x1100 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar)
}

// appendFolded appends r without its accent where Latin letters have one: who
// looks for cafe finds café.
func appendFolded(dst []byte, r rune) []byte {
	if r >= 0xE0 && r < 0x180 {
		if f := folded[r-0xE0]; f != ' ' {
			return append(dst, f)
		}
	}
	return utf8.AppendRune(dst, r)
}

// folded has the plain letter for U+00E0 to U+017F; a space keeps the letter.
const folded = "aaaaaa ceeeeiiii nooooo ouuuuy y" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii  jjkk llllll  " +
	"llnnnnnn   oooooo  rrrrrrsssssssstttt  uuuuuuuuuuuuwwyyyzzzzzz "

// Of lists the words of a text in order.
func Of(text string) []string {
	var list []string
	var buf []byte
	Each([]byte(text), &buf, func(w []byte, _, _ int) { list = append(list, string(w)) })
	return list
}
