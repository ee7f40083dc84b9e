package offline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// historyFile is the project's log in the room.
const historyFile = "history.txt"

// commit is one entry of the log.
type commit struct {
	hit
	date    time.Time
	author  string
	subject hit
	changes []change
}

type change struct {
	hit
	status byte // A, M, D, R …
	path   string
}

// history is the log, newest first.
type history []commit

var commitLine = regexp.MustCompile(`^([0-9a-f]{4,64}) (\d{4}-\d{2}-\d{2}) (.+)$`)

// readHistory reads what git log wrote: a line with hash, date and author, an
// indented subject, and lines of status and path.
func readHistory(text string) history {
	var h history
	for n, line := range numbered(text) {
		if m := commitLine.FindStringSubmatch(line); m != nil {
			date, err := time.Parse(time.DateOnly, m[2])
			if err != nil {
				continue
			}
			h = append(h, commit{hit: hit{line: n, text: line}, date: date, author: m[3]})
			continue
		}
		if len(h) == 0 || line == "" {
			continue
		}
		last := &h[len(h)-1]
		if subject, ok := strings.CutPrefix(line, "    "); ok {
			if last.subject.line == 0 {
				last.subject = hit{line: n, text: subject}
			}
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) >= 2 && fields[0] != "" {
			last.changes = append(last.changes, change{hit{line: n, text: line}, fields[0][0], fields[len(fields)-1]})
		}
	}
	return h
}

func (c commit) cite() cite { return cite{path: historyFile, line: c.line, quote: quote(c.text)} }

func (c commit) said() cite {
	return cite{path: historyFile, line: c.subject.line, quote: quote(c.subject.text)}
}

// tally is a name with a number, most first.
type tally struct {
	name string
	n    int
}

func ranked(counts map[string]int) []tally {
	var out []tally
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, tally{name, counts[name]})
	}
	slices.SortStableFunc(out, func(a, b tally) int { return cmp.Compare(b.n, a.n) })
	return out
}

// authors counts commits by author.
func (h history) authors() []tally {
	counts := map[string]int{}
	for _, c := range h {
		counts[c.author]++
	}
	return ranked(counts)
}

// changed counts how often each file was changed.
func (h history) changed() []tally {
	counts := map[string]int{}
	for _, c := range h {
		for _, ch := range c.changes {
			counts[ch.path]++
		}
	}
	return ranked(counts)
}

// newest is the newest change of a path or of anything below it.
func (h history) newest(below func(string) bool) (commit, change, bool) {
	for _, c := range h {
		for _, ch := range c.changes {
			if below(ch.path) {
				return c, ch, true
			}
		}
	}
	return commit{}, change{}, false
}

// within counts the commits that are at most days older than the newest.
func (h history) within(days int) int {
	if len(h) == 0 {
		return 0
	}
	n := 0
	for _, c := range h {
		if h[0].date.Sub(c.date) <= time.Duration(days)*24*time.Hour {
			n++
		}
	}
	return n
}

func days(d time.Duration) int { return int(d.Hours() / 24) }
