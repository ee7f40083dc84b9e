package offline

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"conclave/internal/markdown"
	"conclave/internal/pattern"
	"conclave/internal/project"
)

// event is an entry of a calendar.
type event struct {
	n       int
	summary string
	day     time.Time
}

var icsDay = pattern.New(`^DTSTART[^:]*:(20\d\d)(\d\d)(\d\d)`)

// eventsOf reads an iCalendar file: one day and one summary an event.
func eventsOf(f *project.File) []event {
	var out []event
	var e event
	for n, line := range project.Lines(f.Text) {
		switch {
		case line == "BEGIN:VEVENT":
			e = event{}
		case strings.HasPrefix(line, "SUMMARY:"):
			e.summary = strings.TrimSpace(strings.TrimPrefix(line, "SUMMARY:"))
		case line == "END:VEVENT":
			if e.summary != "" && e.n > 0 {
				out = append(out, e)
			}
		default:
			if m := icsDay.FindStringSubmatch(line); m != nil {
				e.n, e.day = n, time.Date(atoi(m[1]), time.Month(atoi(m[2])), atoi(m[3]), 0, 0, 0, 0, time.UTC)
			}
		}
	}
	return out
}

// twoDays: a plan and a calendar give two days for the same thing.
func twoDays(s *sight) []finding {
	for _, cal := range s.own(project.Data) {
		if path.Ext(cal.Base) != ".ics" {
			continue
		}
		for _, e := range eventsOf(cal) {
			name := bare(e.summary)
			if len(name) < 6 {
				continue
			}
			for _, f := range s.documents() {
				for _, l := range proseOf(f) {
					if !openBox.MatchString(l.text) || !strings.Contains(bare(l.text), name) {
						continue
					}
					day, text, ok := dateIn(l.text)
					if !ok || !strings.ContainsAny(text[:1], "0123456789") || day.Equal(e.day) {
						continue
					}
					return []finding{found("“"+printable(e.summary)+"”", "The plan says %s, %s; the calendar has it on %s, %s.",
						text, at(f, l.n), e.day.Format("2 January 2006"), at(cal, e.n)).
						then("Find out which day is right, and correct the other.", costMinutes, "people who turn up on two days").
						weighs(contradicted+5, "date plan day calendar")}
				}
			}
		}
	}
	return nil
}

var contentsRow = pattern.New(`\]\(([^)\s]+\.md)\)`)

// otherTitle: a table of contents and the document it points to have different
// titles, while its other rows agree with theirs.
func otherTitle(s *sight) []finding {
	if s.HasCode() {
		return nil
	}
	for _, f := range s.documents() {
		if !isMarkdown(f) || !strings.Contains(f.Text, "](") {
			continue
		}
		for _, table := range tablesOf(f) {
			agreed := 0
			var odd *row
			var target *project.File
			for i, r := range table {
				m := contentsRow.FindStringSubmatch(strings.Join(r.cells, "|"))
				if m == nil {
					continue
				}
				to := s.File(path.Join(f.Dir, m[1]))
				if to == nil || !to.Read {
					continue
				}
				title := bare(markdown.FirstHeading(to.Text))
				if title == "" {
					continue
				}
				if slices.ContainsFunc(r.cells, func(c string) bool {
					b := bare(c)
					return len(b) >= 3 && !strings.Contains(c, "](") && strings.Contains(title, b)
				}) {
					agreed++
				} else if odd == nil {
					odd, target = &table[i], to
				}
			}
			if odd != nil && agreed >= 3 {
				return []finding{found("`"+target.Path+"`", "The contents call it otherwise than it calls itself: %s and %s.",
					at(f, odd.n), at(target, 1)).
					then("Agree on one title.", costMinutes, "two titles for one chapter").
					weighs(contradicted-8, "chapters contents title")}
			}
		}
	}
	return nil
}

