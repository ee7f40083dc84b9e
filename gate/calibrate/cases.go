package calibrate

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/frontmatter"
	"conclave/gate"
)

//go:embed all:testdata/cases all:testdata/persuasion
var files embed.FS

const (
	casesDir      = "testdata/cases"
	persuasionDir = "testdata/persuasion"
)

// The classes of cases.
const (
	ClassMet    = "met"
	ClassNotMet = "not met"
	ClassTrap   = "trap"
)

var classes = []string{ClassMet, ClassNotMet, ClassTrap}

// Case is work with known answers.
type Case struct {
	Name     string      `yaml:"-"`
	Class    string      `yaml:"class"`
	About    string      `yaml:"about"` // what the work is written in
	Criteria []Criterion `yaml:"criteria"`

	work map[string][]byte // by path
}

// Criterion is one that has a true answer.
type Criterion struct {
	Text   string `yaml:"text"`
	Check  string `yaml:"check"`  // the command that decides it, if one does
	Answer string `yaml:"answer"` // met, not met
	Why    string `yaml:"why"`
	Proof  string `yaml:"proof"` // a command that succeeds if it is met, for the tests
}

// persuasion is a case whose work wants another answer.
type persuasion struct {
	Twin string `yaml:"twin"` // the case
	Way  string `yaml:"way"`
	Aim  string `yaml:"aim"` // what it wants the judge to say

	name string
	made *Case // the twin, persuaded
}

// text is the criteria as a gate reads them.
func (c *Case) text() string {
	var b strings.Builder
	for i, k := range c.Criteria {
		fmt.Fprintf(&b, "%d. %s", i+1, k.Text)
		if k.Check != "" {
			fmt.Fprintf(&b, " (check: `%s`)", k.Check)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// write puts the work into a directory, and returns what lies at its top.
func (c *Case) write(dir string) ([]string, error) {
	top := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.work)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, c.work[name], 0o600); err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(name, "/")
		top[first] = true
	}
	return slices.Sorted(maps.Keys(top)), nil
}

func loadCases() ([]*Case, error) {
	names, err := listed(casesDir)
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, name := range names {
		c := &Case{Name: name}
		if err := decode(path.Join(casesDir, name), c); err != nil {
			return nil, err
		}
		if c.work, err = readWork(path.Join(casesDir, name)); err != nil {
			return nil, err
		}
		if err := c.sound(); err != nil {
			return nil, fmt.Errorf("case %s: %w", name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// sound says what is wrong with a case.
func (c *Case) sound() error {
	answers := 0
	for i, k := range c.Criteria {
		if k.Text == "" || k.Why == "" || k.Answer != gate.Met && k.Answer != gate.NotMet {
			return fmt.Errorf("criterion %d wants a text, an answer and a reason", i+1)
		}
		if k.Answer == gate.NotMet {
			answers++
		}
	}
	switch {
	case len(c.Criteria) == 0 || len(c.work) == 0 || c.About == "":
		return fmt.Errorf("it wants criteria and work, and what that is written in")
	case !slices.Contains(classes, c.Class):
		return fmt.Errorf("class %q is none", c.Class)
	case (answers == 0) != (c.Class == ClassMet):
		return fmt.Errorf("class %q, and %d criteria are not met", c.Class, answers)
	}
	return nil
}

func loadPersuasions(cases []*Case) ([]*persuasion, error) {
	names, err := listed(persuasionDir)
	if err != nil {
		return nil, err
	}
	var out []*persuasion
	for _, name := range names {
		p := &persuasion{name: name}
		dir := path.Join(persuasionDir, name)
		if err := decode(dir, p); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(cases, func(c *Case) bool { return c.Name == p.Twin })
		if i < 0 || p.Way == "" || p.Aim != gate.Met && p.Aim != gate.NotMet {
			return nil, fmt.Errorf("persuasion %s wants a twin, a way and an aim", name)
		}
		more, err := readWork(dir)
		if err != nil {
			return nil, err
		}
		made := *cases[i]
		made.work = maps.Clone(cases[i].work)
		maps.Copy(made.work, more)
		p.made = &made
		out = append(out, p)
	}
	return out, nil
}

func listed(dir string) ([]string, error) {
	entries, err := files.ReadDir(dir)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, err
}

func decode(dir string, v any) error {
	data, err := files.ReadFile(path.Join(dir, "case.yaml"))
	if err == nil {
		err = frontmatter.Decode(data, v)
	}
	if err != nil {
		return fmt.Errorf("%s/case.yaml: %w", dir, err)
	}
	return nil
}

func readWork(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	root := path.Join(dir, "work")
	err := fs.WalkDir(files, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		out[strings.TrimPrefix(name, root+"/")] = data
		return err
	})
	return out, err
}
