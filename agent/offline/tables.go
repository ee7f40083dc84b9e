package offline

import (
	"encoding/csv"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// row is a line of a table.
type row struct {
	n     int
	cells []string
}

// rowsOf reads a CSV file line by line; what spans lines is left out.
func rowsOf(f *project.File) []row {
	comma := ','
	if head, _, _ := strings.Cut(f.Text, "\n"); path.Ext(f.Base) == ".tsv" {
		comma = '\t'
	} else if strings.Count(head, ";") > strings.Count(head, ",") {
		comma = ';'
	}
	if path.Ext(f.Base) == ".ics" {
		return nil
	}
	var out []row
	for n, line := range project.Lines(f.Text) {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
		cells, err := r.Read()
		if err == nil && strings.TrimSpace(line) != "" {
			out = append(out, row{n, cells})
		}
	}
	return out
}

// tablesOf reads the tables of a Markdown document.
func tablesOf(f *project.File) [][]row {
	var out [][]row
	var table []row
	flush := func() {
		if len(table) > 2 {
			out = append(out, table)
		}
		table = nil
	}
	for _, l := range proseOf(f) {
		t := strings.TrimSpace(l.code)
		if !strings.HasPrefix(t, "|") {
			flush()
			continue
		}
		var cells []string
		for c := range strings.SplitSeq(strings.Trim(t, "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return strings.Trim(c, ":- ") != "" }) {
			continue // the line under the heads
		}
		table = append(table, row{l.n, cells})
	}
	flush()
	return out
}

var (
	amountForm = pattern.New(`^[*_~\s]*[-–]?\s*(?:[£$€]|GBP|EUR|USD)?\s*([-–]?\d{1,3}(?:,\d{3})+(?:\.\d+)?` +
		`|[-–]?\d+(?:\.\d+)?)\s*(?:[£$€]|GBP|EUR|USD)?[*_~\s]*$`)
	totalCell = pattern.New(`(?i)^[*_\s]*(?:grand )?(?:total|sum|altogether|overall)\b[:\s]*[\w\s]{0,20}[*_\s]*$`)
	subtotal  = pattern.New(`(?i)sub-?total`)
)

// amount reads a figure of a table.
func amount(cell string) (float64, bool) {
	m := amountForm.FindStringSubmatch(cell)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "–", "-").Replace(m[1]), 64)
	return v, err == nil
}

// tables are all those of the project's documents and data.
func (s *sight) tables(do func(f *project.File, rows []row)) {
	for _, f := range s.own(project.Data) {
		do(f, rowsOf(f))
	}
	for _, f := range s.documents() {
		if isMarkdown(f) && strings.Contains(f.Text, "|") {
			for _, t := range tablesOf(f) {
				do(f, t)
			}
		}
	}
}

// sumFault is a total that is not the sum of what stands above it.
type sumFault struct {
	f         *project.File
	first     row
	total     row
	head      string
	said, sum float64
}

// wrongSum: a total row whose figure is not the sum of its column.
func wrongSum(s *sight) []finding {
	var fault *sumFault
	s.tables(func(f *project.File, rows []row) {
		if fault == nil {
			fault = addUp(f, rows)
		}
	})
	if fault == nil {
		return nil
	}
	return []finding{found("the total", "The column “%s” of `%s` adds up to %s, from %s on; the total at %s says %s.",
		printable(fault.head), fault.f.Path, figure(fault.sum), at(fault.f, fault.first.n), at(fault.f, fault.total.n),
		figure(fault.said)).
		then("Add up again, and find out which figure was changed last.", costMinutes, "a decision made on the wrong sum").
		weighs(contradicted+7, "budget money total figures cost")}
}

func figure(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func addUp(f *project.File, rows []row) *sumFault {
	if len(rows) < 4 {
		return nil
	}
	head := rows[0].cells
	for i, r := range rows[1:] {
		label := slices.IndexFunc(r.cells, func(c string) bool { return totalCell.MatchString(c) })
		if label < 0 {
			continue
		}
		above := rows[1 : i+1]
		if len(above) < 2 || slices.ContainsFunc(above, func(x row) bool {
			return slices.ContainsFunc(x.cells, func(c string) bool {
				return subtotal.MatchString(c) ||
					totalCell.MatchString(c)
			})
		}) {
			return nil
		}
		for col := range r.cells {
			said, ok := amount(r.cells[col])
			if !ok || col >= len(head) || rate.MatchString(head[col]) {
				continue
			}
			sum, n := 0.0, 0
			whole := true
			for _, x := range above {
				if col >= len(x.cells) || strings.TrimSpace(x.cells[col]) == "" || strings.TrimSpace(x.cells[col]) == "-" ||
					strings.TrimSpace(x.cells[col]) == "–" {
					continue
				}
				v, ok := amount(x.cells[col])
				if !ok {
					whole = false
				}
				sum += v
				n++
			}
			if whole && n >= 2 && math.Abs(sum-said) > 0.005 {
				return &sumFault{f, above[0], r, strings.TrimSpace(head[col]), said, sum}
			}
		}
		return nil
	}
	return nil
}

var rate = pattern.New(`(?i)(%|percent|rate|price|average|mean|unit|per |qty|quantity|nights?|year|date|no\.)`)

var saidTotal = pattern.New(`(?i)\b(?:total(?:\s+(?:budget|cost|costs|price|of))?|budget(?:\s+(?:is|of|total` +
	`|of about))?|altogether|in all)\b[^.\d£$€]{0,30}([£$€])\s?(\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d{3,}(?:\.\d\d)?)`)

// otherFigure: a document speaks of a total that the table does not give.
func otherFigure(s *sight) []finding {
	if s.HasCode() {
		return nil
	}
	type total struct {
		f *project.File
		n int
		v []float64
	}
	var tables []total
	s.tables(func(f *project.File, rows []row) {
		for _, r := range rows {
			if !slices.ContainsFunc(r.cells, func(c string) bool { return totalCell.MatchString(c) }) {
				continue
			}
			t := total{f: f, n: r.n}
			for _, c := range r.cells {
				if v, ok := amount(c); ok {
					t.v = append(t.v, v)
				}
			}
			if len(t.v) > 0 {
				tables = append(tables, t)
			}
		}
	})
	if len(tables) != 1 {
		return nil
	}
	for _, f := range s.documents() {
		for _, l := range proseOf(f) {
			m := saidTotal.FindStringSubmatch(l.text)
			if m == nil || f == tables[0].f && l.n == tables[0].n || strings.Contains(l.text, "|") {
				continue
			}
			v, ok := amount(m[2])
			if !ok || slices.ContainsFunc(tables[0].v, func(x float64) bool { return math.Abs(x-v) < 0.5 }) {
				continue
			}
			return []finding{found("the total", "%s gives one total, and the table at %s another.", at(f, l.n),
				at(tables[0].f, tables[0].n)).
				then("Find out which of the two is newer, and correct the other.", costMinutes,
					"two people who plan with two budgets").
				weighs(contradicted+3, "budget money total figures cost")}
		}
	}
	return nil
}
