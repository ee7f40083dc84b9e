package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"conclave/policy"
)

var words = []string{Met, NotMet, NotJudged}

// naive is the rule as it was agreed, word by word.
func naive(rule string, judges int, votes []string, failed bool) string {
	count := map[string]int{}
	for _, v := range votes {
		count[v]++
	}
	usable := count[Met] + count[NotMet]
	if failed {
		return NotMet
	}
	if 2*usable <= judges {
		return NotJudged
	}
	if rule == All {
		if count[NotMet] > 0 {
			return NotMet
		}
		if count[Met] == judges {
			return Met
		}
		return NotJudged
	}
	if 2*count[Met] > judges {
		return Met
	}
	if 2*count[NotMet] > judges {
		return NotMet
	}
	return NotJudged
}

// Every vote of one, three and five judges, missing ones included, by both rules,
// with and without a failed check, one criterion.
func TestDecideExhaustively(t *testing.T) {
	n := 0
	for _, judges := range []int{1, 3, 5} {
		for _, rule := range []string{All, Majority} {
			each(judges, func(votes []string) {
				for _, failed := range []bool{false, true} {
					n++
					d := mustDecide(t, rule, judges, Ballot{Number: 1, Votes: votes, CheckFailed: failed})
					want := naive(rule, judges, votes, failed)
					c := d.Criteria[0]
					if d.Outcome != want || c.Status != want || c.Met+c.NotMet+c.Abstained != judges {
						t.Errorf("%s of %d, %q, check failed %v: %+v, want %s", rule, judges, votes, failed, d, want)
					}
					if (c.Why == "") != (!failed && (c.Met == judges || c.NotMet == judges)) {
						t.Errorf("%s of %d, %q: why %q", rule, judges, votes, c.Why)
					}
				}
			})
		}
	}
	if n != 2*2*((3+1)+(27+9+3+1)+(243+81+27+9+3+1)) {
		t.Errorf("%d cases were tried", n)
	}
}

// each goes through all votes of up to so many judges.
func each(judges int, yield func([]string)) {
	var walk func(votes []string)
	walk = func(votes []string) {
		yield(slices.Clone(votes))
		if len(votes) < judges {
			for _, w := range words {
				walk(append(votes, w))
			}
		}
	}
	walk(nil)
}

func mustDecide(t testing.TB, rule string, judges int, ballots ...Ballot) Decision {
	t.Helper()
	d, err := Decide(rule, judges, ballots, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func drawn(t *rapid.T) (rule string, judges int, ballots []Ballot) {
	rule = rapid.SampledFrom([]string{All, Majority}).Draw(t, "rule")
	judges = 1 + 2*rapid.IntRange(0, (policy.MaxJudges-1)/2).Draw(t, "pairs")
	for i := range rapid.IntRange(1, 6).Draw(t, "criteria") {
		votes := rapid.SliceOfN(rapid.SampledFrom(words), 0, judges).Draw(t, "votes")
		ballots = append(ballots, Ballot{Number: i + 1, Votes: votes, CheckFailed: rapid.IntRange(0, 9).Draw(t, "check") == 0})
	}
	return rule, judges, ballots
}

// What the outcome is follows from the criteria, and the exit code from it.
func TestOutcomeOfACase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, judges, ballots := drawn(t)
		d, err := Decide(rule, judges, ballots, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for i, c := range d.Criteria {
			if want := naive(rule, judges, ballots[i].Votes, ballots[i].CheckFailed); c.Status != want {
				t.Fatalf("criterion %d is %s, want %s", c.Number, c.Status, want)
			}
			all = append(all, c.Status)
		}
		want, exit := Met, 0
		switch {
		case slices.Contains(all, NotMet):
			want, exit = NotMet, 1
		case slices.Contains(all, NotJudged):
			want, exit = NotJudged, 3
		}
		if d.Outcome != want || d.Exit() != exit {
			t.Fatalf("%v come to %s and %d", all, d.Outcome, d.Exit())
		}
	})
}

