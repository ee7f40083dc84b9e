package offline

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"conclave/internal/pattern"
)

// historyFile is the project's log in the room.
const historyFile = "history.txt"

// massChange is how many files a commit may touch to count as work on them:
// more is vendoring, formatting or a move, and says nothing about who knows a
// file or what belongs together.
const massChange = 20

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

var commitLine = pattern.New(`^([0-9a-f]{4,64}) (\d{4}-\d{2}-\d{2}) (.+)$`)

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

// machineName knows the names under which programs commit.
var machineName = pattern.New(`(?i)\[bot\]$|[-_ ]bot$|^(?:bot|dependabot|renovate|github[- ]actions?` +
	`|copybara\w*)\b`)

// work is the log of what people did, without commits that touch many files at
// once.
func (h history) work() history {
	return slices.DeleteFunc(slices.Clone(h), func(c commit) bool {
		return len(c.changes) == 0 || len(c.changes) > massChange || machineName.MatchString(c.author)
	})
}

func (c commit) cite() cite { return cite{path: historyFile, line: c.line, quote: quote(c.text)} }

func (c change) cite() cite { return cite{path: historyFile, line: c.line, quote: quote(c.path)} }

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

// churn counts in how many commits each file was changed, mass changes and its
// own beginning apart.
func (h history) churn() []tally {
	counts := map[string]int{}
	for _, c := range h.work() {
		for _, ch := range c.changes {
			if ch.status == 'M' {
				counts[ch.path]++
			}
		}
	}
	return ranked(counts)
}

// busiest are the n files that change most, and often; none where the log is too
// short to tell. Of files that change as often as others either all are among
// them or none.
func (h history) busiest(n int) map[string]bool {
	if len(h.work()) < 30 {
		return nil
	}
	out := map[string]bool{}
	all := h.churn()
	for i, c := range all {
		if c.n >= 3 && i < n && (len(all) <= n || c.n > all[n].n) {
			out[c.name] = true
		}
	}
	return out
}

// newest is where the log last speaks of a file.
func (h history) newest(name string) (cite, bool) {
	for _, c := range h.work() {
		for _, ch := range c.changes {
			if ch.path == name && ch.cite().quote != "" {
				return ch.cite(), true
			}
		}
	}
	return cite{}, false
}

// hands is who worked in a directory: how many commits by whom, of how many.
type hands struct {
	dir     string
	total   int
	authors []tally
	last    cite // the newest change there by the one with most
	when    time.Time
}

// ownership counts the commits by author that touch anything below each
// directory, mass changes apart.
func (h history) ownership() []hands {
	by := map[string]map[string]int{}
	lastBy, when := map[string]cite{}, map[string]time.Time{}
	for _, c := range h.work() {
		seen := map[string]bool{}
		for _, ch := range c.changes {
			for dir := path.Dir(ch.path); dir != "." && !seen[dir]; dir = path.Dir(dir) {
				seen[dir] = true
				if by[dir] == nil {
					by[dir] = map[string]int{}
				}
				by[dir][c.author]++
				if key := dir + "\x00" + c.author; lastBy[key].path == "" && c.cite().quote != "" {
					lastBy[key], when[key] = c.cite(), c.date
				}
			}
		}
	}
	var out []hands
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		x := hands{dir: dir, authors: ranked(by[dir])}
		for _, a := range x.authors {
			x.total += a.n
		}
		key := dir + "\x00" + x.authors[0].name
		x.last, x.when = lastBy[key], when[key]
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b hands) int { return b.total - a.total })
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

// couple are two files that are changed together.
type couple struct {
	a, b     string
	together int
	of       int // commits in which either was changed
	first    cite
	second   cite
}

// couples finds pairs across directories that nearly always change together.
func (h history) couples() []couple {
	work := h.work()
	alone, both := map[string]int{}, map[[2]string]int{}
	where := map[[2]string][2]cite{}
	for _, c := range work {
		if len(c.changes) > 8 {
			continue
		}
		var list []change
		for _, ch := range c.changes {
			if ch.status == 'M' {
				list = append(list, ch)
				alone[ch.path]++
			}
		}
		for i, x := range list {
			for _, y := range list[i+1:] {
				key := [2]string{min(x.path, y.path), max(x.path, y.path)}
				both[key]++
				if _, ok := where[key]; !ok {
					where[key] = [2]cite{x.cite(), y.cite()}
				}
			}
		}
	}
	var out []couple
	for key, n := range both {
		of := alone[key[0]] + alone[key[1]] - n
		if n >= 5 && n*10 >= of*8 && path.Dir(key[0]) != path.Dir(key[1]) {
			out = append(out, couple{key[0], key[1], n, of, where[key][0], where[key][1]})
		}
	}
	slices.SortFunc(out, func(a, b couple) int {
		return cmp.Or(cmp.Compare(b.together, a.together), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
	})
	return out
}
