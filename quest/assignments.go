package quest

import (
	"fmt"
	"regexp"
	"slices"
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
