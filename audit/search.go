package audit

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"conclave/internal/jsontext"
)

// search looks through every string of a JSON value.
func (j *judge) search(where string, value []byte) {
	eachString(value, 0, func(text string) { j.searchText(where, []byte(text)) })
}

// searchText looks for denied windows and canaries in a text.
func (j *judge) searchText(where string, text []byte) {
	if t := j.turns[j.at]; t != nil {
		t.Searched++
	}
	if j.opened == nil {
		return
	}
	for _, canary := range j.opened.Canaries {
		if bytes.Contains(text, []byte(canary)) {
			j.find(RuleCanary, j.frameN, "a canary stands in %s", where)
		}
	}
	if j.denied == nil {
		return
	}
	for _, hit := range j.denied.Find(text) {
		j.find(RuleFound, j.frameN, "%s stands in %s, from line %d on (%d windows of eight words)", hit.Source, where, hit.Line, hit.Windows)
	}
}

// maxNesting bounds how often JSON inside strings of JSON is opened: a tool's
// arguments are such a string, and a result may quote another.
const maxNesting = 4

// eachString calls fn for every string in a JSON value, and for the strings of
// JSON texts that stand in strings.
func eachString(value []byte, depth int, fn func(string)) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return
	}
	switch value[0] {
	case '{':
		_ = jsontext.Walk(value, func(_, v []byte) error {
			eachString(v, depth, fn)
			return nil
		})
	case '[':
		_ = jsontext.Elements(value, func(v []byte) error {
			eachString(v, depth, fn)
			return nil
		})
	case '"':
		text, ok := jsontext.String(value)
		if !ok {
			return
		}
		fn(text)
		if inner := []byte(strings.TrimSpace(text)); depth < maxNesting && len(inner) > 1 &&
			(inner[0] == '{' || inner[0] == '[') && jsontext.Valid(inner) {
			eachString(inner, depth+1, fn)
		}
	}
}

// appendPaths adds the paths that a tool call names: absolute ones, and those
// that climb.
func appendPaths(list []string, detail []byte) []string {
	eachString(detail, 0, func(text string) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return strings.ContainsRune(" \t\n\r\"'`;|&<>(){}[]=,", r)
		}) {
			named := strings.HasPrefix(word, "/") && len(word) > 1 || strings.HasPrefix(word, "~/") || strings.Contains(word, "../")
			if clean := path.Clean(word); named && len(word) < 4096 && !slices.Contains(list, clean) {
				list = append(list, clean)
			}
		}
	})
	return list
}
