package quest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var allModes = []Mode{Grow, Ship, GrowAndShip}

func TestEveryTransition(t *testing.T) {
	// What is open, said again independently: from-to, and under which facts.
	allowed := map[string]func(Facts) bool{
		"1-2": func(f Facts) bool { return f.Mode != Ship },
		"1-3": nil, "2-3": nil, "3-4": nil, "3-5": nil, "4-3": nil,
		"4-5": func(f Facts) bool { return f.Guardian == Approved || f.Guardian == ConditionalApproval },
		"5-6": func(f Facts) bool { return f.Dragon == DragonSlain },
		"5-3": func(f Facts) bool { return f.Dragon != DragonSlain },
	}
	n := 0
	for _, mode := range allModes {
		for _, g := range []GuardianOutcome{"", Approved, Blocked, ConditionalApproval} {
			for _, d := range []DragonOutcome{"", DragonSlain, DragonPrevails} {
				f := Facts{Mode: mode, Guardian: g, Dragon: d}
				for from := Phase(-1); from <= 9; from++ {
					for to := Phase(-1); to <= 9; to++ {
						cond, ok := allowed[fmt.Sprintf("%d-%d", int(from), int(to))]
						want := ok && (cond == nil || cond(f))
						err := CheckTransition(from, to, f)
						if (err == nil) != want {
							t.Fatalf("%d → %d with %+v: %v", int(from), int(to), f, err)
						}
						if want != slices.Contains(nextPhases(from, f), to) {
							t.Fatalf("NextPhases(%d) with %+v = %v", int(from), f, nextPhases(from, f))
						}
						n++
					}
				}
			}
		}
	}
	if n < 4000 {
		t.Fatalf("only %d cases", n)
	}
}

func TestTransitionErrorsNameTheWayOut(t *testing.T) {
	for _, c := range []struct {
		from, to Phase
		f        Facts
		want     string
	}{
		{1, 5, Facts{}, "that does not follow; open is 2 (Character Setup) or 3 (Campaign Execution)"},
		{1, 2, Facts{Mode: Ship}, "mode Ship skips character setup; go on to phase 3"},
		{4, 5, Facts{Guardian: Blocked}, "the last checkpoint blocked the work; go back to it first: `conclave quest return`"},
		{5, 6, Facts{Dragon: DragonPrevails}, "the debrief follows a confrontation that was won"},
		{6, 1, Facts{}, "the old one is archived first"},
		{6, 3, Facts{}, "open is a new quest"},
		{3, 0, Facts{}, "a council never moves the quest"},
		{3, 9, Facts{}, "the phases are 1 to 6"},
		{3, 3, Facts{}, "the quest is there already"},
		{9, 3, Facts{}, "a quest is in one of the phases 1 to 6"},
	} {
		if err := CheckTransition(c.from, c.to, c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d → %d: %v, want %q", int(c.from), int(c.to), err, c.want)
		}
	}
}

func TestParseModeAndPhase(t *testing.T) {
	for in, want := range map[string]Mode{"Grow": Grow, "ship": Ship, "Grow & Ship": GrowAndShip, "grow&ship": GrowAndShip, "Grow and  Ship": GrowAndShip, "Grow + Ship": GrowAndShip} {
		if got, err := ParseMode(in); got != want || err != nil {
			t.Errorf("mode %q = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "Grow Ship", "growth", "Ship & Grow"} {
		if got, err := ParseMode(in); err == nil {
			t.Errorf("mode %q = %q", in, got)
		}
	}
	for in, want := range map[string]Phase{"3": 3, "Phase 4": 4, "5 (Dragon Confrontation)": 5, "6 - Debrief": 6} {
		if got, err := parsePhase(in); got != want || err != nil {
			t.Errorf("phase %q = %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0", "7", "33", "three", "-3", "3.5", "3rd"} {
		if got, err := parsePhase(in); err == nil {
			t.Errorf("phase %q = %d", in, got)
		}
	}
}

func TestModeRules(t *testing.T) {
	for _, c := range []struct {
		mode               Mode
		setup              Setup
		requires, assesses bool // transformation criteria
	}{{Grow, SetupEncouraged, true, true}, {Ship, SetupSkipped, false, false}, {GrowAndShip, SetupOffered, false, true}} {
		if c.mode.Setup() != c.setup || c.mode.requires(Transformation) != c.requires || c.mode.Assesses(Transformation) != c.assesses {
			t.Errorf("%s: setup %v, requires %v, assesses %v", c.mode, c.mode.Setup(), c.mode.requires(Transformation), c.mode.Assesses(Transformation))
		}
		if !c.mode.requires("") || !c.mode.requires(Deliverable) || !c.mode.Assesses("") {
			t.Errorf("%s does not require deliverables", c.mode)
		}
	}
}
