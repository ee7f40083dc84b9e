package table

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/markdown"
	word "conclave/internal/nearest"
)

// Status says whether a character can be called.
type Status string

const (
	Present Status = "present"
	Dead    Status = "dead"
	Retired Status = "retired"
	Benched Status = "benched"
	Absent  Status = "absent"
)

// Statuses are all of them.
var Statuses = []Status{Present, Dead, Retired, Benched, Absent}

// Character is a member of the party. The file name of the sheet is the
// identity; the name is for showing.
type Character struct {
	Slug   string
	Name   string // first heading of the sheet
	Status Status
}

// Roster is the party as its sheets are.
type Roster struct {
	Characters []Character // sorted by slug
	Problems   []string    // files that are not seated, and why; to be shown, never swallowed
	Warnings   []string
}

// LoadRoster reads party/. statuses, by slug, come from the table's own state;
// a character without one is present.
func LoadRoster(party *Dir, statuses map[string]Status, caps Caps) (Roster, error) {
	caps = caps.WithDefaults()
	names, err := party.List()
	if err != nil {
		return Roster{}, err
	}
	if err := foldClash(names); err != nil {
		return Roster{}, err
	}
	var r Roster
	for _, name := range names {
		if !isSheet(name) {
			continue
		}
		if c, ok := r.readSheet(party, name, caps); ok {
			if s := statuses[c.Slug]; s != "" {
				c.Status = s
			}
			r.Characters = append(r.Characters, c)
		}
	}
	if len(r.Characters) > caps.Party {
		return Roster{}, fmt.Errorf("party/: %d characters, at most %d", len(r.Characters), caps.Party)
	}
	r.checkJournals(names)
	return r, nil
}

// isSheet: party/*.md without journals and briefs.
func isSheet(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, ".md") && !strings.HasPrefix(name, ".") &&
		!strings.HasSuffix(lower, journalSuffix) && !strings.HasSuffix(lower, briefSuffix)
}

// foldClash refuses two files that are one on a disk that ignores case.
func foldClash(names []string) error {
	seen := map[string]string{}
	for _, n := range names {
		key := strings.ToLower(n)
		if other, ok := seen[key]; ok && strings.HasSuffix(key, ".md") {
			return fmt.Errorf("party/%s and party/%s differ only in case; rename one", other, n)
		}
		seen[key] = n
	}
	return nil
}

func (r *Roster) readSheet(party *Dir, name string, caps Caps) (Character, bool) {
	slug := strings.TrimSuffix(name, ".md")
	if err := CheckSlug(slug); err != nil {
		r.Problems = append(r.Problems, sheetNameProblem(name, err))
		return Character{}, false
	}
	data, err := party.Read(name, caps.Sheet)
	if err == nil && !markdown.Readable(data) {
		err = fmt.Errorf("party/%s: not valid UTF-8", name)
	}
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
		return Character{}, false
	}
	c := Character{Slug: slug, Name: markdown.FirstHeading(RemoveGM(string(data))), Status: Present}
	if c.Name == "" {
		c.Name = nameOf(slug)
	} else if s, err := Slugify(c.Name); err == nil && s != slug {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("party/%s: the heading %q would give %s.md; the file name counts", name, c.Name, s))
	}
	return c, true
}

func sheetNameProblem(name string, err error) string {
	base := name[:len(name)-len(".md")]
	if se, ok := err.(*SlugError); ok && se.Suggest != "" {
		return fmt.Sprintf("party/%s: %s; rename to %s.md", name, se.Reason, se.Suggest)
	}
	s := fmt.Sprintf("party/%s: not a valid character file name", name)
	if to, err := Slugify(base); err == nil {
		s += "; rename to " + to + ".md"
	}
	return s
}

// nameOf makes a name for a sheet without a heading.
func nameOf(slug string) string {
	words := strings.Split(slug, "-")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

// checkJournals reports journals without a character; together with a sheet
// that has no journal it is the trace of a sheet renamed by hand.
func (r *Roster) checkJournals(names []string) {
	var orphans, bare []string
	for _, n := range names {
		if slug, ok := strings.CutSuffix(n, journalSuffix); ok && !slices.Contains(names, slug+".md") {
			orphans = append(orphans, slug)
			r.Warnings = append(r.Warnings, fmt.Sprintf("party/%s: journal without a character", n))
		}
	}
	for _, c := range r.Characters {
		if !slices.Contains(names, JournalFile(c.Slug)) {
			bare = append(bare, c.Slug)
		}
	}
	if len(orphans) == 1 && len(bare) == 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"party/%s has no journal and %s has no sheet: was the sheet renamed by hand? use: table rename %s %s",
			SheetFile(bare[0]), JournalFile(orphans[0]), orphans[0], bare[0]))
	}
}

// Get finds a character by its exact slug.
func (r Roster) Get(slug string) (Character, bool) {
	for _, c := range r.Characters {
		if c.Slug == slug {
			return c, true
		}
	}
	return Character{}, false
}

// Slugs lists the party in order.
func (r Roster) Slugs() []string {
	out := make([]string, len(r.Characters))
	for i, c := range r.Characters {
		out[i] = c.Slug
	}
	return out
}

// Suggest finds whom a name may have meant.
func (r Roster) Suggest(name string) string { return nearest(name, r.Slugs()) }

// nearest finds what a name may have meant. The result is always one of the
// slugs; the name itself goes nowhere.
func nearest(name string, slugs []string) string {
	low := strings.ToLower(strings.TrimSpace(name))
	if s, err := Slugify(name); err == nil && !strings.ContainsAny(name, `/\.`) {
		low = s
	}
	for _, slug := range slugs {
		if low != "" && (strings.HasPrefix(slug, low+"-") || strings.HasSuffix(slug, "-"+low) || slug == low) {
			return slug
		}
	}
	return word.Of(low, slugs)
}

// Move is one file of a rename, by campaign path.
type Move struct{ From, To string }

// PlanRename lists the moves that rename a character. The flow does them, and
// its own state, as one journaled step.
func PlanRename(r Roster, party *Dir, from, to string) ([]Move, error) {
	if _, ok := r.Get(from); !ok {
		return nil, fmt.Errorf("rename %s: no such character", quoted(from))
	}
	if err := CheckSlug(to); err != nil {
		return nil, err
	}
	if err := UniqueSlug(to, r.Slugs()); err != nil {
		return nil, err
	}
	names, err := party.List()
	if err != nil {
		return nil, err
	}
	var out []Move
	for _, file := range []func(string) string{SheetFile, JournalFile, briefFile} {
		if slices.Contains(names, file(to)) {
			return nil, fmt.Errorf("rename to %s: party/%s exists", to, file(to))
		}
		if slices.Contains(names, file(from)) {
			out = append(out, Move{"party/" + file(from), "party/" + file(to)})
		}
	}
	return out, nil
}