var (
	boxOwner = pattern.New(`\(([A-Z]\pL+|all)(?:(?:,| and) [A-Z]\pL+)*,\s+(?:by\s+)?\d|[–—-]\s+([A-Z]\pL+)\s*$` +
		`|@(\w+)`)
	amountIn  = pattern.New(`([£$€])\s?(\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+(?:\.\d\d)?)`)
	wordRight = pattern.New(`(?i)(\pL+)(?:\s+(?:of|is|was|at|stands at|comes to|will be))?[\s:]*$`)
)

// ownedBoxes reads the open tasks of lists in which most name who does them.
func (s *sight) ownedBoxes() []task {
	var out []task
	for _, f := range s.documents() {
		var open []task
		named := 0
		for _, l := range proseOf(f) {
			isOpen, isDone := openBox.MatchString(l.text), tickedBox.MatchString(l.text)
			if !isOpen && !isDone {
				continue
			}
			owner := ""
			if m := boxOwner.FindStringSubmatch(l.text); m != nil {
				owner = m[1] + m[2] + m[3]
				named++
			}
			if isOpen {
				open = append(open, task{f, row{n: l.n}, owner})
			}
		}
		if named >= 4 && named*10 >= (named+unnamed(open))*7 {
			out = append(out, open...)
		}
	}
	return out
}

func unnamed(list []task) int {
	n := 0
	for _, t := range list {
		if t.owner == "" {
			n++
		}
	}
	return n
}

// otherAmount: a document that points to a table names a figure of it, by the
// name of its row or column, and the table has another.
func otherAmount(s *sight) []finding {
	if s.HasCode() {
		return nil
	}
	for _, csv := range s.own(project.Data) {
		rows := rowsOf(csv)
		if len(rows) < 3 {
			continue
		}
		for _, f := range s.documents() {
			if !strings.Contains(f.Text, csv.Base) {
				continue
			}
			for _, l := range proseOf(f) {
				for _, m := range amountIn.FindAllStringSubmatchIndex(l.text, -1) {
					v, ok := amount(l.text[m[4]:m[5]])
					if !ok {
						continue
					}
					if r, have := contradicts(rows, l.text[:m[0]], v); r != nil {
						return []finding{found("`"+csv.Path+"`", "%s says %s%s, and the table has %s, %s.", at(f, l.n), l.text[m[2]:m[3]],
							l.text[m[4]:m[5]], figure(have), at(csv, r.n)).
							then("Find out which of the two is newer, and correct the other.", costMinutes,
								"two people who plan with two figures").
							weighs(contradicted+3, "budget money total figures cost")}
					}
				}
			}
		}
	}
	return nil
}

// contradicts finds the figure that the words before an amount name: that of a
// row, the total of a column, or the total that it nearly is.
func contradicts(rows []row, before string, v float64) (*row, float64) {
	sentence := before[strings.LastIndexAny(before, ".;")+1:]
	if amountIn.MatchString(sentence) {
		return nil, 0 // the first figure of a sentence is what it is about
	}
	total := slices.IndexFunc(rows, func(r row) bool { return slices.ContainsFunc(r.cells, totalCell.MatchString) })
	word := ""
	if m := wordRight.FindStringSubmatch(sentence); m != nil {
		word = strings.ToLower(m[1])
	}
	for i, r := range rows[1:] {
		if i+1 == total || word == "" || len(word) < 4 || !strings.EqualFold(strings.TrimSpace(r.cells[0]), word) {
			continue
		}
		return odd(&rows[i+1], v, figuresOf(r))
	}
	if total < 0 {
		return nil, 0
	}
	for col, head := range rows[0].cells {
		head = strings.ToLower(strings.TrimSpace(head))
		if len(head) < 4 || col >= len(rows[total].cells) ||
			!strings.HasPrefix(strings.ToLower(strings.TrimSpace(sentence)), head) {
			continue
		}
		if have, ok := amount(rows[total].cells[col]); ok {
			return odd(&rows[total], v, []float64{have})
		}
	}
	sums := figuresOf(rows[total])
	for _, have := range sums {
		if have >= 100 && math.Abs(v-have) <= have/10 && math.Abs(v-have) >= 0.5 && !known(rows, v) {
			return &rows[total], have
		}
	}
	return nil, 0
}

