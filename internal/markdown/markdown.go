// Package markdown reads the lines of a Markdown text that somebody else wrote, as
// far as the rules of quest and table need it: line ends, bytes that are no text, fenced code
// and headings. It knows no other syntax, changes no words and keeps nothing. Plain
// is the way of somebody else's words into a document of ours.
package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Normalise strips a byte order mark and turns every line end into LF. It is
// applied to whatever is read; everything written is UTF-8 with LF.
func Normalise(s string) string {
	s = strings.TrimPrefix(s, "\ufeff")
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// Readable reports whether bytes are text: valid UTF-8 without NUL.
func Readable(data []byte) bool {
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// Clean makes untrusted bytes text: what is not UTF-8 becomes U+FFFD, NUL
// goes, line ends are normalised.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return Normalise(strings.ReplaceAll(s, "\x00", ""))
}

// EndLine ends a text with exactly one line feed.
func EndLine(s string) string { return strings.TrimRight(s, "\n") + "\n" }

// Fence follows fenced code through the lines of a text.
type Fence struct {
	mark byte
	n    int
}

// Inside reports whether the line is part of fenced code, its fences included.
func (f *Fence) Inside(line string) bool {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return f.n > 0
	}
	n := 0
	for n < len(text) && (text[0] == '`' || text[0] == '~') && text[n] == text[0] {
		n++
	}
	switch {
	case f.n == 0 && n >= 3 && !(text[0] == '`' && strings.Contains(text[n:], "`")):
		f.mark, f.n = text[0], n
		return true
	case f.n > 0 && n >= f.n && text[0] == f.mark && strings.TrimSpace(text[n:]) == "":
		f.n = 0
		return true
	}
	return f.n > 0
}

// Heading reads an ATX heading: its level and its text without trailing marks.
func Heading(line string) (level int, text string) {
	t := strings.TrimLeft(line, " ")
	if len(line)-len(t) > 3 {
		return 0, ""
	}
	for level < len(t) && t[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || (level < len(t) && t[level] != ' ' && t[level] != '\t') {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(t[level:], "# \t"))
}

// FirstHeading returns the text of the first level-1 heading outside fenced code.
func FirstHeading(text string) string {
	var f Fence
	for line := range strings.Lines(Normalise(text)) {
		line = strings.TrimSuffix(line, "\n")
		if f.Inside(line) {
			continue
		}
		if level, t := Heading(line); level == 1 && t != "" {
			return t
		}
	}
	return ""
}
