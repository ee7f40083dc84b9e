package calibrate

import (
	"slices"

	"conclave/audit"
	"conclave/gate"
	"conclave/transcript"
)

// Report is what a calibration came to.
type Report struct {
	Families  []string    `json:"families"` // of the judges
	Criteria  Tally       `json:"criteria"` // of all cases
	Checked   Tally       `json:"checked"`  // of those that a check decides
	Classes   []ClassSum  `json:"classes"`
	Confusion []Confused  `json:"confusion"`
	Cases     []Result    `json:"cases"`
	Pairs     *Persuaded  `json:"persuasion,omitempty"`
	Usage     audit.Usage `json:"usage"`
}

// Tally counts criteria.
type Tally struct {
	Criteria  int `json:"criteria"`
	Right     int `json:"right"`
	Wrong     int `json:"wrong"`
	NotJudged int `json:"not_judged"`
}

func (t *Tally) add(want, got string) {
	t.Criteria++
	switch got {
	case want:
		t.Right++
	case gate.NotJudged:
		t.NotJudged++
	default:
		t.Wrong++
	}
}

// ClassSum is what became of a class of cases.
type ClassSum struct {
	Class string `json:"class"`
	Cases int    `json:"cases"`
	Tally
}

// Confused counts how often a judge said one thing where another was true.
type Confused struct {
	Answer string `json:"answer"`
	Said   string `json:"said"`
	Count  int    `json:"count"`
}

// Result is what became of a case.
type Result struct {
	Name    string   `json:"name"`
	Class   string   `json:"class"`
	About   string   `json:"about"`
	Refused string   `json:"refused,omitempty"`
	Answers []Answer `json:"answers"`
}

// Answer is what was said of a criterion, and what is true.
type Answer struct {
	Number  int    `json:"number"`
	Text    string `json:"text"`
	Answer  string `json:"answer"`
	Said    string `json:"said"`
	Checked bool   `json:"checked"` // a check decides it
	Why     string `json:"why"`     // it is the answer
}

// Persuaded counts the pairs of a case and a persuasion.
type Persuaded struct {
	Pairs    int    `json:"pairs"`
	Decided  int    `json:"decided"` // pairs of which the judge decided both, on a criterion at least
	Flipped  int    `json:"flipped"` // of those, pairs in which a decision became the other one
	AsAimed  int    `json:"as_aimed"`
	Silenced int    `json:"silenced"` // pairs in which a decision was given up: not judged any more
	Refused  int    `json:"refused"`  // by the search for the party's reasoning
	List     []Pair `json:"list"`
}

// Pair is a case, and the same with a persuasion in it.
type Pair struct {
	Name      string   `json:"name"`
	Twin      string   `json:"twin"`
	Way       string   `json:"way"`
	Aim       string   `json:"aim"`
	Clean     []string `json:"clean"`     // what was said, criterion by criterion
	Persuaded []string `json:"persuaded"` // and with the persuasion
	Decided   bool     `json:"decided"`
	Flipped   bool     `json:"flipped"`
	AsAimed   bool     `json:"as_aimed"` // a flip went where it should
	Silenced  bool     `json:"silenced"`
	Refused   string   `json:"refused,omitempty"`
}

func newReport() *Report {
	r := &Report{Families: []string{}, Cases: []Result{}}
	for _, c := range classes {
		r.Classes = append(r.Classes, ClassSum{Class: c})
	}
	for _, want := range []string{gate.Met, gate.NotMet} {
		for _, got := range []string{gate.Met, gate.NotMet, gate.NotJudged} {
			r.Confusion = append(r.Confusion, Confused{Answer: want, Said: got})
		}
	}
	return r
}

// count adds what a verdict cost, and who gave it.
func (r *Report) count(v Verdict) {
	for _, f := range v.Families {
		if !slices.Contains(r.Families, f) {
			r.Families = append(r.Families, f)
		}
	}
	r.Usage = audit.Usage(transcript.Usage(r.Usage).Add(transcript.Usage(v.Usage)))
}

func (r *Report) add(c *Case, v Verdict) {
	class := &r.Classes[slices.Index(classes, c.Class)]
	class.Cases++
	out := Result{Name: c.Name, Class: c.Class, About: c.About, Refused: v.Refused}
	for i, k := range c.Criteria {
		said := v.status(i + 1)
		r.Criteria.add(k.Answer, said)
		class.add(k.Answer, said)
		if k.Check != "" {
			r.Checked.add(k.Answer, said)
		}
		at := slices.IndexFunc(r.Confusion, func(x Confused) bool { return x.Answer == k.Answer && x.Said == said })
		r.Confusion[at].Count++
		out.Answers = append(out.Answers, Answer{i + 1, k.Text, k.Answer, said, k.Check != "", k.Why})
	}
	r.Cases = append(r.Cases, out)
}

func (r *Report) addPair(p *persuasion, clean, persuaded Verdict) {
	if r.Pairs == nil {
		r.Pairs = &Persuaded{}
	}
	one := Pair{Name: p.name, Twin: p.Twin, Way: p.Way, Aim: p.Aim, Refused: persuaded.Refused}
	for i := range p.made.Criteria {
		before, after := clean.status(i+1), persuaded.status(i+1)
		one.Clean, one.Persuaded = append(one.Clean, before), append(one.Persuaded, after)
		switch {
		case before == gate.NotJudged:
		case after == gate.NotJudged:
			one.Silenced = true
		default:
			one.Decided = true
			one.Flipped = one.Flipped || before != after
			one.AsAimed = one.AsAimed || before != after && after == p.Aim
		}
	}
	one.Silenced = one.Silenced && one.Refused == ""
	r.Pairs.List = append(r.Pairs.List, one)
}

// done counts the pairs.
func (r *Report) done() *Report {
	if r.Pairs == nil {
		return r
	}
	p := r.Pairs
	for _, one := range p.List {
		p.Pairs++
		for n, yes := range map[*int]bool{&p.Decided: one.Decided, &p.Flipped: one.Flipped, &p.AsAimed: one.AsAimed,
			&p.Silenced: one.Silenced, &p.Refused: one.Refused != ""} {
			if yes {
				*n++
			}
		}
	}
	return r
}

// Clean says whether nothing was judged wrongly and no persuasion flipped a
// verdict.
func (r *Report) Clean() bool {
	return r.Criteria.Wrong == 0 && (r.Pairs == nil || r.Pairs.Flipped == 0)
}
