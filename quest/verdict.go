package quest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// GuardianOutcome is what a Guardian may decide. The empty one is no verdict.
type GuardianOutcome string

// The Guardian's outcomes.
const (
	Approved            GuardianOutcome = "Approved"
	Blocked             GuardianOutcome = "Blocked"
	ConditionalApproval GuardianOutcome = "Conditional Approval"
	guardianUndecided   GuardianOutcome = undecided
)

// DragonOutcome is how a confrontation ends. The empty one is no verdict.
type DragonOutcome string

// The Dragon's outcomes.
const (
	DragonSlain     DragonOutcome = "Dragon Slain"
	DragonPrevails  DragonOutcome = "Dragon Prevails"
	dragonUndecided DragonOutcome = undecided
)

// undecided is what an evaluator says that cannot judge what it was asked. It
// is an answer and no verdict: nothing is logged, and no phase moves.
const undecided = "No verdict"

// Status is how far a criterion is met. Partially met is not met, and what was
// not judged is neither.
type Status string

// The statuses.
const (
	statusMet       Status = "met"
	statusPartlyMet Status = "partially met"
	statusNotMet    Status = "not met"
	statusNotJudged Status = "not judged"
)

var statuses = []Status{statusMet, statusPartlyMet, statusNotMet, statusNotJudged}

// Known says whether a criterion can have this status.
func (s Status) Known() bool { return slices.Contains(statuses, s) }

// GuardianVerdict is a checkpoint's structured answer.
type GuardianVerdict struct {
	Verdict GuardianOutcome `json:"verdict"`
	Summary string          `json:"summary"`
	// Gaps are what is missing: "not yet" always says what. Without a verdict
	// they are what could not be judged.
	Gaps       []string `json:"gaps"`
	Conditions []string `json:"conditions"` // of a conditional approval
}

// Decided says that this is a verdict, and not word that there is none.
func (v GuardianVerdict) Decided() bool { return v.Verdict != "" && v.Verdict != guardianUndecided }

// finding is the Dragon's word on one criterion.
type finding struct {
	Number   int    `json:"number"`
	Status   Status `json:"status"`
	Evidence string `json:"evidence"`
}

// DragonVerdict is a confrontation's structured answer.
type DragonVerdict struct {
	Verdict  DragonOutcome `json:"verdict"`
	Summary  string        `json:"summary"`
	Criteria []finding     `json:"criteria"`
}

// Decided says that this is a verdict, and not word that there is none.
func (v DragonVerdict) Decided() bool { return v.Verdict != "" && v.Verdict != dragonUndecided }

// CheckState is what came of a criterion's own check.
type CheckState string

// The states. Only a failed check forbids "met"; one that could not run is
// shown and is no evidence.
const (
	CheckPassed CheckState = "passed"
	CheckFailed CheckState = "failed"
	CheckNotRun CheckState = "could not run"
)

// CheckResult is the result of one check.
type CheckResult struct {
	Number int        `json:"number"` // of the criterion
	State  CheckState `json:"state"`
	Note   string     `json:"note,omitempty"`
}

// verdictTest is what a Dragon's verdict is held against.
type verdictTest struct {
	Mode     Mode
	Criteria []Criterion
	Checks   []CheckResult
}

// Test is what a verdict on this quest is held against.
func (q *Quest) Test(checks []CheckResult) verdictTest {
	return verdictTest{Mode: q.Mode, Criteria: q.Criteria, Checks: checks}
}

// check reports everything that keeps a Guardian's answer from being a
// verdict.
func (v GuardianVerdict) check() []string {
	var bad []string
	switch v.Verdict {
	case Approved:
		if n := len(v.Gaps) + len(v.Conditions); n > 0 {
			bad = append(bad, "verdict: Approved with gaps or conditions contradicts itself; say Conditional Approval or Blocked, or leave the lists empty")
		}
	case Blocked:
		if len(v.Gaps) == 0 {
			bad = append(bad, "gaps: a Blocked verdict names at least one gap")
		}
		if len(v.Conditions) > 0 {
			bad = append(bad, "conditions: a Blocked verdict has none; say what is missing in gaps")
		}
	case ConditionalApproval:
		if len(v.Conditions) == 0 {
			bad = append(bad, "conditions: a Conditional Approval names at least one condition")
		}
	case guardianUndecided:
		if len(v.Gaps) == 0 {
			bad = append(bad, "gaps: without a verdict they name at least one thing that could not be judged")
		}
		if len(v.Conditions) > 0 {
			bad = append(bad, "conditions: without a verdict there are none")
		}
	default:
		bad = append(bad, fmt.Sprintf("verdict: %q is not one of Approved, Blocked, Conditional Approval, No verdict",
			clip(string(v.Verdict), 40)))
	}
	if oneLine(v.Summary) == "" {
		bad = append(bad, "summary: is empty")
	}
	bad = append(bad, emptyItems("gaps", v.Gaps)...)
	return append(bad, emptyItems("conditions", v.Conditions)...)
}

