package gate

import (
	"errors"
	"fmt"
	"slices"

	"conclave/policy"
	"conclave/quest"
)

// What a judge says of a criterion, and what becomes of a criterion and a case.
// As a vote NotJudged is an abstention.
const (
	Met       = "met"
	NotMet    = "not met"
	NotJudged = "not judged"
)

// The rules by which votes are counted.
const (
	All      = "all"
	Majority = "majority"
)

// CheckPanel refuses a rule that there is not, and a number of judges that could
// end in a tie.
func CheckPanel(rule string, judges int) error {
	switch {
	case rule != All && rule != Majority:
		return fmt.Errorf("rule %q is none of %s and %s", rule, All, Majority)
	case judges < 1 || judges > policy.MaxJudges || judges%2 == 0:
		return fmt.Errorf("%d judges: ask an odd number of them, 1 to %d", judges, policy.MaxJudges)
	}
	return nil
}

// Vote is what a judge's word on a criterion counts as: a Dragon's status, or
// a Guardian's outcome.
func Vote(word string) string {
	switch word {
	case Met, string(quest.Approved):
		return Met
	case NotMet, "partially met", string(quest.Blocked), string(quest.ConditionalApproval):
		return NotMet
	}
	return NotJudged
}

// Ballot is all that was said of one criterion.
type Ballot struct {
	Number      int      // of the criterion
	Votes       []string // one a judge, in their order; of a judge without one there is none
	CheckFailed bool     // the criterion's own check ran, and said no
}

// Decision is what the votes come to.
type Decision struct {
	Outcome     string    `json:"outcome"` // met, not met, not judged
	Criteria    []Decided `json:"criteria"`
	Independent bool      `json:"independent"`
	Families    []string  `json:"families"`
}

// Decided is what the votes on one criterion come to.
type Decided struct {
	Number    int    `json:"number"`
	Status    string `json:"status"` // met, not met, not judged
	Met       int    `json:"met"`
	NotMet    int    `json:"not_met"`
	Abstained int    `json:"abstained"`
	Why       string `json:"why,omitempty"`
}

// Decide counts the votes of so many judges by a rule. Families are those of the
// judges, one for each. An error says that these are no votes that could be
// counted; then there is no decision.
func Decide(rule string, judges int, ballots []Ballot, families []string) (Decision, error) {
	if err := CheckPanel(rule, judges); err != nil {
		return Decision{}, err
	}
	if len(ballots) == 0 {
		return Decision{}, errors.New("there is no criterion to decide")
	}
	d := Decision{Outcome: Met, Families: distinct(families), Independent: Independent(judges, families)}
	for i, b := range ballots {
		if slices.ContainsFunc(ballots[:i], func(o Ballot) bool { return o.Number == b.Number }) {
			return Decision{}, fmt.Errorf("criterion %d stands twice", b.Number)
		}
		one, err := b.decide(rule, judges)
		if err != nil {
			return Decision{}, err
		}
		d.Criteria = append(d.Criteria, one)
		if one.Status == NotMet || one.Status == NotJudged && d.Outcome == Met {
			d.Outcome = one.Status
		}
	}
	return d, nil
}

// decide counts the votes on one criterion.
func (b Ballot) decide(rule string, judges int) (Decided, error) {
	d := Decided{Number: b.Number}
	if len(b.Votes) > judges {
		return d, fmt.Errorf("criterion %d: %d votes of %d judges", b.Number, len(b.Votes), judges)
	}
	for _, v := range b.Votes {
		switch v {
		case Met:
			d.Met++
		case NotMet:
			d.NotMet++
		case NotJudged:
		default:
			return d, fmt.Errorf("criterion %d: %q is no vote", b.Number, v)
		}
	}
	d.Abstained = judges - d.Met - d.NotMet
	most := judges/2 + 1
	switch {
	case b.CheckFailed:
		d.Status, d.Why = NotMet, "its check failed"
	case d.Met+d.NotMet < most:
		d.Status, d.Why = NotJudged, d.dissent(judges, d.Abstained, "did not judge it")
	case d.NotMet >= most || rule == All && d.NotMet > 0:
		d.Status, d.Why = NotMet, d.dissent(judges, d.NotMet, "said that it is not met")
	case d.Met == judges || rule == Majority && d.Met >= most:
		d.Status, d.Why = Met, d.dissent(judges, d.Met, "said that it is met")
	case rule == All:
		d.Status, d.Why = NotJudged, d.dissent(judges, d.Abstained, "did not judge it, and all would have to")
	default:
		d.Status, d.Why = NotJudged, fmt.Sprintf(
			"%d of %d judges said that it is met and %d that it is not: neither is a majority", d.Met, judges, d.NotMet)
	}
	return d, nil
}

// dissent says how many judges did something, where there are several and not all
// of them gave one verdict.
func (d Decided) dissent(judges, n int, what string) string {
	if judges == 1 && d.Abstained > 0 {
		return "the judge " + what
	}
	if d.Met == judges || d.NotMet == judges {
		return ""
	}
	return fmt.Sprintf("%d of %d judges %s", n, judges, what)
}

// Exit is the code a process ends with that has decided: 3 is no verdict.
func (d Decision) Exit() int {
	switch d.Outcome {
	case Met:
		return 0
	case NotMet:
		return 1
	}
	return 3
}
