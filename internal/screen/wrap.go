package screen

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prose stands between these in a Text, with the indent of its first line. They
// are control characters: foreign text cannot hold them, for there they are
// shown, and they never reach a terminal.
const (
	proseStart = "\x0e" // then the indent, then proseFrom
	proseFrom  = "\x06"
	proseEnd   = "\x0f"
)

// Prose is a Text whose lines may be broken between words where a terminal is
// too narrow: what goes on stands behind the indent.
func Prose(indent string, v any) Text {
	return Text{proseStart + indent + proseFrom + plainProse(textOf(v).s) + proseEnd}
}

// plainProse takes the marks of prose out of a text.
func plainProse(text string) string {
	if !strings.Contains(text, proseStart) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, proseStart)
		b.WriteString(before)
		if !ok {
			return strings.ReplaceAll(b.String(), proseEnd, "")
		}
		_, text, _ = strings.Cut(rest, proseFrom)
	}
}

// broken is a text with its prose broken for a terminal of so many columns, of
// which the first line has used some.
func broken(text string, column, width int) string {
	if width < narrowest {
		return plainProse(text)
	}
	var b strings.Builder
	for text != "" {
		before, rest, ok := strings.Cut(text, proseStart)
		b.WriteString(before)
		column = columnAfter(column, []byte(before))
		if !ok {
			break
		}
		indent, rest, _ := strings.Cut(rest, proseFrom)
		prose, after, _ := strings.Cut(rest, proseEnd)
		w := wrapper{width: width, column: column, hang: len(indent)}
		b.Write(w.feed(nil, []byte(prose), true))
		column, text = w.column, after
	}
	return b.String()
}

// narrowest is the terminal that is not worth wrapping for.
const narrowest = 20

// wrapper breaks lines between words. A line that is broken goes on below where
// it began: what begins a line is the program's, at the right edge too.
type wrapper struct {
	width  int  // 0: nothing is broken
	column int  // where the next character goes
	hang   int  // where a line that is broken goes on
	fresh  bool // a line has begun, so that hang is its own indent
	spoken bool // the line has a word of this text, be it shorter than hang

	paint bool // ** around words makes them bold
	bold  bool // and does so now

	blanks int    // that stand before word
	word   []byte // what is not written yet, for it may begin the next line
	wide   int    // its columns
}

// feed appends p, broken, to dst. The last word may be kept for the next call,
// unless it is the final one. Half a character is never fed.
func (w *wrapper) feed(dst, p []byte, final bool) []byte {
	for len(p) > 0 {
		if n := ownSequence(p); n > 0 {
			w.word, p = append(w.word, p[:n]...), p[n:]
			continue
		}
		r, size := utf8.DecodeRune(p)
		switch r {
		case '\n':
			dst = append(w.plain(w.flush(dst)), '\n')
			w.column, w.fresh, w.spoken, w.blanks = 0, true, false, 0
		case ' ':
			dst = w.flush(dst)
			w.blanks++
		case '\t':
			dst = append(w.flush(dst), bytes.Repeat([]byte(" "), w.blanks)...)
			dst = append(dst, '\t')
			w.column, w.blanks = (w.column+w.blanks)/8*8+8, 0
		default:
			w.word, w.wide = append(w.word, p[:size]...), w.wide+columns(r)
		}
		p = p[size:]
	}
	if final {
		dst = w.plain(w.flush(dst))
		if w.width > 0 {
			w.blanks = min(w.blanks, max(0, w.width-w.column)) // nobody sees those over the edge
		}
		dst = append(dst, bytes.Repeat([]byte(" "), w.blanks)...)
		w.column, w.blanks = w.column+w.blanks, 0
	}
	return dst
}

// flush writes the word that was kept, in this line or in the next.
func (w *wrapper) flush(dst []byte) []byte {
	if len(w.word) == 0 {
		return dst
	}
	if w.fresh {
		w.hang, w.fresh = min(w.blanks, w.width/2), false
	}
	if gap := w.column + w.blanks; w.blanks >= 3 && w.column > w.hang && gap <= w.width/2 && gap+w.wide <= w.width {
		w.hang = gap // the second column of a list, unless it is too narrow for its first word
	}
	if w.paint {
		w.emphasise()
	}
	if w.width > 0 && w.column+w.blanks+w.wide > w.width && (w.spoken || w.column > w.hang) {
		dst = append(append(dst, '\n'), bytes.Repeat([]byte(" "), w.hang)...)
		w.column, w.blanks = w.hang, 0
	}
	dst = append(append(dst, bytes.Repeat([]byte(" "), w.blanks)...), w.word...)
	w.column += w.blanks + w.wide
	w.word, w.wide, w.blanks, w.spoken = w.word[:0], 0, 0, true
	return dst
}

// emphasise makes the marks of emphasis in the word what they mean. Two stars
// open before a word and close behind one; elsewhere they are what they are.
func (w *wrapper) emphasise() {
	const mark = "**"
	var out []byte
	for rest := w.word; ; {
		before, after, ok := bytes.Cut(rest, []byte(mark))
		out = append(out, before...)
		if !ok {
			break
		}
		rest = after
		last, _ := utf8.DecodeLastRune(out)
		opens := !w.bold && len(after) > 0 && after[0] != '*' && (len(out) == 0 || !letter(last))
		switch {
		case opens || w.bold && len(before) > 0:
			w.bold = opens
			out = append(out, map[bool]string{true: bold, false: reset}[opens]...)
			w.wide -= len(mark)
		default:
			out = append(out, mark...)
		}
	}
	w.word = out
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '*' }

// plain ends the emphasis that a line has left open.
func (w *wrapper) plain(dst []byte) []byte {
	if !w.bold {
		return dst
	}
	w.bold = false
	return append(dst, reset...)
}

// ownSequence is the length of one of the program's own sequences: there are no
// others here.
func ownSequence(p []byte) int {
	if p[0] != '\x1b' {
		return 0
	}
	end := bytes.IndexFunc(p[1:], unicode.IsLetter)
	return max(1, end+2)
}

// columnAfter is where a terminal stands after a text.
func columnAfter(column int, text []byte) int {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		column, text = 0, text[i+1:]
	}
	if i := bytes.LastIndexByte(text, '\r'); i >= 0 {
		column, text = 0, text[i+1:]
	}
	for len(text) > 0 {
		n := ownSequence(text)
		if n == 0 {
			var r rune
			r, n = utf8.DecodeRune(text)
			column += columns(r)
		}
		text = text[n:]
	}
	return column
}

// columns is how wide a terminal draws a character, as far as that is agreed.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r < 0x1160, r >= 0x2e80 && r < 0xa4d0, r >= 0xac00 && r < 0xd7a4, r >= 0xf900 && r < 0xfb00,
		r >= 0xfe30 && r < 0xfe70, r >= 0xff00 && r < 0xff61, r >= 0x1f300 && r < 0x1fb00, r >= 0x20000 && r < 0x40000:
		return 2
	}
	return 1
}
