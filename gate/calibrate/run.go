package calibrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"conclave/audit"
	"conclave/gate"
)

// Trial is a case as it is put before the judges.
type Trial struct {
	Name     string
	Dir      string   // with the work and nothing else
	Work     []string // what lies at its top
	Criteria string
}

// Verdict is what came of a trial.
type Verdict struct {
	Status   map[int]string // by the criterion's number: met, not met, not judged
	Refused  string         // why it was not put before a judge
	Families []string       // of those who judged
	Usage    audit.Usage
}

// Judge decides a trial. An error ends the calibration: a judge that fails is
// none, it has not judged.
type Judge func(ctx context.Context, t Trial) (Verdict, error)

// Options say what is tried.
type Options struct {
	Only       string // cases whose names match this pattern of package path; "" for all
	Persuasion bool   // the persuasions too, each with its twin
	// Tell hears how far it is; nil: nobody.
	Tell func(name string, done, total int)
}

// ErrNoCase says that no case has such a name.
var ErrNoCase = errors.New("no case has such a name; conclave gate calibrate --json names them all")

// Run puts the cases before the judge, one after the other.
func Run(ctx context.Context, o Options, judge Judge) (*Report, error) {
	cases, persuasions, err := chosen(o)
	if err != nil {
		return nil, err
	}
	r := &runner{judge: judge, tell: o.Tell, total: len(cases) + len(persuasions), report: newReport()}
	clean := map[string]Verdict{}
	for _, c := range cases {
		v, err := r.try(ctx, c.Name, c)
		if err != nil {
			return nil, err
		}
		clean[c.Name] = v
		r.report.add(c, v)
	}
	for _, p := range persuasions {
		v, err := r.try(ctx, p.name, p.made)
		if err != nil {
			return nil, err
		}
		r.report.addPair(p, clean[p.Twin], v)
	}
	return r.report.done(), nil
}

// chosen are the cases that are tried; those that a persuasion has for a twin are
// among them.
func chosen(o Options) ([]*Case, []*persuasion, error) {
	cases, err := loadCases()
	if err != nil {
		return nil, nil, err
	}
	var persuasions []*persuasion
	if o.Persuasion {
		if persuasions, err = loadPersuasions(cases); err != nil {
			return nil, nil, err
		}
	}
	if o.Only == "" {
		return cases, persuasions, nil
	}
	if _, err := path.Match(o.Only, ""); err != nil {
		return nil, nil, fmt.Errorf("%q: %w", o.Only, err)
	}
	named := func(name string) bool { ok, _ := path.Match(o.Only, name); return ok }
	persuasions = slices.DeleteFunc(persuasions, func(p *persuasion) bool { return !named(p.name) && !named(p.Twin) })
	cases = slices.DeleteFunc(cases, func(c *Case) bool {
		return !named(c.Name) && !slices.ContainsFunc(persuasions, func(p *persuasion) bool { return p.Twin == c.Name })
	})
	if len(cases) == 0 {
		return nil, nil, fmt.Errorf("%q: %w", o.Only, ErrNoCase)
	}
	return cases, persuasions, nil
}

type runner struct {
	judge  Judge
	tell   func(string, int, int)
	done   int
	total  int
	report *Report
}

func (r *runner) try(ctx context.Context, name string, c *Case) (v Verdict, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if r.tell != nil {
		r.tell(name, r.done, r.total)
	}
	r.done++
	dir, err := os.MkdirTemp("", "conclave-case-")
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	top, err := c.write(dir)
	if err != nil {
		return v, err
	}
	v, err = r.judge(ctx, Trial{Name: name, Dir: dir, Work: top, Criteria: c.text()})
	if err != nil {
		return v, fmt.Errorf("case %s: %w", name, err)
	}
	r.report.count(v)
	return v, nil
}

// status is what a verdict says of a criterion.
func (v Verdict) status(number int) string {
	if s := v.Status[number]; s == gate.Met || s == gate.NotMet {
		return s
	}
	return gate.NotJudged
}
