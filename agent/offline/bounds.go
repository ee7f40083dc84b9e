package offline

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	headingLine = regexp.MustCompile(`(?m)^#{1,6}\s+\S`)
	linkForm    = regexp.MustCompile(`\[[^\]\n]*\]\(([^)\s]+)[^)\n]*\)`)
)

// bound holds a number of a file, or of the whole work, against a limit.
func (w *work) bound(f *workFile, how string, limit int, unit string) (claim, bool) {
	files, of := w.files, "the work"
	if f != nil {
		files, of = []*workFile{f}, "`"+f.path+"`"
	}
	unit = strings.TrimSuffix(unit, "s")
	n := 0
	for _, f := range files {
		if unit != "file" && unit != "byte" && unit != "kb" && unit != "kib" && (f.unread || f.binary) {
			return claim{}, false
		}
		n += measure(f, unit)
	}
	switch unit {
	case "kb", "kib":
		limit, unit = limit*1024, "byte"
	}
	c := claim{holds: within(n, how, limit), evidence: fmt.Sprintf("%s has %s", of, count(n, unit))}
	if f != nil && unit == "line" && n > 0 {
		at := cite{path: f.path, line: n, last: true}
		c.cites, c.evidence = []cite{at}, c.evidence+": it ends at "+at.String()
	}
	return c, !w.cut
}

func measure(f *workFile, unit string) int {
	switch unit {
	case "line":
		return countLines([]byte(f.text))
	case "word":
		return len(strings.Fields(f.text))
	case "character":
		return utf8.RuneCountInString(f.text)
	case "heading", "section":
		return len(headingLine.FindAllString(f.text, -1))
	case "link":
		return len(linkForm.FindAllString(f.text, -1))
	case "file":
		return 1
	}
	return int(f.size)
}

func within(n int, how string, limit int) bool {
	switch strings.ToLower(how) {
	case "at most", "no more than", "not more than", "up to", "≤", "<=":
		return n <= limit
	case "under", "below", "fewer than", "less than", "<":
		return n < limit
	case "at least", "no fewer than", "no less than", "≥", ">=":
		return n >= limit
	case "more than", "over", ">":
		return n > limit
	}
	return n == limit
}

// parses says whether a file is what its name says, where that can be told.
func parses(f *workFile) claim {
	if why, at := syntaxFault(f); why != "" {
		return claim{evidence: "it does not parse: " + why, cites: at}
	}
	return claim{holds: true, evidence: fmt.Sprintf("`%s` parses", f.path)}
}

// syntaxFault is what is wrong with a Go or JSON file, or with the shape of a
// YAML file; "" when nothing is, or nothing can be said.
func syntaxFault(f *workFile) (string, []cite) {
	switch {
	case f.unread || f.binary || f.text == "":
		return "", nil
	case strings.HasSuffix(f.path, ".go"):
		_, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.SkipObjectResolution)
		if err == nil {
			return "", nil
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		return first, nil
	case strings.HasSuffix(f.path, ".json"):
		var v any
		if err := json.Unmarshal([]byte(f.text), &v); err != nil {
			return fmt.Sprintf("`%s` is no JSON: %v", f.path, err), nil
		}
	case strings.HasSuffix(f.path, ".yml"), strings.HasSuffix(f.path, ".yaml"):
		for n, line := range numbered(f.text) {
			if strings.HasPrefix(line, "\t") && strings.TrimSpace(line) != "" {
				at := cite{path: f.path, line: n}
				return "YAML is never indented by a tab, as in " + at.String(), []cite{at}
			}
		}
	}
	return "", nil
}
