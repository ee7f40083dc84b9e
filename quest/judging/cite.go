package judging

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Citation is a place that somebody pointed to, and whether it is there.
type Citation struct {
	Text   string `json:"text"` // as written: docs/design.md:12
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`

	// Path and lines are what the text names; EndLine is 0 for one line.
	Path    string `json:"-"`
	Line    int    `json:"-"`
	EndLine int    `json:"-"`
}

// cited finds path:line and path:line-line. What could be a time, a port or a
// ratio is told apart by the path: it has a letter in it, and no scheme before
// it.
var cited = regexp.MustCompile(`([\p{L}\p{N}_.@+-]+(?:/[\p{L}\p{N}_.@+()-]+)*):(\d+)(?:-(\d+))?`)

// Citations looks up every citation of a text, each once. Lines says how many
// lines a file has, -1 for one that is not in view.
func Citations(text string, lines func(name string) int) []Citation {
	var out []Citation
	seen := map[string]bool{}
	for _, m := range cited.FindAllStringSubmatchIndex(text, -1) {
		whole, name := text[m[0]:m[1]], text[m[2]:m[3]]
		if seen[whole] || !isPath(text[:m[0]], name) {
			continue
		}
		seen[whole] = true
		last := text[m[4]:m[5]]
		c := Citation{Text: whole, Path: path.Clean(name)}
		c.Line, _ = strconv.Atoi(last)
		if m[6] >= 0 {
			last = text[m[6]:m[7]]
			c.EndLine, _ = strconv.Atoi(last)
		}
		c.verify(last, lines(c.Path))
		out = append(out, c)
	}
	return out
}

func (c *Citation) verify(last string, n int) {
	line, err := strconv.Atoi(last)
	switch {
	case n < 0:
		c.Reason = "there is no such file in view"
	case err != nil || line < 1 || line > n:
		c.Reason = fmt.Sprintf("the file has %d lines", n)
	default:
		c.OK = true
	}
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

// CountLines is how many lines a text has.
func CountLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}
