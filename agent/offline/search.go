package offline

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// sighting is where a word stands: how often, in how many files, and the lines worth
// showing: those that can be cited.
type sighting struct {
	word  string
	lines int
	files int
	best  []spot
}

// spot is a line that bears a word.
type spot struct {
	f    *project.File
	n    int
	rank int
}

// searched are the kinds of files whose words count: not licences, lists of
// people, lock files, or what others or programs wrote.
func searched(f *project.File) bool {
	switch f.Kind {
	case project.Source, project.Test, project.Doc, project.Config, project.Example, project.Data, project.Other:
		return f.Read && !people.MatchString(f.Base)
	}
	return false
}

var (
	people  = pattern.New(`(?i)^(authors|contributors|credits|thanks|maintainers)(\.\w+)?$`)
	defines = pattern.New(`^\s*(?:export\s+)?(?:default\s+)?(?:public\s+|private\s+|protected\s+|static\s+` +
		`|abstract\s+|async\s+|pub(?:\([^)]*\))?\s+)*(?:func|def|class|fn|struct|interface|type|const|enum|trait|impl|module` +
		`|function|let|var)\b`)
)

// lookFor finds a word in the project, whatever its case.
func lookFor(s *sight, word string) sighting {
	m := sighting{word: word}
	lower := strings.ToLower(word)
	ok := wholeWord(lower)
	for _, f := range s.Files {
		if !searched(f) || !strings.Contains(strings.ToLower(f.Text), lower) {
			continue
		}
		before := m.lines
		kept := 0
		for n, line := range project.Lines(f.Text) {
			if !ok(line) {
				continue
			}
			m.lines++
			switch {
			case !citable(f.Path) || kept == 4:
			case shows(line, lower):
				kept++
				m.best = append(m.best, spot{f, n, worth(f, line, lower)})
			case kept == 0: // it is there, further on than can be quoted
				kept++
				m.best = append(m.best, spot{f, n, worth(f, line, lower) + unshown})
			}
		}
		if m.lines > before {
			m.files++
		}
	}
	slices.SortStableFunc(m.best, func(a, b spot) int { return cmp.Compare(a.rank, b.rank) })
	return m
}

// unshown is what a line ranks behind when what can be quoted of it lacks the word.
const unshown = 40

// shows says that what can be quoted of a line holds the word.
func shows(line, lower string) bool { return strings.Contains(strings.ToLower(quote(line)), lower) }

// at cites the spot, with its words where these show the one that was looked for.
func (b spot) at(lower string) cite {
	c := at(b.f, b.n)
	if !strings.Contains(strings.ToLower(c.quote), lower) {
		c.quote = ""
	}
	return c
}

// worth ranks a line: where the word is defined, then headings and documents,
// then code, then the rest.
func worth(f *project.File, line, lower string) int {
	depth := min(strings.Count(f.Path, "/"), 3)
	inPath := 4
	if strings.Contains(strings.ToLower(f.Path), lower) {
		inPath = 0
	}
	switch {
	case f.Kind == project.Source && defines.MatchString(line):
		return inPath + depth
	case f.Kind == project.Doc && strings.HasPrefix(line, "#"):
		return 2 + inPath + depth
	case f.Kind == project.Doc:
		return 8 + inPath + depth
	case f.Kind == project.Source:
		return 12 + inPath + depth
	case f.Kind == project.Config || f.Kind == project.Data:
		return 20 + depth
	}
	return 28 + depth
}

// wholeWord accepts the word by itself, with a plain ending, or as a part of a
// name that is made of several words; not other words that begin with it.
func wholeWord(lower string) func(string) bool {
	return func(line string) bool {
		folded := strings.ToLower(line)
		if len(folded) != len(line) {
			line = folded // another alphabet: case tells nothing
		}
		for at := 0; at < len(folded); {
			i := strings.Index(folded[at:], lower)
			if i < 0 || lower == "" {
				return false
			}
			i += at
			if startsWord(line, i) && endsWord(line, i+len(lower)) {
				return true
			}
			at = i + 1
		}
		return false
	}
}

// startsWord: before i there is no letter, or a small one before a capital.
func startsWord(line string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(line[:i])
	here, _ := utf8.DecodeRuneInString(line[i:])
	return i == 0 || !unicode.IsLetter(before) || !unicode.IsLetter(here) || unicode.IsLower(before) &&
		unicode.IsUpper(here)
}

var endings = []string{"s", "es", "d", "ed", "ing", "ly", "'s", "’s"}

// endsWord: at i the word is over, or a plain ending follows.
func endsWord(line string, i int) bool {
	over := func(i int) bool {
		before, _ := utf8.DecodeLastRuneInString(line[:i])
		here, _ := utf8.DecodeRuneInString(line[i:])
		return i >= len(line) || !unicode.IsLetter(here) || unicode.IsLower(before) && unicode.IsUpper(here)
	}
	if over(i) {
		return true
	}
	return slices.ContainsFunc(endings, func(e string) bool {
		return strings.HasPrefix(strings.ToLower(line[i:]), e) && over(i+len(e))
	})
}

