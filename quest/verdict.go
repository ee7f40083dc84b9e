package quest

import (
	"cmp"
	"fmt"
	"strings"
)

// GuardianOutcome is what a Guardian may decide. The empty one is no verdict.
type GuardianOutcome string

// The Guardian's outcomes.
const (
	Approved            GuardianOutcome = "Approved"
	Blocked             GuardianOutcome = "Blocked"
	ConditionalApproval GuardianOutcome = "Conditional Approval"
)

// DragonOutcome is how a confrontation ends. The empty one is no verdict.
type DragonOutcome string

// The Dragon's outcomes.
const (
	DragonSlain    DragonOutcome = "Dragon Slain"
	DragonPrevails DragonOutcome = "Dragon Prevails"
)

// Status is how far a criterion is met. Partially met is not met.
type Status string

// The statuses.
const (
	statusMet       Status = "met"
	statusPartlyMet Status = "partially met"
	statusNotMet    Status = "not met"
)

// GuardianVerdict is a checkpoint's structured answer.
type GuardianVerdict struct {
	Verdict    GuardianOutcome `json:"verdict"`
	Summary    string          `json:"summary"`
	Gaps       []string        `json:"gaps"`       // what is missing; "not yet" always says what
	Conditions []string        `json:"conditions"` // of a conditional approval
}

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
	default:
		bad = append(bad, fmt.Sprintf("verdict: %q is not one of Approved, Blocked, Conditional Approval", clip(string(v.Verdict), 40)))
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
	if v.Verdict != DragonSlain && v.Verdict != DragonPrevails {
		bad = append(bad, fmt.Sprintf("verdict: %q is not one of Dragon Slain, Dragon Prevails", clip(string(v.Verdict), 40)))
	}
	if oneLine(v.Summary) == "" {
		bad = append(bad, "summary: is empty")
	}
	status := map[int]Status{}
	for i, f := range v.Criteria {
		bad = append(bad, f.check(i, t, status)...)
		status[f.Number] = f.Status
	}
	var open []string
	for _, c := range t.Criteria {
		s, there := status[c.Number]
		if !there && t.Mode.Assesses(c.Sort) {
			bad = append(bad, fmt.Sprintf("criteria: criterion %d is left out", c.Number))
		}
		if t.Mode.requires(c.Sort) && s != statusMet {
			open = append(open, fmt.Sprintf("criterion %d is %s", c.Number, cmp.Or(s, "not assessed")))
		}
	}
	if len(bad) > 0 {
		return bad
	}
	switch {
	case v.Verdict == DragonSlain && len(open) > 0:
		bad = append(bad, "verdict: Dragon Slain, but "+strings.Join(open, ", ")+"; partially met is not met")
	case v.Verdict == DragonPrevails && len(open) == 0:
		bad = append(bad, "verdict: Dragon Prevails, but every criterion that mode "+string(t.Mode)+" requires is met")
	}
	return bad
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
	if f.Status != statusMet && f.Status != statusPartlyMet && f.Status != statusNotMet {
		bad = append(bad, at+fmt.Sprintf("status %q is not one of met, partially met, not met", clip(string(f.Status), 40)))
	}
	if oneLine(f.Evidence) == "" {
		bad = append(bad, at+fmt.Sprintf("criterion %d has no evidence", f.Number))
	}
	for _, c := range t.Checks {
		if c.Number == f.Number && c.State == CheckFailed && f.Status == statusMet {
			bad = append(bad, at+fmt.Sprintf("criterion %d cannot be met: its check failed", f.Number))
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
