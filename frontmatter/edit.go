package frontmatter

import (
	"bytes"
	"fmt"
	"strings"
)

// edit replaces a span, reads the result and keeps it if check agrees.
func (d *Document) edit(at span, text string, check func(now *Document) error) error {
	src := make([]byte, 0, len(d.src)+len(text))
	src = append(src, d.src[:at.start]...)
	src = append(src, text...)
	src = append(src, d.src[at.end:]...)
	now, err := Parse(src)
	if err != nil {
		return err
	}
	if err := check(now); err != nil {
		return err
	}
	*d = *now
	return nil
}

// SetSection gives the level-2 section of that name a new body, or appends the
// section at the end of the document. The body is set off by blank lines and
// gets the document's line ends; its own leading and trailing blank lines do not
// count. On error the document is unchanged.
func (d *Document) SetSection(name, body string) error {
	i, err := d.editable(name)
	if err != nil {
		return err
	}
	if i < 0 {
		return d.appendSection(name, body)
	}
	at := d.bodySpan(i)
	text := d.sectionText(body, at.end < len(d.src))
	if d.headings[i].end == len(d.src) && !bytes.HasSuffix(d.src, []byte("\n")) {
		text = d.newline() + text
	}
	return d.edit(at, text, d.sameSections)
}

// AppendToSection adds text at the end of a section's body, on a line of its
// own, or appends a section that holds it. What stands in the body stays byte
// for byte, as an append-only log demands. On error the document is unchanged.
func (d *Document) AppendToSection(name, text string) error {
	i, err := d.editable(name)
	if err != nil {
		return err
	}
	if i < 0 {
		return d.appendSection(name, text)
	}
	at := d.bodySpan(i)
	body := bytes.TrimRight(d.src[at.start:at.end], " \t\r\n")
	if len(body) == 0 {
		return d.SetSection(name, text)
	}
	nl := d.newline()
	last, _ := lineAt(d.src, at.start+len(body)) // the last line keeps its trailing spaces
	end := at.start + len(body) + len(last)
	insert := nl + d.withNewlines(strings.Trim(text, "\r\n"))
	if end == len(d.src) {
		insert += nl
	}
	return d.edit(span{end, end}, insert, d.sameSections)
}

// editable finds the one section of that name: -1 if there is none, an error if
// there are two, for then nobody knows which one is meant.
func (d *Document) editable(name string) (int, error) {
	if level, parsed := atxHeading([]byte("## " + name)); level != 2 || parsed != name || name == "" || strings.ContainsAny(name, "\r\n") {
		return 0, fmt.Errorf("edit section %q: not a heading's text", name)
	}
	found := -1
	for i, h := range d.headings {
		if h.level != 2 || !sameName(h.name, name) {
			continue
		}
		if found >= 0 {
			first, _ := d.position(d.headings[found].start)
			return 0, d.errorAt(h.start, fmt.Sprintf("section %q stands here a second time (first at line %d); keep one", name, first))
		}
		found = i
	}
	return found, nil
}

// sectionText sets a body off by one blank line above and, if something
// follows, one below.
func (d *Document) sectionText(body string, follows bool) string {
	nl := d.newline()
	text := nl
	if body = strings.Trim(d.withNewlines(body), "\r\n"); body != "" {
		text += body + nl
		if follows {
			text += nl
		}
	}
	return text
}

func (d *Document) appendSection(name, body string) error {
	nl := d.newline()
	text := "## " + name + nl + d.sectionText(body, false)
	switch {
	case len(d.src) == d.body:
		if d.hasHead {
			text = nl + text
			if !bytes.HasSuffix(d.src, []byte("\n")) {
				text = nl + text
			}
		}
	case bytes.HasSuffix(d.src, []byte("\n"+nl)) || bytes.HasSuffix(d.src, []byte("\n\n")):
	case bytes.HasSuffix(d.src, []byte("\n")):
		text = nl + text
	default:
		text = nl + nl + text
	}
	return d.edit(span{len(d.src), len(d.src)}, text, func(now *Document) error {
		if n := len(d.headings); len(now.headings) <= n || now.headings[n].name != name {
			return now.errorAt(len(now.src), fmt.Sprintf("section %q cannot be added: the document ends in an open code fence or comment", name))
		}
		return d.outline(append(keepOutline(d.headings, 2), heading{level: 2, name: name}), now)
	})
}

// sameSections holds an edit of one body to its promise: the document has the
// same titles and sections as before, so the text started none and swallowed none.
func (d *Document) sameSections(now *Document) error {
	return d.outline(keepOutline(d.headings, 2), now)
}

func (d *Document) outline(want []heading, now *Document) error {
	have := keepOutline(now.headings, 2)
	for i, h := range have {
		if i >= len(want) || h.name != want[i].name || h.level != want[i].level {
			return now.errorAt(h.start, fmt.Sprintf("the text would start a section of its own here: %q; indent or fence it", h.name))
		}
	}
	if len(have) < len(want) {
		line, _ := now.position(len(now.src))
		return &Error{line, 1, fmt.Sprintf("the text would swallow the section %q: it leaves a code fence or a comment open",
			want[len(have)].name)}
	}
	return nil
}

// keepOutline drops the headings below a level.
func keepOutline(headings []heading, level int) []heading {
	var kept []heading
	for _, h := range headings {
		if h.level <= level {
			kept = append(kept, h)
		}
	}
	return kept
}
