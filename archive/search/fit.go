package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/archive/index"
)

// fit says where terms stand in a text, and how well they fit it.
type fit struct {
	score float64
	spans [][2]int
}

// fitText looks terms up in a text; false when it does not match after all:
// the index knows single words only, and may speak of a neighbour.
func fitText(text []byte, terms []term) (fit, bool) {
	counts := make([]int, len(terms))
	at := make([]int, len(terms))      // how many words of the term are matched
	begun := make([][]int, len(terms)) // where they began
	var f fit
	var buf []byte
	words := 0
	index.Each(text, &buf, func(w []byte, start, end int) {
		words++
		for i := range terms {
			t := &terms[i]
			if !t.matches(at[i], w) {
				at[i], begun[i] = 0, begun[i][:0]
				if !t.matches(0, w) {
					continue
				}
			}
			begun[i] = append(begun[i], start)
			if at[i]++; at[i] < len(t.words) {
				continue
			}
			counts[i]++
			if !t.not && len(f.spans) < 200 {
				f.spans = append(f.spans, [2]int{begun[i][0], end})
			}
			at[i], begun[i] = 0, begun[i][:0]
		}
	})
	for i, t := range terms {
		if (counts[i] > 0) == t.not {
			return f, false
		}
		if !t.not {
			tf := float64(counts[i])
			f.score += float64(len(t.words)) * tf / (tf + 1.2*(0.25+0.75*float64(words)/300))
		}
	}
	slices.SortFunc(f.spans, func(a, b [2]int) int { return a[0] - b[0] })
	return f, true
}

func (t *term) matches(i int, w []byte) bool {
	want := t.words[i]
	if t.prefix && i == len(t.words)-1 {
		return len(w) >= len(want) && string(w[:len(want)]) == want
	}
	return string(w) == want
}

// snippet cuts the part of the text with the most matches, on one line, and
// says where they stand in it.
func (f *fit) snippet(text []byte, size int) (string, [][2]int) {
	if len(f.spans) == 0 {
		return oneLine(text, size), nil
	}
	best, most := 0, 0
	for i := range f.spans {
		n := 0
		for j := i; j < len(f.spans) && f.spans[j][1]-f.spans[i][0] < size*3/4; j++ {
			n++
		}
		if n > most {
			best, most = i, n
		}
	}
	start := max(0, f.spans[best][0]-size/4)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	end := min(len(text), start+size)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	var b strings.Builder
	if start > 0 {
		b.WriteString("… ")
	}
	var marks [][2]int
	at := start
	for _, sp := range f.spans {
		if sp[0] < at || sp[1] > end {
			continue
		}
		b.WriteString(flatten(text[at:sp[0]]))
		from := b.Len()
		b.WriteString(flatten(text[sp[0]:sp[1]]))
		marks = append(marks, [2]int{from, b.Len()})
		at = sp[1]
	}
	b.WriteString(flatten(text[at:end]))
	if end < len(text) {
		b.WriteString(" …")
	}
	return b.String(), marks
}

// flatten puts text on one line: what is no visible character is a space.
func flatten(text []byte) string {
	var b strings.Builder
	space := false
	for _, r := range string(text) {
		if r <= ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 || r >= 0x80 && r < 0xa0 {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

func oneLine(text []byte, size int) string {
	short := text
	if len(short) > size {
		short = short[:size]
		for len(short) > 0 && !utf8.Valid(short) && len(short) > size-4 {
			short = short[:len(short)-1]
		}
	}
	s := strings.TrimSpace(flatten(bytes.TrimSpace(short)))
	if len(text) > size {
		s += " …"
	}
	return s
}
