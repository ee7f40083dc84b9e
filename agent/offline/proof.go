package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/internal/jsontext"
	"conclave/internal/pattern"
)

// proof is what became of one clause that says an exact fact about a named
// file: that it is there, that it holds a text word for word, that it is so
// long, that it is JSON. Nothing else is ever held for proved.
type proof struct {
	clause   string
	holds    bool
	evidence string
	cites    []cite
}

// facts looks things up in a tree, each file when it is named.
type facts struct {
	tree  fs.FS
	limit int64 // a longer file is not read, and nothing is said about it
}

const (
	pathExpr  = "(?:`([^`\\s]+)`|([\\w-][\\w./-]*\\.[A-Za-z]\\w{0,9}))"
	textExpr  = "(?:the (?:words?|text|line|phrase) )?(?:`([^`]+)`|[\"“]([^\"“”]+)[\"”])"
	boundExpr = `(at most|no more than|not more than|up to|fewer than|less than|at least|no fewer than|no less than|` +
		`more than|exactly|≤|<=|<|≥|>=|>)`
)

// The facts that can be looked up. A clause is one of these from its first
// letter to its last, or it is none.
var (
	subjectExpr = `(?:(?:the )?(?:file )?` + pathExpr + `|it) `
	existsFact  = pattern.New(`(?i)^(?:the )?(?:file )?` + pathExpr + ` (?:exists|is there|is present)$`)
	thereFact   = pattern.New(`(?i)^there is (?:a |an |the )?(?:file )?` + pathExpr + `$`)
	holdsFact   = pattern.New(`(?i)^(?:` + subjectExpr + `)?(?:contains|holds|includes|says|` +
		`mentions) ` + textExpr + `$`)
	lacksFact = pattern.New(`(?i)^(?:` + subjectExpr + `)?(?:does not|doesn't) (?:contain|hold|include|say|` +
		`mention) ` + textExpr + `$`)
	boundFact = pattern.New(`(?i)^(?:` + subjectExpr + `)?(?:has|is) ` + boundExpr + ` ?(\d{1,9}) (lines?|` +
		`words?|characters?|bytes?)(?: long)?$`)
	jsonFact = pattern.New(`(?i)^(?:` + subjectExpr + `)?is valid JSON$`)

	clauseSplit = pattern.New(`(?i);\s*|,?\s+and\s+|,\s+|\.\s+`)
	oneThing    = pattern.New("`[^`]*`|[\"“][^\"”]*[\"”]")
)

// verify holds a text against the tree. It is known only if every clause is a
// fact: a text that says one thing more than was looked up is not judged, and
// neither is one that says "or".
func (x facts) verify(text string) (all []proof, known bool) {
	last := ""
	for _, clause := range clauses(text) {
		p, name, ok := x.clause(clause, last)
		if !ok {
			return nil, false
		}
		last, p.clause = name, clause
		all = append(all, p)
	}
	return all, len(all) > 0
}

// provable says whether a text is nothing but facts that can be looked up.
func provable(text string) bool {
	all := clauses(text)
	for i, c := range all {
		if i == 0 && (strings.HasPrefix(c, "it ") || strings.HasPrefix(c, "It ")) {
			return false
		}
		if !slices.ContainsFunc([]*pattern.Pattern{existsFact, thereFact, holdsFact, lacksFact, boundFact, jsonFact},
			func(form *pattern.Pattern) bool { return form.MatchString(c) }) {
			return false
		}
	}
	return len(all) > 0
}

