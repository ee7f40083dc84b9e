package offline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/pattern"
)

// cite points at a line, with words that stand in it. It cannot be had without
// them being checked: an observation is spoken only after verify.
type cite struct {
	path  string
	line  int
	quote string // empty: only that the line is there
	last  bool   // the claim is that the file ends here
}

func (c cite) String() string {
	s := "`" + c.path + ":" + strconv.Itoa(c.line) + "`"
	if c.quote != "" {
		// A code span, as the rules of a quest have it: what is quoted from
		// the work is the work's, and betrays no conversation.
		s += " (`" + c.quote + "`)"
	}
	return s
}

// hit is a line of a file, whole.
type hit struct {
	line int
	text string
}

// place is a citation without its quotation.
func (c cite) place() string { return cite{path: c.path, line: c.line}.String() }

const maxQuote = 90

var looksCited = pattern.New(`\S+:\d`)

// quote is a part of the line that can be repeated: whole words, nothing that
// would read as a quotation mark or as a citation of its own. It is empty when
// the line has no such part.
func quote(line string) string {
	s := strings.TrimSpace(line)
	if !utf8.ValidString(s) {
		return ""
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r == '“' || r == '”' || r == '`' || unicode.IsControl(r) }); i >= 0 {
		s = s[:i]
	}
	if at := looksCited.FindStringIndex(s); at != nil {
		s = s[:at[0]]
	}
	if utf8.RuneCountInString(s) > maxQuote {
		s = string([]rune(s)[:maxQuote])
		if i := strings.LastIndexByte(s, ' '); i > maxQuote/2 {
			s = s[:i]
		}
	}
	s = strings.TrimRight(strings.TrimSpace(s), ".,;: ")
	if utf8.RuneCountInString(s) < 3 || strings.Trim(s, `"';`) == "use strict" || !saysSomething(s) {
		return ""
	}
	return s
}

// saysSomething asks for two letters or digits: a rule or an empty box has none.
func saysSomething(s string) bool {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			n++
		}
	}
	return n > 1
}

// verify reads the line again. The tree is the workspace or the room.
func (c cite) verify(trees ...fs.FS) error {
	for _, tree := range trees {
		if tree == nil {
			continue
		}
		f, err := tree.Open(c.path)
		if err != nil {
			continue
		}
		err = c.check(f)
		f.Close()
		return err
	}
	return fmt.Errorf("%s is not there", c.path)
}

func (c cite) check(r io.Reader) error {
	in := bufio.NewReaderSize(r, 32<<10)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			return fmt.Errorf("%s has no line %d", c.path, c.line)
		}
		if n < c.line {
			continue
		}
		if !strings.Contains(line, c.quote) {
			return fmt.Errorf("%s:%d does not say %q", c.path, c.line, c.quote)
		}
		if _, err := in.ReadByte(); c.last && err == nil {
			return fmt.Errorf("%s goes on after line %d", c.path, c.line)
		}
		return nil
	}
}

var plainPath = pattern.New(`^[\p{L}\p{N}_.@+-]+(/[\p{L}\p{N}_.@+()-]+)*$`)

// citable says whether path:line can be read as what it is: no blanks, no
// colons, nothing that ends a citation early.
func citable(p string) bool {
	plain := p != "" && p[0] != '/' && p[len(p)-1] != '/'
	for i := 0; i < len(p) && plain; i++ { // most paths: the expression is for the others
		c := p[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' ||
			c == '/' && p[i-1] != '/'
	}
	return plain || plainPath.MatchString(p) && utf8.ValidString(p)
}

// printable leaves out what a line of Markdown cannot hold.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == '`' || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// clip shortens a text at a word, and keeps code spans whole.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	s = string([]rune(s)[:n])
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	if strings.Count(s, "`")%2 == 1 { // a span that is cut open is none
		s = s[:strings.LastIndexByte(s, '`')]
	}
	return strings.TrimRight(s, " (") + " …"
}

func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

func readLimited(tree fs.FS, name string, limit int64) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("read %s: longer than %d bytes", name, limit)
	}
	return b, err
}
