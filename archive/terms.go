package archive

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/archive/index"
)

// term is one thing to look for: a word, or words that stand together.
type term struct {
	words  []string
	prefix bool // the last word is how a word begins
	not    bool
}

// parseTerms reads what a person typed.
func parseTerms(s string) ([]term, error) {
	var terms []term
	positive := false
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var t term
		if len(s) > 1 && s[0] == '-' {
			t.not, s = true, s[1:]
		}
		var text string
		if s[0] == '"' {
			text, s, _ = strings.Cut(s[1:], `"`)
		} else if i := strings.IndexAny(s, " \t\n\""); i >= 0 {
			text, s = s[:i], s[i:]
		} else {
			text, s = s, ""
		}
		t.prefix = strings.HasSuffix(text, "*")
		if t.words = index.Of(text); len(t.words) == 0 {
			continue
		}
		positive = positive || !t.not
		terms = append(terms, t)
	}
	if !positive {
		return nil, ErrNoWords
	}
	return terms, nil
}

// matchExpression is what the index is asked; "" when nothing can match.
func (a *Archive) matchExpression(ctx context.Context, terms []term, q Query) (string, error) {
	var all, none []string
	for _, t := range terms {
		if t.not {
			if len(t.words) == 1 {
				none = append(none, quoteWord(t, 0))
			}
			continue
		}
		for i := range t.words {
			all = append(all, quoteWord(t, i))
		}
	}
	if len(q.In) > 0 {
		var types []string
		for _, t := range q.In {
			types = append(types, index.OfType(t))
		}
		all = append(all, anyOf(types))
	}
	if q.Role != "" {
		all = append(all, anyOf([]string{index.OfRole(q.Role)}))
	}
	if q.Project != "" {
		projects, err := a.projects(ctx, q.Project)
		if err != nil || len(projects) == 0 {
			return "", err
		}
		all = append(all, anyOf(projects))
	}
	slices.Sort(all)
	expr := strings.Join(slices.Compact(all), " AND ")
	if len(none) > 0 {
		expr = "(" + expr + ") NOT (" + strings.Join(none, " OR ") + ")"
	}
	return expr, nil
}

func quoteWord(t term, i int) string {
	w := `"` + t.words[i] + `"`
	if t.prefix && i == len(t.words)-1 {
		w += " *"
	}
	return w
}

func anyOf(words []string) string { return `("` + strings.Join(words, `" OR "`) + `")` }

// projects are the marks of the projects whose directory holds part.
func (a *Archive) projects(ctx context.Context, part string) ([]string, error) {
	rows, err := a.reader.QueryContext(ctx, "SELECT DISTINCT project FROM origins WHERE instr(lower(project), lower(?)) > 0 ORDER BY project LIMIT 500", part)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var marks []string
	for rows.Next() {
		var p string
		if err := rows.Scan(&p); err != nil {
			return nil, err
		}
		marks = append(marks, index.OfProject(p))
	}
	return marks, rows.Err()
}

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
