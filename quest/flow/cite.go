package flow

import (
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"conclave/quest"
	"conclave/quest/judging"
	"conclave/room"
)

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
func (v *view) check(text string) []judging.Citation { return judging.Citations(text, v.count) }

// count returns how many lines a file has, -1 for one that is not in view.
func (v *view) count(name string) int {
	if n, ok := v.lines[name]; ok {
		return n
	}
	n := -1
	if data, ok := v.given[name]; ok {
		n = judging.CountLines(data)
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
	return judging.CountLines(data)
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
func marked(text string, list []judging.Citation) string {
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