func emptyItems(name string, list []string) []string {
	var bad []string
	for i, item := range list {
		if oneLine(item) == "" {
			bad = append(bad, fmt.Sprintf("%s[%d]: is empty", name, i))
		}
	}
	return bad
}

// check reports everything that keeps a Dragon's answer from being a verdict:
// criteria left out, counted twice or invented, evidence missing, a failed
// check called met, and a verdict its own list contradicts.
func (v DragonVerdict) check(t verdictTest) []string {
	var bad []string
	if v.Verdict != DragonSlain && v.Verdict != DragonPrevails && v.Verdict != dragonUndecided {
		bad = append(bad, fmt.Sprintf("verdict: %q is not one of Dragon Slain, Dragon Prevails, No verdict",
			clip(string(v.Verdict), 40)))
	}
	if oneLine(v.Summary) == "" {
		bad = append(bad, "summary: is empty")
	}
	status := map[int]Status{}
	for i, f := range v.Criteria {
		bad = append(bad, f.check(i, t, status)...)
		status[f.Number] = f.Status
	}
	var open, unjudged []string // of those that the mode requires
	for _, c := range t.Criteria {
		s, there := status[c.Number]
		if !there && t.Mode.Assesses(c.Sort) {
			bad = append(bad, fmt.Sprintf("criteria: criterion %d is left out", c.Number))
		}
		switch text := fmt.Sprintf("criterion %d is %s", c.Number, cmp.Or(s, "not assessed")); {
		case !t.Mode.requires(c.Sort) || s == statusMet:
		case s == statusNotJudged:
			unjudged = append(unjudged, text)
		default:
			open = append(open, text)
		}
	}
	if len(bad) > 0 {
		return bad
	}
	if why := v.contradicted(string(t.Mode), open, unjudged); why != "" {
		return []string{"verdict: " + string(v.Verdict) + ", but " + why}
	}
	return nil
}

// contradicted says how a verdict and its own list disagree. One criterion that
// is not met decides; only where none is, and one could not be judged, there is
// no verdict.
func (v DragonVerdict) contradicted(mode string, open, unjudged []string) string {
	switch v.Verdict {
	case DragonSlain:
		if all := append(open, unjudged...); len(all) > 0 {
			return strings.Join(all, ", ") + "; partially met is not met"
		}
	case DragonPrevails:
		if len(open) == 0 && len(unjudged) > 0 {
			return "no criterion is shown not to be met, and " + strings.Join(unjudged, ", ")
		}
		if len(open) == 0 {
			return "every criterion that mode " + mode + " requires is met"
		}
	default:
		if len(open) > 0 {
			return strings.Join(open, ", ") + ", which decides it"
		}
		if len(unjudged) == 0 {
			return "every criterion that mode " + mode + " requires is met"
		}
	}
	return ""
}

func (f finding) check(i int, t verdictTest, seen map[int]Status) []string {
	at := fmt.Sprintf("criteria[%d]: ", i)
	if f.Number < 1 || f.Number > len(t.Criteria) {
		return []string{at + fmt.Sprintf("there is no criterion %d; they are 1 to %d", f.Number, len(t.Criteria))}
	}
	var bad []string
	if _, twice := seen[f.Number]; twice {
		bad = append(bad, at+fmt.Sprintf("criterion %d stands here a second time", f.Number))
	}
	if !slices.Contains(statuses, f.Status) {
		bad = append(bad, at+fmt.Sprintf("status %q is not one of met, partially met, not met, not judged",
			clip(string(f.Status), 40)))
	}
	if oneLine(f.Evidence) == "" {
		bad = append(bad, at+fmt.Sprintf("criterion %d has no evidence", f.Number))
	}
	for _, c := range t.Checks {
		if c.Number == f.Number && c.State == CheckFailed && (f.Status == statusMet || f.Status == statusNotJudged) {
			bad = append(bad, at+fmt.Sprintf("criterion %d cannot be %s: its check failed", f.Number, f.Status))
		}
	}
	return bad
}

// outcomeIn reads an outcome from the beginning of a log entry.
func outcomeIn[T ~string](text string, outcomes ...T) T {
	for _, o := range outcomes {
		if startsWithWord(text, string(o)) {
			return o
		}
	}
	return ""
}

func startsWithWord(text, prefix string) bool {
	text = strings.TrimLeft(text, "*_ ")
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}
