package offline

import (
	"fmt"
	"io/fs"
	"strings"
)

// animal is one of the six: what it looks for, and how it speaks.
type animal struct {
	name    string
	opening string // says once that there is no model
	nothing string // when it sees nothing in its field
	probes  []probe
	look    func(*survey) []observation
}

// observation is something seen, in one field. Step is what one could begin
// with.
type observation struct {
	text  string
	step  string
	cites []cite
}

// observe formats an observation and remembers what it cites.
func observe(step, format string, args ...any) observation {
	o := observation{text: fmt.Sprintf(format, args...), step: step}
	for _, a := range args {
		if c, ok := a.(cite); ok {
			o.cites = append(o.cites, c)
		}
	}
	return o
}

func animals() []animal {
	return []animal{bear(), cat(), owl(), puppy(), rabbit(), wolf()}
}

const maxObservations = 5

// answer looks the first time, and looks again for what is asked after that.
func (a animal) answer(t *turn) error {
	t.say(t.opening(a.opening))
	tree := t.room("workspace")
	if tree == nil {
		t.say("I was given no workspace to look at, so I have nothing to say about it.")
		t.answerWith(fill(t.form, nil))
		return nil
	}
	council := len(t.before) == 0 && t.calledFor("council")
	t.hearProgress()
	if !council {
		if err := t.searchFor(tree, len(t.before) > 0); err != nil {
			return err
		}
		if len(t.before) > 0 {
			t.answerWith(fill(t.form, nil))
			return nil
		}
	}
	seen, err := t.survey(tree, a)
	if err != nil {
		return err
	}
	list := renderObservations(seen)
	if list == "" {
		list = a.nothing
	}
	t.say(list)
	if len(seen) > 0 && seen[0].step != "" && council {
		t.say("What I would do first: " + seen[0].step)
	} else if len(seen) > 0 {
		t.note(toolRecommend, seen[0].step)
	}
	t.answerWith(fill(t.form, map[string]any{"observations": lines(seen), "summary": clip(list, 200)}))
	return nil
}

// survey looks at the tree with the animal's eyes and keeps what proves true.
func (t *turn) survey(tree fs.FS, a animal) ([]observation, error) {
	var s *survey
	err := t.look("survey", map[string]any{"path": "workspace"}, func() (string, error) {
		var err error
		if s, err = look(tree, t.opts, a.probes, t.Alive); err != nil {
			return "", err
		}
		return s.summary(), nil
	})
	if err != nil || s == nil {
		return nil, err
	}
	if text := t.read(historyFile); text != "" {
		err := t.look("read", map[string]any{"path": historyFile}, func() (string, error) {
			s.history = readHistory(text)
			return count(len(s.history), "commit"), nil
		})
		if err != nil {
			return nil, err
		}
	}
	s.quest = readCriteria(t.read(criteriaFile))
	var seen []observation
	for _, o := range a.look(s) {
		if len(seen) == maxObservations {
			break
		}
		ok, err := t.verified(tree, o)
		if err != nil {
			return nil, err
		}
		if ok {
			seen = append(seen, o)
		}
	}
	return seen, nil
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

func renderObservations(list []observation) string {
	var b strings.Builder
	for i, o := range list {
		fmt.Fprintf(&b, "%d. %s", i+1, o.text)
		if o.step != "" {
			b.WriteString("\n   " + stepMark + o.step)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// stepMark stands before the step of an observation; Simon looks for it.
const stepMark = "Begin: "

func lines(list []observation) []string {
	var out []string
	for _, o := range list {
		out = append(out, o.text)
	}
	return out
}
