package quest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/frontmatter"
)

// Sort tells transformation criteria (what someone becomes) from deliverables
// (what is made). The empty Sort is unmarked and counts as a deliverable.
type Sort string

// The sorts.
const (
	Deliverable    Sort = "deliverable"
	Transformation Sort = "transformation"
)

// Criterion is one success criterion. Numbers follow the order of the file.
type Criterion struct {
	Number int    `json:"number"`
	Text   string `json:"text"` // as written, without number; more lines keep their indent
	Sort   Sort   `json:"sort,omitempty"`
	Check  string `json:"check,omitempty"` // the command of (check: `command`)
	Line   int    `json:"line"`
}

var (
	numbered   = regexp.MustCompile(`^ {0,3}(\d{1,9})[.)](?:[ \t]+(.*))?$`)
	bulleted   = regexp.MustCompile(`^ {0,3}[-*+][ \t]+(.*)$`)
	checkForm  = regexp.MustCompile("\\(check:[ \\t]*(`+)[ \\t]?(.+?)[ \\t]?(`+)[ \\t]*\\)")
	headingRow = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$`)
	growWords  = regexp.MustCompile(`(?i)\b(transformation(al)?|growth|personal|learning)\b`)
	shipWords  = regexp.MustCompile(`(?i)\b(deliverables?|shipping|outcomes?)\b`)
	ticked     = regexp.MustCompile(`^\[[ xX]\][ \t]+`)
	growMark   = regexp.MustCompile(`(?i)^[\s*_]*[\[(]?transformation[\])]?[*_]*\s*[:–—-]|[\[(]transformation[\])]`)
	shipMark   = regexp.MustCompile(`(?i)^[\s*_]*[\[(]?deliverable[\])]?[*_]*\s*[:–—-]|[\[(]deliverable[\])]`)
)

// criteriaReader walks through the section line by line.
type criteriaReader struct {
	q       *Quest
	list    []Criterion
	prose   []string // lines that belong to no criterion
	sort    Sort
	fenced  bool
	blank   bool
	alone   bool // in a text of their own, where every heading is one of theirs
	bullets bool
	written []int // the numbers as they stand in the file, group by group
}

func (q *Quest) readCriteria() {
	s, ok := q.doc.Section(sectionCriteria)
	if !ok {
		return
	}
	r := &criteriaReader{q: q}
	r.read(s.Body, s.BodyLine)
	q.Criteria = r.list
	q.criteriaProse = strings.Join(r.prose, "\n")
	r.finish(s.Line)
}

func (r *criteriaReader) read(text string, from int) {
	for i, line := range strings.Split(text, "\n") {
		r.line(strings.TrimRight(line, "\r"), from+i)
	}
}

// ReadCriteria reads criteria outside of a quest, from a file or from what
// somebody typed; name is what a *DamagedError calls it. A text that has the
// section of a quest is read as that; one without a list is one criterion.
func ReadCriteria(name string, data []byte) ([]Criterion, error) {
	q := &Quest{src: data, file: name}
	if q.Blank() {
		return nil, fmt.Errorf("%s: there are no criteria in it", name)
	}
	if !q.readable() {
		return nil, q.Err()
	}
	text, first := string(data), 1
	if doc, err := frontmatter.Parse(data); err == nil {
		if s, ok := doc.Section(sectionCriteria); ok {
			text, first = s.Body, s.BodyLine
		}
	}
	r := &criteriaReader{q: q, alone: true}
	r.read(text, first)
	if whole := strings.TrimSpace(strings.Join(r.prose, "\n")); len(r.list) == 0 && whole != "" {
		r.list = []Criterion{{Number: 1, Text: whole, Line: first}}
	}
	q.Criteria = r.list
	r.finish(first)
	return q.Criteria, q.Err()
}

func (r *criteriaReader) line(text string, line int) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		r.fenced = !r.fenced
	} else if !r.fenced {
		if m := headingRow.FindStringSubmatch(text); m != nil && (r.alone || len(m[1]) > 2) {
			r.heading(m[2])
			return
		}
		if m := numbered.FindStringSubmatch(text); m != nil && strings.TrimSpace(m[2]) != "" {
			r.add(m[2], line)
			n, _ := strconv.Atoi(m[1]) // nine digits at most
			r.written = append(r.written, n)
			return
		}
		if m := bulleted.FindStringSubmatch(text); m != nil && (len(r.list) == 0 || r.bullets) {
			r.bullets = true
			r.add(m[1], line)
			return
		}
	}
	r.more(text, trimmed)
}

func (r *criteriaReader) heading(text string) {
	r.sort, r.blank = "", true
	switch {
	case growWords.MatchString(text):
		r.sort = Transformation
	case shipWords.MatchString(text):
		r.sort = Deliverable
	}
}

// add begins a criterion. A tick before it is the party's own judgement and no
// part of what was agreed.
func (r *criteriaReader) add(text string, line int) {
	r.list = append(r.list, Criterion{Number: len(r.list) + 1, Text: ticked.ReplaceAllString(strings.TrimSpace(text), ""), Sort: r.sort, Line: line})
	r.blank = false
}

// more adds a line to the last criterion: indented lines always, others only
// while no blank line has come between, as Markdown has it.
func (r *criteriaReader) more(text, trimmed string) {
	indented := strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")
	switch {
	case trimmed == "" && !r.fenced:
		r.blank = true
	case len(r.list) > 0 && (indented || !r.blank):
		c := &r.list[len(r.list)-1]
		c.Text += "\n" + strings.TrimRight(text, " \t")
	default:
		r.prose = append(r.prose, text)
	}
}

func (r *criteriaReader) finish(line int) {
	q := r.q
	if len(r.list) == 0 {
		q.fault(Fault{Line: line, Message: "no success criteria; write them as a numbered list", Blocks: true})
		return
	}
	if r.bullets {
		q.fault(Fault{Line: r.list[0].Line, Message: "the criteria are not numbered; they are counted in their order",
			Offer: "number them 1 to " + fmt.Sprint(len(r.list)), repair: renumber})
	} else if !inOrder(r.written) {
		q.fault(Fault{Line: r.list[0].Line, Message: "the criteria's numbers do not run 1, 2, 3; they are counted in their order",
			Offer: "number them 1 to " + fmt.Sprint(len(r.list)), repair: renumber})
	}
	for i := range q.Criteria {
		r.details(&q.Criteria[i])
	}
	if q.Mode == Grow && !slices.ContainsFunc(q.Criteria, func(c Criterion) bool { return c.Sort == Transformation }) {
		q.fault(Fault{Line: line, Message: "mode Grow, but no criterion is marked (transformation)"})
	}
}

func (r *criteriaReader) details(c *Criterion) {
	switch {
	case growMark.MatchString(c.Text):
		c.Sort = Transformation
	case shipMark.MatchString(c.Text):
		c.Sort = Deliverable
	}
	all := checkForm.FindAllStringSubmatch(c.Text, -1)
	for _, m := range all {
		if len(m[1]) != len(m[3]) {
			r.q.fault(Fault{Line: c.Line, Message: fmt.Sprintf("criterion %d: the check's backquotes do not match", c.Number), Blocks: true})
			return
		}
	}
	switch {
	case len(all) == 1:
		c.Check = strings.TrimSpace(all[0][2])
	case len(all) > 1:
		r.q.fault(Fault{Line: c.Line, Message: fmt.Sprintf("criterion %d has %d checks; keep one, or make them two criteria", c.Number, len(all)), Blocks: true})
	case strings.Contains(strings.ToLower(c.Text), "(check:"):
		r.q.fault(Fault{Line: c.Line, Message: fmt.Sprintf("criterion %d: a check is written (check: `command`)", c.Number), Blocks: true})
	}
}

// inOrder accepts 1, 2, 3, and lists that begin anew at 1 under a heading.
func inOrder(numbers []int) bool {
	last := 0
	for i, n := range numbers {
		if n != last+1 && !(n == 1 && i > 0 && last > 1) {
			return false
		}
		last = n
	}
	return true
}

// renumber rewrites the list's marks and touches nothing else.
func renumber(src []byte) ([]byte, error) {
	q := Parse(src)
	if q.doc == nil || len(q.Criteria) == 0 {
		return nil, fmt.Errorf("repair %s: the file has changed; read it again", QuestFile)
	}
	lines := strings.SplitAfter(string(src), "\n")
	for _, c := range q.Criteria {
		i := c.Line - 1
		bare := strings.TrimRight(lines[i], "\r\n")
		end := lines[i][len(bare):]
		text := ""
		if m := numbered.FindStringSubmatch(bare); m != nil {
			text = m[2]
		} else if m := bulleted.FindStringSubmatch(bare); m != nil {
			text = m[1]
		} else {
			return nil, fmt.Errorf("repair %s: line %d is no list item any more", QuestFile, c.Line)
		}
		lines[i] = fmt.Sprintf("%d. %s%s", c.Number, text, end)
	}
	return []byte(strings.Join(lines, "")), nil
}

// CriteriaText renders criteria as a numbered list and nothing around it: the
// prose of the section may say why a criterion was chosen, and that is not the
// Dragon's to know.
func CriteriaText(list []Criterion) string {
	var b strings.Builder
	current := Sort("")
	for _, c := range list {
		if c.Sort != current && !growMark.MatchString(c.Text) && !shipMark.MatchString(c.Text) {
			current = c.Sort
			fmt.Fprintf(&b, "%s\n\n", sortHeading(c.Sort))
		}
		fmt.Fprintf(&b, "%d. %s\n", c.Number, c.Text)
	}
	return b.String()
}

func sortHeading(s Sort) string {
	switch s {
	case Transformation:
		return "### Transformation"
	case Deliverable:
		return "### Deliverables"
	}
	return "### Criteria"
}