const maxShown = 3

// generic words name a field and no thing: where they stand tells nothing.
var generic = strings.Fields("test tests tested testing documentation docs dependencies dependency security release releases " +
	"version versions licence license risk risks quality coverage performance project code team people plan budget deadline deadlines " +
	"complete completed correct broken missing wrong ready")

// showPlaces says where the words of a question stand, rarest first: a word that
// is everywhere tells least. Where none stands anywhere one sentence says so.
func (t *turn) showPlaces(tree fs.FS, s *sight, q query) error {
	q.words = s.unlessNamed(q.things())
	if len(q.words) == 0 {
		return nil // what is asked for is a field, and the findings are of it
	}
	var list []sighting
	err := t.look("search", map[string]any{"path": "workspace", "words": q.words}, func() (string, error) {
		var all []string
		for _, w := range q.words {
			m := lookFor(s, w)
			all = append(all, fmt.Sprintf("%s: %d", w, m.lines))
			list = append(list, m)
		}
		return strings.Join(all, ", "), nil
	})
	if err != nil {
		return err
	}
	var missing []string
	slices.SortStableFunc(list, func(a, b sighting) int { return cmp.Compare(a.files, b.files) })
	var rows []string
	for _, m := range list {
		if m.lines == 0 && s.named(m.word) == nil && s.uncited(m.word) == nil {
			missing = append(missing, m.word)
			continue
		}
		row, err := t.describe(tree, s, m)
		if err != nil {
			return err
		}
		if row != "" && len(rows) < maxShown {
			rows = append(rows, row)
		}
	}
	if len(rows) > 0 {
		t.say("Where your words stand:\n\n" + strings.Join(rows, "\n"))
	}
	if len(missing) > 0 {
		t.say(fmt.Sprintf("No line of the %s that I searched bears %s as a word.",
			count(len(slices.DeleteFunc(slices.Clone(s.Files), func(f *project.File) bool { return !searched(f) })), "file"),
			quotedOr(missing)))
	}
	return nil
}

// describe shows a file that was named, or the lines that bear a word.
func (t *turn) describe(tree fs.FS, s *sight, m sighting) (string, error) {
	var o observation
	if f := s.named(m.word); f != nil {
		head := cite{path: f.Path, line: 1}
		if h := lineWhere(f.Text, func(l string) bool { return quote(l) != "" }); h.line > 0 {
			head = at(f, h.line)
		}
		o = observation{fmt.Sprintf("- `%s` has %s; it begins %s and ends at %s.", f.Path, count(f.Lines, "line"), head,
			last(f)), []cite{head, last(f)}}
	} else if f := s.uncited(m.word); f != nil {
		o.text = fmt.Sprintf("- `%s` has %s; lines of such a name I cannot cite.", printable(f.Path), count(f.Lines, "line"))
	} else if len(m.best) == 0 {
		o.text = fmt.Sprintf("- “%s” stands in %s of %s, in none whose name I can cite.", printable(m.word),
			count(m.lines, "line"), count(m.files, "file"))
	} else {
		lower := strings.ToLower(m.word)
		where := places{m.best[0].at(lower)}
		for _, b := range m.best[1:] {
			if b.f != m.best[0].f {
				where = append(where, b.at(lower))
				break
			}
		}
		o = observation{fmt.Sprintf("- “%s” stands in %s of %s: %s.", printable(m.word), count(m.lines, "line"),
			count(m.files, "file"), where), where}
	}
	ok, err := t.verified(tree, o)
	if err != nil || !ok {
		return "", err
	}
	return o.text, nil
}

// named is the file that bears the name, where there is something to show of it.
func (s *sight) named(word string) *project.File {
	if f := s.called(word); f != nil && f.Read && f.Lines > 0 {
		return f
	}
	return nil
}

// called is the file that bears the name, by its path or its last part, if it can
// be cited.
func (s *sight) called(name string) *project.File {
	return s.bearing(name, func(f *project.File) bool { return citable(f.Path) })
}

// uncited is the file that bears a name by which nothing can be cited, such as one
// with blanks.
func (s *sight) uncited(name string) *project.File {
	return s.bearing(name, func(f *project.File) bool { return !citable(f.Path) })
}

func (s *sight) bearing(name string, ok func(*project.File) bool) *project.File {
	if !strings.ContainsAny(name, "./") {
		return nil
	}
	if f := s.File(path.Clean(name)); f != nil && ok(f) {
		return f
	}
	for _, f := range s.Files {
		if f.Base == name && ok(f) {
			return f
		}
	}
	return nil
}

// unlessNamed leaves out the words that are a part of the name of a file among
// them.
func (s *sight) unlessNamed(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.ContainsFunc(words, func(name string) bool {
			return slices.Contains(strings.Fields(name), w) && name != w && s.uncited(name) != nil
		})
	})
}

// quotedOr joins words for a sentence that denies them.
func quotedOr(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, "“"+printable(w)+"”")
	}
	if len(out) < 2 {
		return strings.Join(out, "")
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}
