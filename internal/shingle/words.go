package shingle

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord bounds the memory of one word; a longer run of letters (a line of
// base64, minified code) is cut into several words of this many bytes.
const maxWord = 128

// tokeniser turns characters into normalised words.
type tokeniser struct {
	emit func(word []byte, at place)
	word []byte
	line int   // line of the next character, from 1
	pos  int   // its offset in the text
	from place // where the current word began
}

// place is where a word stands in a text.
type place struct {
	line     int // from 1
	from, to int // in bytes
}

// letters says what an ASCII character is in a word: itself in lower case, or
// nothing.
var letters = func() (table [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			table[c] = c
		case 'A' <= c && c <= 'Z':
			table[c] = c + 'a' - 'A'
		}
	}
	return table
}()

func (t *tokeniser) ascii(c byte) {
	if low := letters[c]; low != 0 {
		t.put(low)
		return
	}
	switch c {
	case '\'':
		// "don't" and "don’t" and "dont" are one word.
	case '\n':
		t.flush()
		t.line++
	default:
		t.flush()
	}
}

func (t *tokeniser) wide(r rune) {
	if 0xFF01 <= r && r <= 0xFF5E { // full-width forms of ASCII
		t.ascii(byte(r - 0xFF01 + '!'))
		return
	}
	switch {
	case r == '’', r == '‘', r == 'ʼ', unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r), r == 0x00AD:
		// Marks and invisible characters split no word and tell no two apart.
	case standsAlone(r):
		t.flush()
		t.putRune(r)
		t.pos += utf8.RuneLen(r) // the word ends behind it
		t.flush()
		t.pos -= utf8.RuneLen(r)
	case unicode.IsLetter(r), unicode.IsDigit(r):
		r = unicode.ToLower(r)
		if base, ok := fold(r); ok {
			for i := range len(base) {
				t.put(base[i])
			}
			return
		}
		t.putRune(r)
	default:
		t.flush()
	}
}

// standsAlone says whether a character counts as a word of its own: scripts
// written without spaces would otherwise be one word per sentence.
func standsAlone(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func (t *tokeniser) put(c byte) {
	if len(t.word) == 0 {
		t.from = place{line: t.line, from: t.pos}
	}
	t.word = append(t.word, c)
	if len(t.word) >= maxWord {
		t.flush()
	}
}

func (t *tokeniser) putRune(r rune) {
	if len(t.word) == 0 {
		t.from = place{line: t.line, from: t.pos}
	}
	t.word = utf8.AppendRune(t.word, r)
	if len(t.word) >= maxWord {
		t.flush()
	}
}

func (t *tokeniser) flush() {
	if len(t.word) == 0 {
		return
	}
	t.from.to = max(t.pos, t.from.from+1)
	t.emit(t.word, t.from)
	t.word = t.word[:0]
}

// folded lists precomposed Latin letters behind their plain spelling, so that
// the composed and the decomposed form of a name are one word.
const folded = "a:àáâãäåāăą c:çćĉċč d:ďđð e:èéêëēĕėęě g:ĝğġģ h:ĥħ i:ìíîïĩīĭįı j:ĵ k:ķ l:ĺļľŀł n:ñńņňŉ " +
	"o:òóôõöøōŏő r:ŕŗř s:śŝşšș t:ţťŧț u:ùúûüũūŭůűų w:ŵ y:ýÿŷ z:źżž ae:æ oe:œ ss:ß th:þ ff:ﬀ fi:ﬁ fl:ﬂ"

func fold(r rune) (string, bool) {
	if r < 0x00DF || (r > 0x021B && (r < 0xFB00 || r > 0xFB02)) {
		return "", false
	}
	for entry := range strings.FieldsSeq(folded) {
		base, letters, _ := strings.Cut(entry, ":")
		if strings.ContainsRune(letters, r) {
			return base, true
		}
	}
	return "", false
}
