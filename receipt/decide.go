package receipt

import (
	"conclave/gate"
	"conclave/policy"
	"conclave/quest"
)

// Decide counts what the judges and checks of a body say, by package gate. The
// Guardian has one criterion, which is its expectation, and its verdict is its
// vote; of everybody else the findings are.
func (b *Body) Decide() (Decision, error) {
	families := make([]string, 0, len(b.Judges))
	for _, j := range b.Judges {
		families = append(families, j.Family)
	}
	var ballots []gate.Ballot
	for _, number := range b.numbers() {
		ballot := gate.Ballot{Number: number}
		for _, j := range b.Judges {
			ballot.Votes = append(ballot.Votes, gate.Vote(b.word(j, number)))
		}
		for _, c := range b.Checks {
			if c.Number == number && c.State == string(quest.CheckFailed) {
				ballot.CheckFailed = true
			}
		}
		ballots = append(ballots, ballot)
	}
	return gate.Decide(b.Case.Rule, b.Case.N, ballots, families)
}

// numbers are those of the criteria that are decided.
func (b *Body) numbers() []int {
	if b.isGuardian() {
		return []int{1}
	}
	numbers := make([]int, 0, len(b.Case.Criteria.List))
	for _, c := range b.Case.Criteria.List {
		numbers = append(numbers, c.Number)
	}
	return numbers
}

func (b *Body) isGuardian() bool { return b.Case.Role == string(policy.Guardian) }

// word is what a judge says of a criterion; one that failed says nothing.
func (b *Body) word(j Judge, number int) string {
	if j.Failed != "" {
		return ""
	}
	if b.isGuardian() {
		return j.Verdict
	}
	for _, f := range j.Findings {
		if f.Number == number {
			return f.Status
		}
	}
	return ""
}
