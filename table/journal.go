package table

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
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

// MaxTitle is the longest title in characters.
const MaxTitle = 120

const nothing = "(nothing)"

var bulletNames = []string{"What happened", "What I did", "What I learned", "How I feel", "Notes"}

func (e *Entry) fields() []*string {
	return []*string{&e.Happened, &e.Did, &e.Learned, &e.Feel, &e.Notes}
}

var bulletLine = regexp.MustCompile(`(?i)^\s*[-*+]\s+\**(What happened|What I did|What I learned|How I feel|Notes)\**\s*:\**\s*(.*)$`)

// ParseEntry reads what a journal keeper wrote. It takes the first title and
// the five bullets wherever they stand; what else looks like the start of an
// entry is text of the bullet before it. missing names what is not there.
func ParseEntry(text string) (e Entry, missing []string) {
	fields := e.fields()
	at := -1
	for line := range strings.Lines(cleanText(text)) {
		line = strings.TrimRight(line, " \t\n")
		if m := bulletLine.FindStringSubmatch(line); m != nil {
			i := slices.IndexFunc(bulletNames, func(s string) bool { return strings.EqualFold(s, m[1]) })
			if *fields[i] == "" {
				at = i
				*fields[i] = m[2]
				continue
			}
		}
		if level, title := heading(line); at < 0 && level > 0 && e.Title == "" {
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
			missing = append(missing, bulletNames[i])
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
	s = strings.TrimSpace(clip(strings.Join(strings.Fields(s), " "), MaxTitle))
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
		b.WriteString("- " + bulletNames[i] + ": " + bulletText(*f) + "\n")
	}
	return b.String()
}

// bulletText keeps a text inside its bullet: further lines are indented, and
// lines that could pass for the start of an entry are escaped.
func bulletText(s string) string {
	s = strings.TrimSpace(cleanText(s))
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

// JournalHeader opens a new journal. Without it the first entry would put "---"
// at the first byte, which tools take for front matter.
func JournalHeader(name string) string { return "# " + oneLine(name) + "'s Journal\n" }

// Chunk is what an entry adds to a journal with this end: a missing last line
// feed, a blank line so that "---" is not taken for an underline, the entry, all
// in the file's own style of line ends. A nil tail is a new file.
func Chunk(e Entry, name string, tail []byte) []byte {
	text := e.Text()
	if len(tail) == 0 {
		return []byte(JournalHeader(name) + "\n" + text)
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

// entryStarts finds where entries begin: a rule on a line of its own, and below
// it, after blank lines or none, a heading of the third level.
func entryStarts(text string) []int {
	var starts []int
	for at := 0; ; {
		i := strings.Index(text[at:], "---")
		if i < 0 {
			return starts
		}
		at += i
		if (at == 0 || text[at-1] == '\n') && opensEntry(text[at+len("---"):]) {
			starts = append(starts, at)
		}
		at += len("---")
	}
}

// opensEntry says whether what follows a rule makes it the beginning of an
// entry.
func opensEntry(rest string) bool {
	blank := strings.TrimLeft(rest, " \t")
	if !strings.HasPrefix(blank, "\n") {
		return false
	}
	for {
		line := strings.TrimLeft(blank[1:], " \t")
		if strings.HasPrefix(line, "\n") {
			blank = line
			continue
		}
		heading := blank[1:]
		return strings.HasPrefix(heading, "### ") || strings.HasPrefix(heading, "###\t")
	}
}

// SplitJournal splits a journal into what stands before the first entry and the
// entries, oldest first. Joined together they are the normalised text.
func SplitJournal(text string) (head string, entries []string) {
	text = Normalise(text)
	starts := entryStarts(text)
	if len(starts) == 0 {
		return text, nil
	}
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		entries = append(entries, text[s:end])
	}
	return text[:starts[0]], entries
}

// NewestEntries returns the header and as many whole entries, newest first
// counted, as fit in the budget, in the order of the file. left is how many
// older ones were left out.
func NewestEntries(text string, budget int64) (out string, left int) {
	head, entries := SplitJournal(text)
	if int64(len(head)) > budget {
		head = ""
	}
	room := budget - int64(len(head))
	first := len(entries)
	for first > 0 && room >= int64(len(entries[first-1])) {
		first--
		room -= int64(len(entries[first]))
	}
	return head + strings.Join(entries[first:], ""), first
}
