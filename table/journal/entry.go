package journal

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"conclave/internal/markdown"
	"conclave/table"
)

// Entry is one entry of a journal.
type Entry struct {
	Title    string
	Happened string
	Did      string
	Learned  string
	Feel     string
	Notes    string
}

const nothing = "(nothing)"

func (e *Entry) fields() []*string {
	return []*string{&e.Happened, &e.Did, &e.Learned, &e.Feel, &e.Notes}
}

var bulletLine = regexp.MustCompile(
	`(?i)^\s*[-*+]\s+\**(` + strings.Join(table.EntryLabels, "|") + `)\**\s*:\**\s*(.*)$`)

// ParseEntry reads what a journal keeper wrote. It takes the first title and
// the five bullets wherever they stand; what else looks like the start of an
// entry is text of the bullet before it. missing names what is not there.
func ParseEntry(text string) (e Entry, missing []string) {
	fields := e.fields()
	at := -1
	for line := range strings.Lines(markdown.Clean(text)) {
		line = strings.TrimRight(line, " \t\n")
		if m := bulletLine.FindStringSubmatch(line); m != nil {
			i := slices.IndexFunc(table.EntryLabels, func(s string) bool { return strings.EqualFold(s, m[1]) })
			if *fields[i] == "" {
				at = i
				*fields[i] = m[2]
				continue
			}
		}
		if level, title := markdown.Heading(line); at < 0 && level > 0 && e.Title == "" {
			e.Title = title
			continue
		}
		if at >= 0 {
			*fields[at] += "\n" + line
		}
	}
	if e.Title = oneLine(e.Title); e.Title == "" {
		missing = append(missing, "title")
	}
	for i, f := range fields {
		if *f = strings.TrimSpace(*f); *f == "" {
			missing = append(missing, table.EntryLabels[i])
		}
	}
	return e, missing
}

// oneLine makes a title of a text.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(table.Clip(strings.Join(strings.Fields(s), " "), table.MaxTitle))
	if strings.Trim(s, "# ") == "" {
		return "" // a heading of nothing but marks has no title
	}
	return s
}

// Text is the entry in the seed's form, without what separates it from the file
// before it. Empty fields are filled with "(nothing)".
func (e Entry) Text() string {
	title := oneLine(e.Title)
	if title == "" {
		title = "(untitled)"
	}
	var b strings.Builder
	b.WriteString("---\n\n### " + title + "\n\n")
	for i, f := range e.fields() {
		b.WriteString("- " + table.EntryLabels[i] + ": " + bulletText(*f) + "\n")
	}
	return b.String()
}

// bulletText keeps a text inside its bullet: further lines are indented, and
// lines that could pass for the start of an entry are escaped.
func bulletText(s string) string {
	s = strings.TrimSpace(markdown.Clean(s))
	if s == "" {
		return nothing
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		line = escapeRule(strings.TrimSpace(line))
		if i > 0 && line != "" {
			line = "  " + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

var ruleLine = regexp.MustCompile(`^(---|\*\*\*|___|===|#{1,6}([ \t]|$))`)

func escapeRule(line string) string {
	if ruleLine.MatchString(line) {
		return `\` + line
	}
	return line
}

// header opens a new journal. Without it the first entry would put "---"
// at the first byte, which tools take for front matter.
func header(name string) string { return "# " + oneLine(name) + "'s Journal\n" }

// chunk is what an entry adds to a journal with this end: a missing last line
// feed, a blank line so that "---" is not taken for an underline, the entry, all
// in the file's own style of line ends. A nil tail is a new file.
func chunk(e Entry, name string, tail []byte) []byte {
	text := e.Text()
	if len(tail) == 0 {
		return []byte(header(name) + "\n" + text)
	}
	t := string(tail)
	lf := strings.ReplaceAll(t, "\r\n", "\n")
	switch {
	case !strings.HasSuffix(lf, "\n"):
		text = "\n\n" + text
	case !strings.HasSuffix(lf, "\n\n"):
		text = "\n" + text
	}
	if strings.Contains(t, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}
