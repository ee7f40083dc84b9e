package quest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/frontmatter"
)

// QuestFile is the quest's path in the workspace.
const QuestFile = ".campaign/quest.md"

// The sections of quest.md, in their order.
const (
	sectionNarrative   = "Quest Narrative"
	sectionCriteria    = "Success Criteria"
	sectionDragon      = "Anticipated Dragon"
	sectionAssignments = "Party Assignments"
	sectionProgress    = "Progress Log"
)

func sectionNames() []string {
	return []string{sectionNarrative, sectionCriteria, sectionDragon, sectionAssignments, sectionProgress}
}

// Quest is quest.md as it was read. Its fields are what could be understood;
// Faults says what could not. The text itself is kept for lossless changes.
type Quest struct {
	Title       string
	Mode        Mode
	Phase       Phase
	Created     string // a date, as written
	Narrative   string
	Criteria    []Criterion
	Dragon      string // section Anticipated Dragon
	Assignments []Assignment
	Progress    []Entry
	Faults      []Fault

	file          string // what faults call it, if not quest.md
	doc           *frontmatter.Document
	src           []byte
	criteriaProse string // what stands around the criteria in their section
}

// Parse reads quest.md. It never fails: what is damaged is in Faults, and a
// quest with a fault that Blocks must not be changed.
func Parse(data []byte) *Quest {
	q := &Quest{src: bytes.Clone(data)}
	if !q.readable() {
		return q
	}
	doc, err := frontmatter.Parse(data)
	if err != nil {
		q.headerFault(err)
		return q
	}
	q.doc = doc
	q.readHeader()
	q.checkSections()
	q.Narrative = q.section(sectionNarrative)
	q.Dragon = q.section(sectionDragon)
	q.readCriteria()
	q.readAssignments()
	q.readProgress()
	q.Title = q.title()
	return q
}

// Err is nil, or a *DamagedError with the faults that block.
func (q *Quest) Err() error {
	bad := slices.DeleteFunc(slices.Clone(q.Faults), func(f Fault) bool { return !f.Blocks })
	if len(bad) == 0 {
		return nil
	}
	return &DamagedError{Faults: bad}
}

// Bytes is the file as it now stands.
func (q *Quest) Bytes() []byte {
	if q.doc == nil {
		return bytes.Clone(q.src)
	}
	return q.doc.Bytes()
}

func (q *Quest) fault(f Fault) {
	f.File = cmp.Or(q.file, QuestFile)
	q.Faults = append(q.Faults, f)
}

// Blank says that there is nothing in the file: a new quest can take its place.
func (q *Quest) Blank() bool { return len(bytes.TrimSpace(q.src)) == 0 }

// readable finds what makes a file no text at all.
func (q *Quest) readable() bool {
	if q.Blank() {
		q.fault(Fault{Message: "the file is empty; restore it, or begin anew: `conclave quest start`", Blocks: true})
		return false
	}
	if i := bytes.IndexByte(q.src, 0); i >= 0 {
		q.fault(Fault{Line: lineOf(q.src, i), Message: "a NUL byte; this is not a text file, restore it", Blocks: true})
		return false
	}
	if !utf8.Valid(q.src) {
		q.fault(Fault{Line: lineOf(q.src, invalidAt(q.src)), Message: "not valid UTF-8; save the file as UTF-8", Blocks: true})
		return false
	}
	for i, line := range bytes.Split(q.src, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			q.fault(Fault{Line: i + 1, Message: "an unresolved merge conflict; choose one side", Blocks: true})
			return false
		}
	}
	return true
}

func lineOf(src []byte, at int) int { return 1 + bytes.Count(src[:at], []byte("\n")) }

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

func (q *Quest) section(name string) string {
	s, _ := q.doc.Section(name)
	return strings.TrimSpace(s.Body)
}

// checkSections reports sections that stand twice, and sections that are there
// under a heading of another level.
func (q *Quest) checkSections() {
	for _, name := range sectionNames() {
		first := 0
		for _, s := range q.doc.Sections() {
			if !sameName(s.Name, name) {
				continue
			}
			if first > 0 {
				q.fault(Fault{Line: s.Line, Message: fmt.Sprintf("section %q stands here a second time (first at line %d); keep one", name, first), Blocks: true})
			} else {
				first = s.Line
			}
		}
		if first == 0 {
			q.missing(name)
		}
	}
}

func (q *Quest) missing(name string) {
	f := Fault{Message: fmt.Sprintf("section %q is missing", name), Blocks: name == sectionCriteria}
	if at, line := strayHeading(q.doc.Bytes(), name); at >= 0 {
		f.Line = line
		f.Message = fmt.Sprintf("section %q is not a level-2 heading", name)
		f.Offer = fmt.Sprintf("make line %d \"## %s\"", line, name)
		f.repair = func(src []byte) ([]byte, error) { return levelHeading(src, name) }
	}
	q.fault(f)
}

// strayHeading finds a line that is the section's heading at a wrong level,
// outside fenced code.
func strayHeading(src []byte, name string) (at, line int) {
	fenced, offset := false, 0
	for i, l := range bytes.SplitAfter(src, []byte("\n")) {
		text := strings.TrimSpace(string(l))
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			fenced = !fenced
		}
		if rest := strings.TrimLeft(text, "#"); !fenced && rest != text && sameName(strings.TrimRight(rest, "# "), name) {
			return offset, i + 1
		}
		offset += len(l)
	}
	return -1, 0
}

func levelHeading(src []byte, name string) ([]byte, error) {
	at, _ := strayHeading(src, name)
	if at < 0 {
		return nil, fmt.Errorf("repair %s: the file has changed; read it again", QuestFile)
	}
	end := len(src)
	if i := bytes.IndexAny(src[at:], "\r\n"); i >= 0 {
		end = at + i
	}
	return append(append(bytes.Clone(src[:at]), "## "+name...), src[end:]...), nil
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}
