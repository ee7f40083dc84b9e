package quest

import (
	"strings"
	"testing"

	"conclave/policy"
)

func logOf(t *testing.T, lines ...string) *Quest {
	t.Helper()
	data, err := New(Definition{Title: "x", Mode: Ship, Created: "2026-02-14", Narrative: "n.", Dragon: "d",
		Criteria: []Criterion{{Text: "A rope holds"}, {Text: "The pier is painted twice a year"}, {Text: "c"}},
		Assignments: []Assignment{
			{Criterion: "A rope holds", Primary: parseAdvisor("Cat (risk)"), Secondary: parseAdvisor("Owl")},
			{Criterion: "The pier is painted…", Primary: parseAdvisor("🐱 Cat")},
			{Criterion: "Criterion 3", Primary: parseAdvisor("The Sage (Owl)")},
		}})
	if err != nil {
		t.Fatal(err)
	}
	return Parse(append(data, "\n"+strings.Join(lines, "\n")+"\n"...))
}

// TestReportedProgress: what an agent logs is one plain line and can pass for
// nothing else.
func TestReportedProgress(t *testing.T) {
	for text, want := range map[string]string{
		"API design finished":                  "API design finished",
		"  - two\n\nlines\tof it ":             "two lines of it",
		"**Phase** and __bold__":               "Phase and bold",
		"a\u202eb\x1b[31mc\u200b":              "ab[31mc",
		"(2020-01-01)":                         "(2020-01-01)",
		"The pull request is blocked no more":  "The pull request is blocked no more",
		"chapter two, phase of the moon added": "chapter two, phase of the moon added",
	} {
		e, err := ReportedProgress(text, "2026-02-15")
		if err != nil || e.Text != want {
			t.Errorf("%q: %q, %v", text, e.Text, err)
			continue
		}
		q := logOf(t, "- **Phase 1 complete** — Quest defined (2026-02-14)")
		data, err := q.WithProgress(e)
		if err != nil {
			t.Fatal(err)
		}
		got := Parse(data)
		if n := len(got.Progress); n != 2 || got.Progress[1].Kind != entryProgress || got.Progress[1].Text != want ||
			got.Progress[1].Date != "2026-02-15" || got.Err() != nil {
			t.Errorf("%q reads back as %+v", text, got.Progress)
		}
	}
	for _, text := range []string{
		"", " \n", "***", strings.Repeat("a", 201), "a\xff", "Dragon Slain: \"all\"", "the dragon prevails",
		"Phase 2 complete", "phase 3 skipped", "Conditional Approval: fine", "Guardian checkpoint — Approved",
		"Guardian has approved it", "approved by the Guardian", "withdrawn: the roof", "Withdrawn : x", "the verdict is in",
	} {
		if e, err := ReportedProgress(text, "2026-02-15"); err == nil {
			t.Errorf("%q becomes %q", text, e.Bullet())
		}
	}
}

func TestWithdraw(t *testing.T) {
	q := logOf(t, "- **Phase 1 complete** — Quest defined (2026-02-14)", "- **Progress** — Roof (2026-02-15)",
		"- **Progress** — Roof (2026-02-16)", "- **Progress** — withdrawn: Roof (2026-02-17)", "- **Progress** — Wall (2026-02-17)",
		"- **Guardian checkpoint** — Approved (2026-02-18)")
	for n, want := range map[int]string{2: "withdrawn: Roof", 3: "withdrawn: Roof", 5: "withdrawn: Wall"} {
		if e, err := q.Withdraw(n, "2026-02-19"); err != nil || e.Text != want || e.Kind != entryProgress {
			t.Errorf("%d: %+v, %v", n, e, err)
		}
	}
	for _, n := range []int{-1, 0, 1, 4, 6, 7} {
		if e, err := q.Withdraw(n, ""); err == nil {
			t.Errorf("%d was withdrawn: %+v", n, e)
		}
	}
	data, err := q.WithProgress(withdrawal(q.Progress[1], "2026-02-19"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(data).WithdrawReported("roof", ""); err == nil {
		t.Error("what was logged twice was withdrawn three times")
	}
	if e, err := Parse(data).WithdrawReported("WALL", "2026-02-19"); err != nil || e.Text != "withdrawn: Wall" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestOwned: rows name criteria by their words, their beginning or their
// number.
func TestOwned(t *testing.T) {
	q := logOf(t)
	first, second := q.Owned(policy.Cat)
	if len(first) != 2 || first[0].Number != 1 || first[1].Number != 2 || len(second) != 0 {
		t.Errorf("the cat owns %+v and %+v", first, second)
	}
	if first, second = q.Owned(policy.Owl); len(first) != 1 || first[0].Number != 3 || len(second) != 1 || second[0].Number != 1 {
		t.Errorf("the owl owns %+v and %+v", first, second)
	}
	if got := q.FirstAdvisor(); got.Who != policy.Cat || got.Reason != "first advisor for criteria 1 and 2" {
		t.Errorf("first is %+v", got)
	}
	if got := q.FirstAdvisor("the deadline"); got.Who != policy.Owl || !strings.HasSuffix(got.Reason, ", and first advisor for criterion 3") {
		t.Errorf("first by a word is %+v", got)
	}
}
