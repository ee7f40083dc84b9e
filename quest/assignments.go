package quest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/policy"
)

// Advisor is a cell of the assignments table: "Cat (risk is the crux)".
type Advisor struct {
	Name   string      `json:"name"`             // as written
	Role   policy.Role `json:"role,omitempty"`   // empty: no animal of that name
	Reason string      `json:"reason,omitempty"` // what stands in brackets
}

// String is the cell.
func (a Advisor) String() string {
	if a.Reason == "" {
		return a.Name
	}
	return a.Name + " (" + a.Reason + ")"
}

// Assignment is a row of the assignments table.
type Assignment struct {
	Criterion string  `json:"criterion"`
	Primary   Advisor `json:"primary"`
	Secondary Advisor `json:"secondary"`
	Line      int     `json:"line,omitempty"`
}

var (
	cellForm = regexp.MustCompile(`^(.*?)\s*\((.*)\)$`)
	ruleRow  = regexp.MustCompile(`^\|?[\s:|-]*-[\s:|-]*\|?$`)
)

func (q *Quest) readAssignments() {
	s, _ := q.doc.Section(sectionAssignments)
	seenRule := false
	for i, line := range strings.Split(s.Body, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case !strings.Contains(line, "|"):
		case ruleRow.MatchString(line):
			seenRule = true
		case seenRule:
			q.addAssignment(cells(line), s.BodyLine+i)
		}
	}
}

func (q *Quest) addAssignment(row []string, line int) {
	if len(row) < 2 {
		q.fault(Fault{Line: line, Message: "a row of the party assignments has fewer than two cells"})
		return
	}
	a := Assignment{Criterion: row[0], Primary: parseAdvisor(row[1]), Line: line}
	if len(row) > 2 {
		a.Secondary = parseAdvisor(row[2])
	}
	q.Assignments = append(q.Assignments, a)
}

// cells splits a table row; a backslash keeps a bar inside its cell.
func cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	var out []string
	var cell strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\' && i+1 < len(row) && row[i+1] == '|':
			cell.WriteByte('|')
			i++
		case row[i] == '|':
			out = append(out, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(row[i])
		}
	}
	if rest := strings.TrimSpace(cell.String()); rest != "" {
		out = append(out, rest)
	}
	return out
}

// parseAdvisor reads "Cat (reason)", "cat", "🐱 Cat" and "The Rogue (Cat)".
func parseAdvisor(cell string) Advisor {
	cell = strings.TrimSpace(strings.Trim(cell, "*_ "))
	if cell == "-" || cell == "–" || cell == "—" {
		return Advisor{}
	}
	a := Advisor{Name: cell}
	if m := cellForm.FindStringSubmatch(cell); m != nil && m[1] != "" {
		a.Name, a.Reason = strings.Trim(m[1], "*_ "), m[2]
	}
	if a.Role = animalIn(a.Name); a.Role == "" {
		a.Role = animalIn(a.Reason)
	}
	return a
}

// animalIn is the animal whose name is the text, or the one word of it that is
// not an emoji.
func animalIn(text string) policy.Role {
	for _, word := range append([]string{text}, strings.Fields(text)...) {
		if role := policy.Role(strings.ToLower(strings.Trim(word, "*_.,"))); slices.Contains(policy.Animals(), role) && len(strings.Fields(text)) <= 2 {
			return role
		}
	}
	return ""
}

// Owned are the criteria for which an advisor is the first to ask, and those
// for which it is the second.
func (q *Quest) Owned(who policy.Role) (first, second []Criterion) {
	for _, c := range q.Criteria {
		for _, a := range q.Assignments {
			if !a.names(c) {
				continue
			}
			if a.Primary.Role == who {
				first = append(first, c)
			} else if a.Secondary.Role == who {
				second = append(second, c)
			}
			break
		}
	}
	return first, second
}

// minShort is how much of a criterion a row has to repeat to mean it.
const minShort = 12

var rowNumber = regexp.MustCompile(`(?i)^(?:criterion\s*|#)?(\d{1,4})(?:[.):]?$|[.):]\s+|\s+[–—-]+\s+)`)

// names says whether a row speaks of a criterion: by its words, or else by its
// number.
func (a Assignment) names(c Criterion) bool {
	row, text := plainCriterion(a.Criterion), plainCriterion(c.Text)
	short := strings.TrimRight(row, ".… ")
	if row != "" && row == text || len(short) >= minShort && strings.HasPrefix(text, short) {
		return true
	}
	m := rowNumber.FindStringSubmatch(strings.TrimSpace(a.Criterion))
	return m != nil && m[1] == strconv.Itoa(c.Number)
}

// plainCriterion is a criterion's words, without marks and number.
func plainCriterion(s string) string {
	s = growMark.ReplaceAllString(shipMark.ReplaceAllString(checkForm.ReplaceAllString(oneLine(s), ""), ""), "")
	s = rowNumber.ReplaceAllString(strings.Trim(s, "*_ "), "")
	return strings.ToLower(strings.Trim(oneLine(s), "*_. "))
}

// FirstAdvisor recommends whom to ask first: by what the quest and these texts
// say, and where they call for nobody, whoever was assigned most of the
// criteria.
func (q *Quest) FirstAdvisor(texts ...string) Suggestion {
	s := FirstAdvisor(append([]string{q.Narrative, q.Dragon}, texts...)...)
	if usual := FirstAdvisor(); s == usual {
		most := 0
		for _, who := range policy.Animals() {
			if first, _ := q.Owned(who); len(first) > most {
				most, s = len(first), Suggestion{Who: who, Reason: "first advisor for " + numbers(first)}
			}
		}
		if s.Who == usual.Who {
			return usual
		}
		return s
	}
	if first, _ := q.Owned(s.Who); len(first) > 0 {
		s.Reason += ", and first advisor for " + numbers(first)
	}
	return s
}

// numbers names criteria: "criterion 2", "criteria 1, 2 and 4".
func numbers(list []Criterion) string {
	var out []string
	for _, c := range list {
		out = append(out, strconv.Itoa(c.Number))
	}
	if len(out) == 1 {
		return "criterion " + out[0]
	}
	last := len(out) - 1
	return "criteria " + strings.Join(out[:last], ", ") + " and " + out[last]
}

// assignmentsTable renders the table in its canonical form.
func assignmentsTable(list []Assignment) string {
	var b strings.Builder
	b.WriteString("| Criterion | Primary Advisor | Secondary Advisor |\n|---|---|---|\n")
	for _, a := range list {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(a.Criterion), cell(a.Primary.String()), cell(a.Secondary.String()))
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(oneLine(s), "|", `\|`) }
