package table

import (
	"strings"

	"conclave/internal/markdown"
)

// EntryLabels are the points of a journal's entry, in order.
var EntryLabels = []string{"What happened", "What I did", "What I learned", "How I feel", "Notes"}

// MaxTitle is the longest title in characters, of an entry or of a scene.
const MaxTitle = 120

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
	text = markdown.Normalise(text)
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

// newestEntries returns the header and as many whole entries, newest first
// counted, as fit in the budget, in the order of the file. left is how many
// older ones were left out.
func newestEntries(text string, budget int64) (out string, left int) {
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
