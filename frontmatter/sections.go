package frontmatter

import (
	"bytes"
	"strings"
)

// Section is a heading with what stands under it, up to the next heading of the
// same or a higher level. Body is the text as it stands, blank lines included.
type Section struct {
	Name     string // the heading's text without the marks
	Line     int    // of the heading
	Body     string
	BodyLine int // the line after the heading
}

// heading is one ATX heading: where its line starts and where the next one does.
type heading struct {
	level      int
	name       string
	start, end int
	line       int // counted from the first line of the body
}

// scanHeadings finds the headings of a body. Fenced code, indented code and
// HTML comments hold none.
func scanHeadings(src []byte, at int) []heading {
	var found []heading
	var fence []byte // the run that opened the fence
	comment := false
	for number := 0; at < len(src); number++ {
		line, next := lineAt(src, at)
		trimmed := bytes.TrimLeft(line, " ")
		indented := len(line)-len(trimmed) > 3
		switch {
		case fence != nil:
			if !indented && closesFence(trimmed, fence) {
				fence = nil
			}
		case comment:
			comment = !bytes.Contains(line, []byte("-->"))
		case indented:
		case bytes.HasPrefix(trimmed, []byte("<!--")):
			comment = !bytes.Contains(trimmed[4:], []byte("-->"))
		default:
			if fence = opensFence(trimmed); fence != nil {
				break
			}
			if level, name := atxHeading(trimmed); level > 0 {
				found = append(found, heading{level, name, at, next, number})
			}
		}
		at = next
	}
	return found
}

func opensFence(line []byte) []byte {
	if len(line) == 0 || line[0] != '`' && line[0] != '~' {
		return nil
	}
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	if n < 3 || line[0] == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
		return nil
	}
	return line[:n]
}

func closesFence(line, fence []byte) bool {
	line = bytes.TrimRight(line, " \t")
	return len(line) >= len(fence) && len(bytes.Trim(line, string(fence[:1]))) == 0
}

func atxHeading(line []byte) (level int, name string) {
	n := len(line) - len(bytes.TrimLeft(line, "#"))
	if n == 0 || n > 6 || n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0, ""
	}
	text := strings.TrimSpace(string(line[n:]))
	if cut := strings.TrimRight(text, "#"); cut == "" || strings.HasSuffix(cut, " ") || strings.HasSuffix(cut, "\t") {
		text = strings.TrimSpace(cut)
	}
	return n, text
}

// Title returns the first level-1 heading.
func (d *Document) Title() (string, bool) {
	for _, h := range d.headings {
		if h.level == 1 {
			return h.name, true
		}
	}
	return "", false
}

// Section returns the first level-2 section of that name; letter case and runs
// of spaces do not matter.
func (d *Document) Section(name string) (Section, bool) {
	for _, s := range d.Sections() {
		if sameName(s.Name, name) {
			return s, true
		}
	}
	return Section{}, false
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// Sections returns the level-2 sections in the order of the file.
func (d *Document) Sections() []Section {
	var sections []Section
	first, _ := d.position(d.body)
	for i, h := range d.headings {
		if h.level != 2 {
			continue
		}
		s := Section{Name: h.name}
		s.Line, s.BodyLine = first+h.line, first+h.line+1
		body := d.bodySpan(i)
		s.Body = string(d.src[body.start:body.end])
		sections = append(sections, s)
	}
	return sections
}

// bodySpan is what stands under a heading: up to the next one that is not deeper.
func (d *Document) bodySpan(i int) span {
	end := len(d.src)
	for _, h := range d.headings[i+1:] {
		if h.level <= d.headings[i].level {
			end = h.start
			break
		}
	}
	return span{d.headings[i].end, end}
}