func figuresOf(r row) []float64 {
	var out []float64
	for _, c := range r.cells {
		if v, ok := amount(c); ok {
			out = append(out, v)
		}
	}
	return out
}

// odd returns the row and its first figure when none of the figures is v.
func odd(r *row, v float64, have []float64) (*row, float64) {
	if len(have) == 0 || slices.ContainsFunc(have, func(x float64) bool { return math.Abs(x-v) < 0.5 }) {
		return nil, 0
	}
	return r, have[0]
}

// known says that the figure stands somewhere in the table.
func known(rows []row, v float64) bool {
	return slices.ContainsFunc(rows, func(r row) bool {
		return slices.ContainsFunc(figuresOf(r), func(x float64) bool { return math.Abs(x-v) < 0.5 })
	})
}

var (
	bornHead = pattern.New(`(?i)^born$`)
	ageHead  = pattern.New(`(?i)^(?:age )?in (1\d{3}|20\d\d)$`)
	ageCell  = pattern.New(`^(\d{1,3})(?:, then (\d{1,3}))?$`)
)

// wrongAge: a table gives a year of birth and an age that do not go together.
func wrongAge(s *sight) []finding {
	var out []finding
	s.tables(func(f *project.File, rows []row) {
		if len(out) > 0 || len(rows) < 2 {
			return
		}
		born, age, year := -1, -1, 0
		for i, h := range rows[0].cells {
			if bornHead.MatchString(strings.TrimSpace(h)) {
				born = i
			}
			if m := ageHead.FindStringSubmatch(strings.TrimSpace(h)); m != nil {
				age, year = i, atoi(m[1])
			}
		}
		if born < 0 || age < 0 {
			return
		}
		for _, r := range rows[1:] {
			if born >= len(r.cells) || age >= len(r.cells) {
				continue
			}
			m := ageCell.FindStringSubmatch(strings.TrimSpace(r.cells[age]))
			b := atoi(strings.TrimSpace(r.cells[born]))
			if m == nil || b < 1000 || b > 2100 {
				continue
			}
			for _, said := range m[1:] {
				if n := year - b; said != "" && atoi(said) != n && atoi(said) != n-1 && len(out) == 0 {
					out = append(out, found(printable(r.cells[0]), "%s: whoever is born in %d is %d or %d in %d.", at(f, r.n), b,
						n-1, n, year).
						then("Correct the age or the year, here and where the text uses it.", costMinutes, "a reader who counts").
						weighs(contradicted-3, "people ages timeline figures"))
				}
			}
		}
	})
	return out
}

// unlistedPart: a numbered document that the table of contents beside it does
// not name, while it names the others.
func unlistedPart(s *sight) []finding {
	for _, f := range s.documents() {
		if s.HasCode() || !strings.HasPrefix(strings.ToLower(f.Base), "contents") &&
			!strings.HasPrefix(strings.ToLower(f.Base), "toc") &&
			!strings.HasPrefix(strings.ToLower(f.Base), "summary") {
			continue
		}
		dirs := map[string]int{}
		for _, l := range links(f) {
			if s.File(l.target) != nil {
				dirs[path.Dir(l.target)]++
			}
		}
		for _, x := range s.Of(project.Doc) {
			if dirs[x.Dir] < 3 || x == f || x.Lines == 0 || strings.Contains(f.Text, x.Base) ||
				!seriesName.MatchString(x.Base) || !citable(x.Path) {
				continue
			}
			return []finding{found("`"+x.Path+"`", "The contents, %s, name its neighbours and not it: it begins %s.", at(f,
				1), at(x, 1)).
				then(fmt.Sprintf("Add it to `%s`, or move it away.", f.Path), costMinutes, "a part that nobody finds").
				weighs(contradicted-9, "chapters contents")}
		}
	}
	return nil
}
