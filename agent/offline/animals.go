package offline

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"conclave/internal/project"
)

// animal is one of the six: what it looks for, and how it speaks.
type animal struct {
	name    string
	opening string // says that there is no model
	nothing string // when it sees nothing in its field
	rules   []rule
}

// observation is something that was seen, with the lines that show it.
type observation struct {
	text  string
	cites []cite
}

func animals() []animal {
	return []animal{bear(), cat(), owl(), puppy(), rabbit(), wolf()}
}

// speaksFirst is who says in a council, for all six, that there is no model, and
// where the words of the question stand.
const speaksFirst = "bear"

// answer gives the findings that bear on what was asked first. In a council
// what is said once is said by the first of the six.
func (a animal) answer(t *turn) error {
	council := len(t.before) == 0 && t.calledFor("council")
	switch {
	case !council:
		t.say(t.opening(a.opening))
	case a.name == speaksFirst:
		t.say("There is no model behind us: we look, we do not reason. Each of us names at most " + smallNumbers[maxFindings] +
			" things, and only what can be shown.")
	}
	tree := t.room("workspace")
	if tree == nil {
		t.say("I was given no workspace to look at, so I have nothing to say about it.")
		t.answerWith(fill(t.form, nil))
		return nil
	}
	t.hearProgress()
	s, err := t.see(tree)
	if err != nil || s == nil {
		return err
	}
	q := ask(ownWords(t.text))
	if len(q.words) > 0 && (!council || a.name == speaksFirst) {
		if err := t.showPlaces(tree, s, q); err != nil {
			return err
		}
	} else if len(t.before) > 0 {
		t.say("I look for words, and I find none in that which I could look for. Ask me about a file, a name or a thing, " +
			"and I will go and see.")
	}
	seen, err := t.findings(tree, s, a, q)
	if err != nil {
		return err
	}
	if len(t.before) > 0 { // what was said once is not said again, but for what fits
		if seen = q.fitting(seen); len(seen) == 0 && len(q.things()) == 0 && len(q.words) > 0 {
			t.say("I have nothing more to show about that.")
		}
		t.say(renderFindings(seen))
		t.answerWith(fill(t.form, nil))
		return nil
	}
	list := renderFindings(seen)
	if list == "" {
		list = a.nothing
	}
	t.say(list, s.limitsSaid())
	if len(seen) > 0 && !council {
		t.note(toolRecommend, seen[0].step)
	}
	t.answerWith(fill(t.form, map[string]any{"observations": texts(seen), "summary": clip(list, 200)}))
	return nil
}

