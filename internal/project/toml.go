package project

import (
	"strings"
)

// tomlValue is a value of a TOML file, as far as manifests need it.
type tomlValue struct {
	line  int
	text  string // of a string, or the raw word of anything else
	list  []tomlValue
	table map[string]tomlValue
}

// tomlPair is a key with its value, and the table it stands in.
type tomlPair struct {
	table string // "project.optional-dependencies"; of an array of tables too
	nth   int    // of an array of tables
	head  int    // the line in which the table is named
	key   string
	tomlValue
}

// tomlReader reads the common part of TOML. What it does not understand it
// leaves out, to the end of the line.
type tomlReader struct {
	s    string
	at   int
	line int
}

// readTOML lists the pairs of a text in order. Dotted keys are joined to their
// table.
func readTOML(text string) []tomlPair {
	r := &tomlReader{s: text, line: 1}
	var out []tomlPair
	table, headLine, nth := "", 0, map[string]int{}
	for r.skip(); r.at < len(r.s); r.skip() {
		if r.s[r.at] == '[' {
			double := strings.HasPrefix(r.s[r.at:], "[[")
			head, _, _ := strings.Cut(r.s[r.at:], "\n")
			head = strings.TrimLeft(head, "[")
			head, _, _ = strings.Cut(head, "]")
			table, headLine = joinKeys(head), r.line
			if double {
				nth[table]++
			}
			r.toLineEnd()
			continue
		}
		start := r.line
		key, ok := r.key()
		if !ok {
			r.toLineEnd()
			continue
		}
		v, ok := r.value(0)
		if !ok {
			r.toLineEnd()
			continue
		}
		v.line = start
		t, k := table, joinKeys(key)
		if i := strings.LastIndexByte(k, '.'); i >= 0 && !strings.ContainsAny(key, `"'`) {
			t, k = strings.TrimPrefix(t+"."+k[:i], "."), k[i+1:]
			out = append(out, tomlPair{t, nth[table], start, k, v})
		} else {
			out = append(out, tomlPair{t, nth[table], headLine, k, v})
		}
		r.toLineEnd()
	}
	return out
}

// joinKeys takes blanks and quotation marks from a dotted key.
func joinKeys(s string) string {
	var parts []string
	for part := range strings.SplitSeq(s, ".") {
		parts = append(parts, strings.Trim(strings.TrimSpace(part), `"'`))
	}
	return strings.Join(parts, ".")
}

// skip passes blanks, line ends and comments.
func (r *tomlReader) skip() {
	for r.at < len(r.s) {
		switch c := r.s[r.at]; c {
		case '\n':
			r.line++
			r.at++
		case ' ', '\t', '\r':
			r.at++
		case '#':
			for r.at < len(r.s) && r.s[r.at] != '\n' {
				r.at++
			}
		default:
			return
		}
	}
}

func (r *tomlReader) toLineEnd() {
	for r.at < len(r.s) && r.s[r.at] != '\n' {
		r.at++
	}
}

func (r *tomlReader) key() (string, bool) {
	rest := r.s[r.at:]
	i := strings.IndexAny(rest, "=\n")
	if i <= 0 || rest[i] != '=' {
		return "", false
	}
	r.at += i + 1
	return strings.TrimSpace(rest[:i]), true
}

func (r *tomlReader) value(depth int) (tomlValue, bool) {
	for r.at < len(r.s) && (r.s[r.at] == ' ' || r.s[r.at] == '\t') {
		r.at++
	}
	if r.at >= len(r.s) || depth > 16 {
		return tomlValue{}, false
	}
	switch r.s[r.at] {
	case '"', '\'':
		return r.str()
	case '[':
		return r.array(depth)
	case '{':
		return r.inline(depth)
	}
	v := tomlValue{line: r.line}
	end := strings.IndexAny(r.s[r.at:], ",]}#\n")
	if end < 0 {
		end = len(r.s) - r.at
	}
	v.text = strings.TrimSpace(r.s[r.at : r.at+end])
	r.at += end
	return v, v.text != ""
}

func (r *tomlReader) str() (tomlValue, bool) {
	v := tomlValue{line: r.line}
	mark := r.s[r.at : r.at+1]
	if long := strings.Repeat(mark, 3); strings.HasPrefix(r.s[r.at:], long) {
		rest := r.s[r.at+3:]
		i := strings.Index(rest, long)
		if i < 0 {
			return v, false
		}
		v.text = rest[:i]
		r.line += strings.Count(rest[:i], "\n")
		r.at += 6 + i
		return v, true
	}
	var b strings.Builder
	for i := r.at + 1; i < len(r.s) && r.s[i] != '\n'; i++ {
		switch {
		case r.s[i] == '\\' && mark == `"` && i+1 < len(r.s):
			i++
			b.WriteByte(r.s[i])
		case r.s[i] == mark[0]:
			v.text, r.at = b.String(), i+1
			return v, true
		default:
			b.WriteByte(r.s[i])
		}
	}
	return v, false
}

func (r *tomlReader) array(depth int) (tomlValue, bool) {
	v := tomlValue{line: r.line, list: []tomlValue{}}
	r.at++
	for {
		r.skip()
		if r.at >= len(r.s) {
			return v, false
		}
		switch r.s[r.at] {
		case ']':
			r.at++
			return v, true
		case ',':
			r.at++
			continue
		}
		item, ok := r.value(depth + 1)
		if !ok {
			return v, false
		}
		v.list = append(v.list, item)
	}
}

func (r *tomlReader) inline(depth int) (tomlValue, bool) {
	v := tomlValue{line: r.line, table: map[string]tomlValue{}}
	r.at++
	for {
		r.skip()
		if r.at >= len(r.s) {
			return v, false
		}
		switch r.s[r.at] {
		case '}':
			r.at++
			return v, true
		case ',':
			r.at++
			continue
		}
		key, ok := r.key()
		if !ok {
			return v, false
		}
		item, ok := r.value(depth + 1)
		if !ok {
			return v, false
		}
		v.table[joinKeys(key)] = item
	}
}
