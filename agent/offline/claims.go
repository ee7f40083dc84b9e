package offline

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// claim is what became of one clause that can be verified by looking: a file
// is there, it holds a text, a number is within bounds.
type claim struct {
	clause   string
	holds    bool
	evidence string
	cites    []cite
}

// work is a set of files to hold claims against, read once.
type work struct {
	tree  fs.FS
	files []*workFile
	cut   bool // there is more than could be read
}

type workFile struct {
	path   string
	size   int64
	text   string // "" unless it is text and was read
	binary bool
	unread bool
}

// openWork reads the files below a tree, within the limits. Vendored and
// hidden files count: they were named.
func openWork(tree fs.FS, opts limits, alive func() error) (*work, error) {
	w := &work{tree: tree}
	var total int64
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return nil
		}
		if err := alive(); err != nil {
			return err
		}
		if len(w.files) >= opts.files {
			w.cut = true
			return fs.SkipAll
		}
		f := &workFile{path: p}
		if info, err := d.Info(); err == nil {
			f.size = info.Size()
		}
		w.files = append(w.files, f)
		if f.size > opts.fileSize || total+f.size > opts.bytes {
			f.unread = true
			return nil
		}
		data, err := readLimited(tree, p, opts.fileSize)
		if err != nil {
			f.unread = true
			return nil
		}
		total += int64(len(data))
		if f.binary = strings.IndexByte(string(data[:min(len(data), 8<<10)]), 0) >= 0 || !utf8.Valid(data); !f.binary {
			f.text = string(data)
		}
		return nil
	})
	return w, err
}