// see looks at the project, or takes the look that another of the party has had
// of the very same tree.
func (t *turn) see(tree fs.FS) (*sight, error) {
	var p *project.Project
	err := t.look("survey", map[string]any{"path": "workspace"}, func() (string, error) {
		var err error
		if p, err = t.shared.open(t.identity(), tree, t.opts, t.Alive); err != nil {
			return "", err
		}
		return summary(p), nil
	})
	if err != nil || p == nil {
		return nil, err
	}
	var past history
	if text := t.read(historyFile); text != "" {
		err := t.look("read", map[string]any{"path": historyFile}, func() (string, error) {
			past = readHistory(text)
			return count(len(past), "commit"), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return newSight(p, past, t.today()), nil
}

// summary says what was looked at, for the record.
func summary(p *project.Project) string {
	n := map[project.Kind]int{}
	for _, f := range p.Files {
		n[f.Kind]++
	}
	text := fmt.Sprintf("%s: %d source, %d test, %d documents; %d read", count(p.Looked.Files, "file"),
		n[project.Source], n[project.Test], n[project.Doc], p.Looked.Read)
	if !p.Looked.Whole() {
		text += "; stopped at a limit, the rest was not looked at"
	}
	return text
}

// findings tries the animal's rules and keeps, of what proves true, the three
// that fit or weigh most.
func (t *turn) findings(tree fs.FS, s *sight, a animal, q query) ([]finding, error) {
	var all []finding
	for _, r := range a.rules {
		all = append(all, r(s)...)
		if err := t.Alive(); err != nil {
			return nil, err
		}
	}
	var out []finding
	for _, f := range rankFindings(all, q) {
		if len(out) == maxFindings {
			break
		}
		if slices.ContainsFunc(out, func(x finding) bool { return x.subject == f.subject }) {
			continue // one thing is named once
		}
		ok, err := t.verified(tree, observation{text: f.text, cites: f.cites})
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, f)
		}
	}
	return out, nil
}

// verified reads every cited line again, on the record.
func (t *turn) verified(tree fs.FS, o observation) (bool, error) {
	all := true
	for _, c := range o.cites {
		err := t.look("read", map[string]any{"path": c.path, "line": c.line}, func() (string, error) {
			if err := c.verify(tree, t.spec.Files); err != nil {
				all = false
				return "", err
			}
			return c.quote, nil
		})
		if err != nil {
			return false, err
		}
	}
	return all, nil
}

func texts(list []finding) []string {
	var out []string
	for _, f := range list {
		out = append(out, f.subject+": "+f.text)
	}
	return out
}

// surveys keeps the last look at a tree, for whoever of the party sees the very
// same one: six advisors of a council do.
type surveys struct {
	mu   sync.Mutex
	key  string
	last *survey
}

type survey struct {
	mu sync.Mutex
	p  *project.Project
}

// open looks at a tree, once for each key. A tree without one is looked at anew.
func (s *surveys) open(key string, tree fs.FS, opts limits, alive func() error) (*project.Project, error) {
	if key == "" {
		return project.Open(tree, opts.project(), alive)
	}
	s.mu.Lock()
	if s.key != key {
		s.key, s.last = key, &survey{}
	}
	mine := s.last
	s.mu.Unlock()
	mine.mu.Lock()
	defer mine.mu.Unlock()
	if mine.p != nil {
		return mine.p, nil
	}
	p, err := project.Open(tree, opts.project(), alive)
	if err == nil {
		mine.p = p
	}
	return p, err
}

// identity is what tells the workspace that the session sees from another one,
// "" where nothing does.
func (t *turn) identity() string {
	if x, ok := t.spec.Files.(interface{ ViewIdentity() string }); ok {
		return x.ViewIdentity()
	}
	return ""
}

// query is what a person asked, as words to look for.
type query struct{ words []string }

// ask takes the words out of what was said. The name of the command is none.
func ask(said string) query {
	if strings.EqualFold(strings.TrimSpace(said), "council") {
		return query{}
	}
	return query{searchWords(said)}
}

// things are the words that name more than a field.
func (q query) things() []string {
	return slices.DeleteFunc(slices.Clone(q.words), func(w string) bool { return slices.Contains(generic, strings.ToLower(w)) })
}

// fit is how well a finding bears on the question: by what it is about, where it
// lies and under which words it is asked for; not by words that it happens to
// hold.
func (q query) fit(f finding) int {
	n := 0
	for _, w := range q.words {
		w = strings.ToLower(w)
		switch {
		case wholeWord(w)(f.subject):
			n += 3
		case f.at(w):
			n += 3
		case topical(f.topics, w):
			n += 2
		}
	}
	return n
}

// at says that the finding cites a file whose path bears the word.
func (f finding) at(word string) bool {
	for _, c := range f.cites {
		if c.path != historyFile && (strings.Contains(strings.ToLower(c.path), word) && strings.ContainsAny(word, "./") ||
			wholeWord(word)(strings.NewReplacer("/", " ", ".", " ").Replace(c.path))) {
			return true
		}
	}
	return false
}

// topical compares beginnings: "dependency" is "dependencies", "testing" "tests".
func topical(topics, word string) bool {
	for t := range strings.FieldsSeq(topics) {
		n := min(len(t), len(word), 6)
		if n >= 4 && t[:n] == word[:n] || t == word {
			return true
		}
	}
	return false
}

// fitting keeps the findings that bear on the question.
func (q query) fitting(list []finding) []finding {
	var out []finding
	for _, f := range list {
		if q.fit(f) > 0 {
			out = append(out, f)
		}
	}
	return out
}