// clauses splits a sentence where it says several things. Text in backquotes
// or quotation marks is one thing, whatever stands in it.
func clauses(text string) []string {
	var kept []string
	text = oneThing.ReplaceAllStringFunc(text, func(s string) string {
		kept = append(kept, s)
		return "\x00" + strconv.Itoa(len(kept)-1) + "\x00"
	})
	var out []string
	for _, c := range clauseSplit.Split(strings.TrimRight(strings.TrimSpace(text), ".!"), -1) {
		for i, k := range kept {
			c = strings.ReplaceAll(c, "\x00"+strconv.Itoa(i)+"\x00", k)
		}
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// clause looks one fact up. A clause without a subject is about the file of
// the one before it.
func (x facts) clause(text, last string) (proof, string, bool) {
	for _, f := range []struct {
		form *pattern.Pattern
		look func(f *workFile, m []string) (proof, bool)
	}{
		{existsFact, there}, {thereFact, there}, {holdsFact, (*workFile).holds}, {lacksFact, (*workFile).lacks},
		{boundFact, (*workFile).bound}, {jsonFact, (*workFile).json},
	} {
		m := f.form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := m[1] + m[2]
		if name == "" {
			name = last
		}
		if !fs.ValidPath(strings.TrimSuffix(name, "/")) {
			return proof{}, "", false
		}
		file, err := x.open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return proof{evidence: fmt.Sprintf("there is no `%s` in what was put before me", name)}, name, true
		}
		if err != nil {
			return proof{}, "", false
		}
		p, ok := f.look(file, m[3:])
		return p, name, ok
	}
	return proof{}, "", false
}

// open reads a file that was named; a directory has no text.
func (x facts) open(name string) (*workFile, error) {
	dir := strings.HasSuffix(name, "/")
	info, err := fs.Stat(x.tree, strings.TrimSuffix(name, "/"))
	if err != nil {
		return nil, err
	}
	if dir && !info.IsDir() {
		return nil, fs.ErrNotExist
	}
	if info.IsDir() {
		return &workFile{path: name, unread: true}, nil
	}
	return readWork(x.tree, name, info.Size(), x.limit), nil
}

// workFile is a file of the work. Text is empty unless it is text and was read.
type workFile struct {
	path   string
	size   int64
	text   string
	unread bool // too long, or no text
}

func readWork(tree fs.FS, name string, size, limit int64) *workFile {
	f := &workFile{path: name, size: size, unread: true}
	if size > limit {
		return f
	}
	data, err := readLimited(tree, name, limit)
	if err == nil && utf8.Valid(data) && strings.IndexByte(string(data), 0) < 0 {
		f.text, f.unread = string(data), false
	}
	return f
}

func there(f *workFile, _ []string) (proof, bool) {
	p := proof{holds: true, evidence: fmt.Sprintf("`%s` is there", f.path)}
	if h := lineWhere(f.text, func(line string) bool { return quote(line) != "" }); h.line > 0 && citable(f.path) {
		c := cite{path: f.path, line: h.line, quote: quote(h.text)}
		p.evidence, p.cites = "it is there: "+c.String(), []cite{c}
	}
	return p, true
}

func (f *workFile) holds(m []string) (proof, bool) {
	text := m[0] + m[1]
	h := lineWhere(f.text, func(line string) bool { return strings.Contains(line, text) })
	if h.line == 0 {
		return proof{evidence: fmt.Sprintf("no line of `%s` holds “%s”", f.path, text)}, !f.unread
	}
	return proof{holds: true, evidence: fmt.Sprintf("`%s:%d` holds “%s”", f.path, h.line, text), cites: f.at(h.line)}, true
}

func (f *workFile) lacks(m []string) (proof, bool) {
	p, ok := f.holds(m)
	p.holds = !p.holds
	return p, ok
}

func (f *workFile) at(line int) []cite {
	if !citable(f.path) {
		return nil
	}
	return []cite{{path: f.path, line: line}}
}

// bound holds a number against its limit.
func (f *workFile) bound(m []string) (proof, bool) {
	limit, unit, n := atoi(m[1]), strings.TrimSuffix(strings.ToLower(m[2]), "s"), int(f.size)
	switch unit {
	case "line":
		n = countLines([]byte(f.text))
	case "word":
		n = len(strings.Fields(f.text))
	case "character":
		n = utf8.RuneCountInString(f.text)
	}
	return proof{holds: within(n, m[0], limit), evidence: fmt.Sprintf("`%s` has %s", f.path, count(n, unit))}, !f.unread
}

func within(n int, how string, limit int) bool {
	switch strings.ToLower(how) {
	case "at most", "no more than", "not more than", "up to", "≤", "<=":
		return n <= limit
	case "fewer than", "less than", "<":
		return n < limit
	case "at least", "no fewer than", "no less than", "≥", ">=":
		return n >= limit
	case "more than", ">":
		return n > limit
	}
	return n == limit
}

func (f *workFile) json([]string) (proof, bool) {
	if err := jsontext.Check([]byte(f.text)); err != nil {
		return proof{evidence: fmt.Sprintf("`%s` is no JSON: %v", f.path, err)}, !f.unread
	}
	return proof{holds: true, evidence: fmt.Sprintf("`%s` is JSON from its first byte to its last", f.path)}, !f.unread
}