// file finds a file by its path, or by the end of its path or without its
// extension, when only one file is called so.
func (w *work) file(name string) *workFile {
	name = strings.TrimPrefix(path.Clean(name), "./")
	var found *workFile
	for _, f := range w.files {
		if f.path == name {
			return f
		}
		if strings.HasSuffix(f.path, "/"+name) || path.Ext(name) == "" && strings.EqualFold(strings.TrimSuffix(f.path, path.Ext(f.path)), name) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

func (w *work) dir(name string) bool {
	name = strings.Trim(path.Clean(name), "/")
	return slices.ContainsFunc(w.files, func(f *workFile) bool {
		return strings.HasPrefix(f.path, name+"/") || strings.Contains(f.path, "/"+name+"/")
	})
}

// line finds the first line that holds the text, whatever its case.
func (f *workFile) line(text string) hit {
	lower := strings.ToLower(text)
	return lineWhere(f.text, func(line string) bool { return strings.Contains(strings.ToLower(line), lower) })
}

func (f *workFile) at(h hit) cite { return cite{path: f.path, line: h.line, quote: quote(h.text)} }

// top points at the first line of a file that holds something.
func (f *workFile) top() cite {
	h := lineWhere(f.text, func(line string) bool { return quote(line) != "" })
	h.line = max(h.line, 1)
	return f.at(h)
}

const (
	nameExpr  = "`?([\\w./-]*[\\w-]\\.[A-Za-z][\\w]{0,7}|[\\w.-]+/[\\w./-]*|README|LICENSE|LICENCE|Makefile|Dockerfile|CHANGELOG|CODEOWNERS)`?"
	textExpr  = "(?:`([^`]+)`|[\"“]([^\"”]+)[\"”])"
	boundExpr = `(at most|no more than|not more than|up to|under|below|fewer than|less than|at least|no fewer than|no less than|more than|over|exactly|≤|<=|<|≥|>=|>)\s*(\d+)\s*(lines?|words?|characters?|bytes|kib|kb|files?|headings?|sections?|links?)`
)

var (
	clauseSplit  = regexp.MustCompile(`(?i);\s*|,?\s+and\s+|,\s+|\.\s+`)
	existsClaim  = regexp.MustCompile(`(?i)^(?:there is |there are |the work (?:has|contains|holds|includes) )?(?:an? |the )?(?:file |directory )?` + nameExpr + `(?:\s+(?:exists?|is there|is present|is in place|is part of the work|is included))?$`)
	holdsClaim   = regexp.MustCompile(`(?i)^(?:(?:the )?(?:file )?` + nameExpr + `\s+|it\s+)?(?:contains?|mentions?|says?|names?|includes?|holds?)\s+(?:the (?:words?|text|line|phrase) )?` + textExpr + `$`)
	lacksClaim   = regexp.MustCompile(`(?i)^(?:(?:the )?(?:file )?` + nameExpr + `\s+|it\s+|the work\s+|no file\s+)?(?:(?:does not|do not|doesn't|never) (?:contain|mention|say|name|include|hold)|contains no|has no|holds|contains)\s+(?:any |the (?:words?|text) )?(?:` + textExpr + `|(TODO|FIXME|TBD)s?)(?: notes?| markers?)?$`)
	noneClaim    = regexp.MustCompile(`(?i)^(?:there (?:is|are) )?no (TODO|FIXME|TBD)s?(?: notes?| markers?)?(?: (?:is |are )?(?:left|remains?|in the work|anywhere))*$`)
	boundClaim   = regexp.MustCompile(`(?i)^(?:(?:the )?(?:file )?` + nameExpr + `\s+|it\s+|the work\s+)?(?:has|have|is|holds|contains|stays|with)?\s*` + boundExpr + `(?: long)?$`)
	parsesClaim  = regexp.MustCompile(`(?i)^(?:the )?(?:file )?` + nameExpr + `\s+(?:is valid (?:json|go)|parses)$`)
	leadingWords = regexp.MustCompile(`(?i)^(that|then|also|both|which|and)\s+`)
)

// verify holds a text against the work, clause by clause. Known says that
// every clause was one that looking can settle.
func (w *work) verify(text string) (claims []claim, known bool) {
	known = true
	last := (*workFile)(nil)
	for _, clause := range clauses(text) {
		c, f, ok := w.clause(clause, last)
		if f != nil {
			last = f
		}
		if !ok {
			known = false
			continue
		}
		c.clause = clause
		claims = append(claims, c)
	}
	return claims, known && len(claims) > 0
}

// clauses splits a sentence where it says several things. Text in backquotes
// or quotation marks is one thing, whatever stands in it.
func clauses(text string) []string {
	var kept []string
	hide := func(s string) string {
		kept = append(kept, s)
		return "\x00" + strconv.Itoa(len(kept)-1) + "\x00"
	}
	text = regexp.MustCompile("`[^`]*`|[\"“][^\"”]*[\"”]").ReplaceAllStringFunc(text, hide)
	var out []string
	for _, c := range clauseSplit.Split(strings.TrimRight(strings.TrimSpace(text), ".!"), -1) {
		for i, k := range kept {
			c = strings.ReplaceAll(c, "\x00"+strconv.Itoa(i)+"\x00", k)
		}
		if c = strings.TrimSpace(leadingWords.ReplaceAllString(strings.TrimSpace(c), "")); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// clause verifies one clause. A clause without a subject is about the file of
// the one before it.
func (w *work) clause(text string, last *workFile) (claim, *workFile, bool) {
	subject := func(name string) (*workFile, bool) {
		if name == "" {
			return last, last != nil
		}
		f := w.file(name)
		return f, f != nil
	}
	if m := noneClaim.FindStringSubmatch(text); m != nil {
		return w.lacks(nil, m[1]), nil, true
	}
	if m := boundClaim.FindStringSubmatch(text); m != nil {
		f, ok := subject(m[1])
		if m[1] != "" && !ok {
			return absent(m[1]), nil, true
		}
		c, known := w.bound(f, m[2], atoi(m[3]), strings.ToLower(m[4]))
		return c, f, known
	}
	if m := parsesClaim.FindStringSubmatch(text); m != nil {
		if f, ok := subject(m[1]); ok {
			return parses(f), f, !f.unread && (strings.HasSuffix(f.path, ".json") || strings.HasSuffix(f.path, ".go"))
		}
		return absent(m[1]), nil, true
	}
	if m := holdsClaim.FindStringSubmatch(text); m != nil {
		f, ok := subject(m[1])
		if m[1] != "" && !ok {
			return absent(m[1]), nil, true
		}
		if f != nil {
			return f.holds(m[2] + m[3]), f, !f.unread && !f.binary
		}
	}
	if m := lacksClaim.FindStringSubmatch(text); m != nil {
		f, ok := subject(m[1])
		if m[1] != "" && !ok {
			return absent(m[1]), nil, true
		}
		if negative.MatchString(text) {
			return w.lacks(f, m[2]+m[3]+m[4]), f, f == nil && !w.unread() || f != nil && !f.unread
		}
	}
	if m := existsClaim.FindStringSubmatch(text); m != nil {
		return w.exists(m[1])
	}
	return claim{}, nil, false
}

var negative = regexp.MustCompile(`(?i)\b(not|no|never|n't)\b`)

func (w *work) unread() bool {
	return w.cut || slices.ContainsFunc(w.files, func(f *workFile) bool { return f.unread })
}

func absent(name string) claim {
	return claim{evidence: fmt.Sprintf("the work holds no `%s`", name)}
}

func (w *work) exists(name string) (claim, *workFile, bool) {
	f := w.file(name)
	switch {
	case f == nil && w.dir(name):
		return claim{holds: true, evidence: fmt.Sprintf("`%s` is there", name)}, nil, true
	case f == nil:
		return absent(name), nil, true
	case f.size == 0:
		return claim{evidence: fmt.Sprintf("`%s` is there and is empty", f.path)}, f, true
	case f.unread || f.binary:
		return claim{holds: true, evidence: fmt.Sprintf("`%s` is there, %d bytes", f.path, f.size)}, f, true
	}
	c := f.top()
	return claim{holds: true, evidence: "it is there: " + c.String(), cites: []cite{c}}, f, true
}

func (f *workFile) holds(text string) claim {
	h := f.line(text)
	if h.line == 0 {
		return claim{evidence: fmt.Sprintf("no line of `%s` holds “%s”", f.path, text)}
	}
	c := f.at(h)
	return claim{holds: true, evidence: "it says so: " + c.String(), cites: []cite{c}}
}

func (w *work) lacks(f *workFile, text string) claim {
	files := w.files
	if f != nil {
		files = []*workFile{f}
	}
	for _, f := range files {
		if h := f.line(text); h.line > 0 {
			c := f.at(h)
			return claim{evidence: "it is there: " + c.String(), cites: []cite{c}}
		}
	}
	return claim{holds: true, evidence: fmt.Sprintf("“%s” stands in none of %s", text, count(len(files), "file"))}
}
