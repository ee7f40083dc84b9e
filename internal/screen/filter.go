package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// form is how a filter shows what must not be done.
type form int

const (
	line     form = iota // one line: breaks and tabs are shown, too
	block                // lines and tabs are kept
	raw                  // a block for a terminal in raw mode: a line ends in \r\n
	edited               // the same, with returns and backspaces
	jsonText             // escapes, for the inside of JSON strings
)

// maxMarks is how many marks may stand on one letter: more paint over the
// lines above.
const maxMarks = 8

// filter makes foreign text fit to be shown. Its zero value is for one line.
type filter struct {
	form   form
	indent string // goes before every line but the first and those without text
	fresh  bool   // a line has begun, and nothing stands in it yet
	prev   rune   // what went through last, 0 for nothing
	marks  int    // that stand on it
	tail   []byte // what cannot be judged without what follows
}

// feed appends p, shown, to dst. The end of p may be kept for the next call,
// unless it is the final one.
func (f *filter) feed(dst, p []byte, final bool) []byte {
	if len(f.tail) > 0 {
		p = append(f.tail, p...)
		f.tail = nil
	}
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		if !final && f.waits(r, p, size) {
			f.tail = append([]byte(nil), p...)
			return dst
		}
		next, _ := utf8.DecodeRune(p[size:])
		if f.fresh && r != '\n' && !(r == '\r' && next == '\n') {
			dst, f.fresh = append(dst, f.indent...), false
		}
		if r == utf8.RuneError && size == 1 {
			dst = f.show(dst, -1, p[0])
		} else {
			dst = f.rune(dst, r, next)
		}
		p = p[size:]
	}
	if final {
		f.prev, f.marks = 0, 0
	}
	return dst
}

// waits says whether the first rune of p depends on what is not there yet.
func (f *filter) waits(r rune, p []byte, size int) bool {
	if r == utf8.RuneError && size == 1 {
		return !utf8.FullRune(p)
	}
	return (r == '\r' && f.form != edited || depends(r)) && !utf8.FullRune(p[size:])
}

func (f *filter) rune(dst []byte, r, next rune) []byte {
	switch {
	case r == '\n' && f.form != line:
		f.prev, f.marks, f.fresh = 0, 0, true
		return append(dst, '\n')
	case r == '\t' && f.form != line:
		f.prev, f.marks = r, 0
		return append(dst, '\t')
	case r == '\r' && f.form == block && next == '\n':
		return dst // a line's end, as some write it
	case r == '\r' && f.form == raw && next == '\n', (r == '\r' || r == '\b') && f.form == edited:
		return append(dst, byte(r))
	case r == '\r' && f.form == jsonText:
		return append(dst, ' ') // inside a string it would be escaped already
	case r < utf8.RuneSelf && r >= ' ' && r != 0x7f:
		f.prev, f.marks = r, 0
		return append(dst, byte(r))
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		f.marks++
	} else {
		f.marks = 0
	}
	if f.marks > maxMarks || !harmless(f.prev, r, next) {
		return f.show(dst, r, 0)
	}
	f.prev = r
	return utf8.AppendRune(dst, r)
}

// show writes what stands for a rune, or, when that is negative, for a byte.
func (f *filter) show(dst []byte, r rune, b byte) []byte {
	f.prev, f.marks = 0, 0
	switch {
	case f.form == jsonText && r < 0:
		return append(dst, `\ufffd`...)
	case f.form == jsonText && r > 0xffff:
		r -= 0x10000
		return fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	case f.form == jsonText:
		return fmt.Appendf(dst, `\u%04x`, r)
	case r < 0:
		return fmt.Appendf(dst, "⟨0x%02X⟩", b)
	case r < ' ':
		return utf8.AppendRune(dst, 0x2400+r)
	case r == 0x7f:
		return utf8.AppendRune(dst, 0x2421)
	}
	return fmt.Appendf(dst, "⟨U+%04X⟩", r)
}

// oneLine is foreign text as one line.
func oneLine(text string) string { return shown(filter{}, text) }

func shown(f filter, text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return text
	}
	return string(f.feed(nil, []byte(text), true))
}
