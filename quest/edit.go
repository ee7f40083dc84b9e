package quest

import (
	"fmt"
	"strings"
	"time"

	"conclave/frontmatter"
)

// Definition is a new quest, as the person agreed to it.
type Definition struct {
	Title       string
	Mode        Mode
	Created     string // a date
	Narrative   string
	Criteria    []Criterion // Text and Sort count; a check stands in the text
	Dragon      string
	Assignments []Assignment
}

// New renders a new quest.md in its canonical form, in phase 1 and with an
// empty log. It refuses a definition that would not read back.
func New(d Definition) ([]byte, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	doc, err := frontmatter.Parse([]byte("---\n---\n\n# " + oneLine(d.Title) + "\n"))
	if err != nil {
		return nil, fmt.Errorf("define quest: %w", err)
	}
	for _, kv := range [][2]string{{"campaign-mode", string(d.Mode)}, {"phase", "1"}, {"created", d.Created}} {
		if err := doc.Set(kv[0], kv[1]); err != nil {
			return nil, fmt.Errorf("define quest: write %s: %w", kv[0], err)
		}
	}
	for _, s := range [][2]string{
		{sectionNarrative, d.Narrative}, {sectionCriteria, definitionCriteria(d.Criteria)}, {sectionDragon, d.Dragon},
		{sectionAssignments, assignmentsTable(d.Assignments)}, {sectionProgress, ""},
	} {
		if err := doc.SetSection(s[0], strings.TrimSpace(s[1])); err != nil {
			return nil, fmt.Errorf("define quest: write section %q: %w", s[0], err)
		}
	}
	q := Parse(doc.Bytes())
	if err := q.Err(); err != nil {
		return nil, fmt.Errorf("define quest: %w", err)
	}
	if len(q.Criteria) != len(d.Criteria) {
		return nil, fmt.Errorf("define quest: %d criteria read back as %d; write each as one list item", len(d.Criteria), len(q.Criteria))
	}
	return doc.Bytes(), nil
}

func (d Definition) check() error {
	if _, err := ParseMode(string(d.Mode)); err != nil {
		return fmt.Errorf("define quest: %w", err)
	}
	if _, err := time.Parse(time.DateOnly, d.Created); err != nil {
		return fmt.Errorf("define quest: created %q is not a date like 2026-02-14", d.Created)
	}
	if oneLine(d.Title) == "" {
		return fmt.Errorf("define quest: it has no title")
	}
	if isSectionName(d.Title) {
		return fmt.Errorf("define quest: %q is the name of a section; choose another title", d.Title)
	}
	if strings.TrimSpace(d.Narrative) == "" {
		return fmt.Errorf("define quest: it has no narrative")
	}
	if len(d.Criteria) == 0 {
		return fmt.Errorf("define quest: it has no success criteria")
	}
	for i, c := range d.Criteria {
		if strings.TrimSpace(c.Text) == "" {
			return fmt.Errorf("define quest: criterion %d is empty", i+1)
		}
	}
	return nil
}

func definitionCriteria(list []Criterion) string {
	var b strings.Builder
	for i, c := range list {
		text := strings.TrimSpace(c.Text)
		if c.Sort == Transformation && !growMark.MatchString(text) {
			text += " (transformation)"
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.ReplaceAll(text, "\n", "\n   "))
	}
	return b.String()
}

// change applies an edit to a copy and returns the new file. The receiver and
// the file stay as they are.
func (q *Quest) change(what string, edit func(*frontmatter.Document) error) ([]byte, error) {
	if err := q.Err(); err != nil {
		return nil, fmt.Errorf("%s: the quest is damaged:\n%w", what, err)
	}
	doc, err := frontmatter.Parse(q.doc.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", what, QuestFile, err)
	}
	if err := edit(doc); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", what, QuestFile, err)
	}
	return doc.Bytes(), nil
}

// WithPhase returns the file in another phase, with entries added to its log.
// The transition is checked against the facts.
func (q *Quest) WithPhase(to Phase, f Facts, entries ...Entry) ([]byte, error) {
	if f.Mode == "" {
		f.Mode = q.Mode
	}
	if err := q.Err(); err != nil {
		return nil, fmt.Errorf("change phase: the quest is damaged:\n%w", err)
	}
	if err := CheckTransition(q.Phase, to, f); err != nil {
		return nil, err
	}
	return q.change("change phase", func(doc *frontmatter.Document) error {
		if err := appendEntries(doc, entries); err != nil {
			return err
		}
		return doc.Set("phase", fmt.Sprint(int(to)))
	})
}

// WithProgress returns the file with entries added to its log. What stands in
// the log stays byte for byte.
func (q *Quest) WithProgress(entries ...Entry) ([]byte, error) {
	return q.change("add to the progress log", func(doc *frontmatter.Document) error { return appendEntries(doc, entries) })
}

func appendEntries(doc *frontmatter.Document, entries []Entry) error {
	for _, e := range entries {
		if oneLine(e.Label+e.Text) == "" {
			return fmt.Errorf("an entry of the progress log is empty")
		}
		if err := doc.AppendToSection(sectionProgress, e.Bullet()); err != nil {
			return err
		}
	}
	return nil
}
