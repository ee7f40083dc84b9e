package flow

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"conclave/quest"
	"conclave/room"
)

// citation is a place that somebody pointed to, and whether it is there.
type citation struct {
	Text   string `json:"text"` // as written: docs/design.md:12
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// cited finds path:line and path:line-line. What could be a time, a port or a
// ratio is told apart by the path: it has a letter in it, and no scheme before
// it.
var cited = regexp.MustCompile(`([\p{L}\p{N}_.@+-]+(?:/[\p{L}\p{N}_.@+()-]+)*):(\d+)(?:-(\d+))?`)

// maxCitedFile bounds the files that citations are checked in.
const maxCitedFile = 32 << 20

// view is where citations are looked up: the project as a party seat sees it,
// and what else was in the room.
type view struct {
	root *os.Root
	// withheld is the rule of the room that was looked out of.
	withheld room.Rule
	given    map[string][]byte
	lines    map[string]int // of files that were counted; -1: not there
}

func openView(workspace string, withheld room.Rule, g quest.Grants, history []byte) (*view, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	v := &view{root: root, withheld: withheld, given: map[string][]byte{}, lines: map[string]int{}}
	for _, p := range g.Given {
		v.given[p.Name] = p.Bytes
	}
	if len(history) > 0 {
		v.given[historyName] = history
	}
	return v, nil
}

func (v *view) close() error { return v.root.Close() }

// check looks up every citation of a text, each once.
func (v *view) check(text string) []citation {
	var out []citation
	seen := map[string]bool{}
	for _, m := range cited.FindAllStringSubmatchIndex(text, -1) {
		whole, name := text[m[0]:m[1]], text[m[2]:m[3]]
		if seen[whole] || !isPath(text[:m[0]], name) {
			continue
		}
		seen[whole] = true
		last := text[m[4]:m[5]]
		if m[6] >= 0 {
			last = text[m[6]:m[7]]
		}
		out = append(out, v.verify(whole, name, last))
	}
	return out
}

// isPath tells a path from a time, a host or a ratio.
func isPath(before, name string) bool {
	if strings.HasSuffix(before, "://") || strings.HasSuffix(before, "//") {
		return false
	}
	letter := strings.ContainsFunc(name, func(r rune) bool {
		return r >= 'A' && r <= 'Z' || r >= 'a' &&
			r <= 'z' || r > 0x7f
	})
	return letter && (strings.ContainsAny(name, "./") || strings.HasSuffix(before, "`")) && !strings.HasSuffix(name,
		"localhost")
}

func (v *view) verify(whole, name, last string) citation {
	line, err := strconv.Atoi(last)
	n := v.count(path.Clean(name))
	switch {
	case n < 0:
		return citation{Text: whole, Reason: "there is no such file in view"}
	case err != nil || line < 1 || line > n:
		return citation{Text: whole, Reason: fmt.Sprintf("the file has %d lines", n)}
	}
	return citation{Text: whole, OK: true}
}

// count returns how many lines a file has, -1 for one that is not in view.
func (v *view) count(name string) int {
	if n, ok := v.lines[name]; ok {
		return n
	}
	n := -1
	if data, ok := v.given[name]; ok {
		n = countLines(data)
	} else if rel := strings.TrimPrefix(name, "workspace/"); !v.hidden(rel) {
		n = v.countFile(rel)
	}
	v.lines[name] = n
	return n
}

// hidden asks what the room's view asked. A directory on the way counts for
// what is below it.
func (v *view) hidden(rel string) bool {
	return v.withheld(rel, false, func() (io.ReadCloser, error) { return v.openPlain(rel) }) != ""
}

func (v *view) openPlain(rel string) (*os.File, error) {
	info, err := v.root.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCitedFile {
		return nil, fs.ErrInvalid
	}
	return v.root.Open(rel)
}

func (v *view) countFile(rel string) int {
	f, err := v.openPlain(rel)
	if err != nil {
		return -1
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCitedFile))
	if err != nil {
		return -1
	}
	return countLines(data)
}

func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

var (
	nothingSeen = regexp.MustCompile(`(?i)\bI\b[^.!?\n]{0,300}?\b(?:see|saw|find|found) (?:nothing|none|neither|no)\b`)
	listItem    = regexp.MustCompile(`(?m)^\s*(?:[-*+]|\d{1,3}[.)])\s+\S`)
)

// sawNothing: whoever says that they found nothing, and nothing else, has
// nothing to cite.
func sawNothing(text string) bool {
	return nothingSeen.MatchString(text) && !listItem.MatchString(text)
}

// marked is a text for the report, with a mark at every citation that did not
// check out. The words themselves stay in the transcript as they were said.
func marked(text string, list []citation) string {
	if len(list) == 0 && !sawNothing(text) {
		return strings.TrimRight(text, "\n") + "\n\n*(cites nothing: could not be verified)*"
	}
	for _, c := range list {
		if !c.OK {
			text = strings.Replace(text, c.Text, c.Text+" [not verified: "+c.Reason+"]", 1)
		}
	}
	return text
}