// More failures never make a case met: a vote for met that is taken away or turned,
// a check that fails, a judge that is missing.
func TestNoFailureMakesMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, judges, ballots := drawn(t)
		before, err := Decide(rule, judges, ballots, nil)
		if err != nil {
			t.Fatal(err)
		}
		worse := slices.Clone(ballots)
		i := rapid.IntRange(0, len(worse)-1).Draw(t, "criterion")
		b := &worse[i]
		b.Votes = slices.Clone(b.Votes)
		switch how := rapid.IntRange(0, 2).Draw(t, "how"); {
		case how == 0:
			b.CheckFailed = true
		case how == 1 && len(b.Votes) > 0:
			b.Votes = b.Votes[1:]
		case len(b.Votes) > 0:
			b.Votes[rapid.IntRange(0, len(b.Votes)-1).Draw(t, "judge")] = rapid.SampledFrom(words[1:]).Draw(t, "instead")
		}
		after, err := Decide(rule, judges, worse, nil)
		if err != nil {
			t.Fatal(err)
		}
		if after.Outcome == Met && before.Outcome != Met || after.Criteria[i].Status == Met && before.Criteria[i].Status != Met {
			t.Fatalf("%+v was %s and %+v is %s", ballots[i], before.Criteria[i].Status, worse[i], after.Criteria[i].Status)
		}
		if b.CheckFailed && (after.Criteria[i].Status != NotMet || after.Outcome != NotMet) {
			t.Fatalf("a failed check was outvoted: %+v", after)
		}
	})
}

// The order of the judges does not count.
func TestVotesHaveNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, judges, ballots := drawn(t)
		a, err := Decide(rule, judges, ballots, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ballots {
			ballots[i].Votes = rapid.Permutation(ballots[i].Votes).Draw(t, "order")
		}
		b, err := Decide(rule, judges, ballots, nil)
		if err != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%v, %v: %v", a, b, err)
		}
	})
}

func TestWhatCannotBeCounted(t *testing.T) {
	one := []Ballot{{Number: 1, Votes: []string{Met}}}
	for name, c := range map[string]struct {
		rule    string
		judges  int
		ballots []Ballot
		says    string
	}{
		"no judges":         {All, 0, one, "odd number"},
		"two judges":        {All, 2, one, "odd number"},
		"minus one":         {All, -1, one, "odd number"},
		"too many":          {Majority, policy.MaxJudges + 2, one, "1 to 15"},
		"no rule":           {"", 1, one, "is none of"},
		"another rule":      {"most", 1, one, "is none of"},
		"no criteria":       {All, 1, nil, "no criterion"},
		"more votes":        {All, 1, []Ballot{{Number: 1, Votes: []string{Met, Met}}}, "2 votes of 1"},
		"no vote":           {All, 1, []Ballot{{Number: 1, Votes: []string{"MET"}}}, "is no vote"},
		"partially":         {All, 1, []Ballot{{Number: 1, Votes: []string{"partially met"}}}, "is no vote"},
		"the same criteria": {All, 1, []Ballot{one[0], one[0]}, "stands twice"},
	} {
		d, err := Decide(c.rule, c.judges, c.ballots, nil)
		if err == nil || !strings.Contains(err.Error(), c.says) || d.Outcome != "" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if (Decision{}).Exit() != 3 {
		t.Error("what is not decided is a verdict")
	}
}

func TestVote(t *testing.T) {
	for word, want := range map[string]string{
		"met": Met, "Approved": Met, "not met": NotMet, "partially met": NotMet, "Blocked": NotMet, "Conditional Approval": NotMet,
		"not judged": NotJudged, "No verdict": NotJudged, "": NotJudged, "MET": NotJudged, "Dragon Slain": NotJudged, "met ": NotJudged,
	} {
		if got := Vote(word); got != want {
			t.Errorf("%q counts as %s, want %s", word, got, want)
		}
	}
}
