package quest

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// Phase is a step of the lifecycle. The council is phase 0: it may be held at
// any time and never moves the quest.
type Phase int

// The phases.
const (
	PhaseCouncil       Phase = 0
	PhaseDefinition    Phase = 1
	PhaseSetup         Phase = 2
	PhaseExecution     Phase = 3
	PhaseCheckpoint    Phase = 4
	PhaseConfrontation Phase = 5
	PhaseDebrief       Phase = 6
)

func (p Phase) String() string {
	names := []string{"Council", "Quest Definition", "Character Setup", "Campaign Execution", "Guardian Checkpoint", "Dragon Confrontation", "Debrief"}
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("phase %d", int(p))
	}
	return names[p]
}

// Valid reports whether a quest file can stand in this phase.
func (p Phase) Valid() bool { return p >= PhaseDefinition && p <= PhaseDebrief }

var phaseForm = regexp.MustCompile(`(?i)^(?:phase\s*)?([0-9]+)\s*(?:[-–—:(].*)?$`)

// parsePhase reads a phase as people write it: 3, Phase 3, 3 – Execution.
func parsePhase(s string) (Phase, error) {
	m := phaseForm.FindStringSubmatch(s)
	if m == nil || len(m[1]) != 1 || !Phase(m[1][0]-'0').Valid() {
		return 0, fmt.Errorf("phase %q is not a number from 1 to 6", clip(s, 40))
	}
	return Phase(m[1][0] - '0'), nil
}

// Facts are what a transition may depend on.
type Facts struct {
	Mode     Mode
	Guardian GuardianOutcome // of the checkpoint that was just held
	Dragon   DragonOutcome   // of the confrontation that was just held
}

// step is one allowed transition. A nil condition is the person's word alone.
type step struct {
	from, to Phase
	allowed  func(Facts) string // empty: yes; otherwise why not
}

func steps() []step {
	unless := func(ok bool, why string) string {
		if ok {
			return ""
		}
		return why
	}
	return []step{
		{PhaseDefinition, PhaseSetup, func(f Facts) string {
			return unless(f.Mode.Setup() != SetupSkipped, "mode Ship skips character setup; go on to phase 3")
		}},
		{PhaseDefinition, PhaseExecution, nil},
		{PhaseSetup, PhaseExecution, nil},
		{PhaseExecution, PhaseCheckpoint, nil},
		{PhaseExecution, PhaseConfrontation, nil},
		{PhaseCheckpoint, PhaseExecution, nil},
		{PhaseCheckpoint, PhaseConfrontation, func(f Facts) string {
			approved := f.Guardian == Approved || f.Guardian == ConditionalApproval
			if f.Guardian == Blocked {
				return "the last checkpoint blocked the work; go back to it first: `conclave quest return`"
			}
			return unless(approved, "no checkpoint has approved the work; go back to it first: `conclave quest return`")
		}},
		{PhaseConfrontation, PhaseDebrief, func(f Facts) string {
			return unless(f.Dragon == DragonSlain, "the debrief follows a confrontation that was won")
		}},
		{PhaseConfrontation, PhaseExecution, func(f Facts) string {
			return unless(f.Dragon != DragonSlain, "the confrontation is won; go on to the debrief")
		}},
		{PhaseDebrief, PhaseDefinition, func(Facts) string {
			return "after the debrief a new quest begins; the old one is archived first"
		}},
	}
}

// CheckTransition says whether a quest may go from one phase to another. The
// error names the reason and the ways that are open.
func CheckTransition(from, to Phase, f Facts) error {
	switch {
	case !from.Valid():
		return fmt.Errorf("leave phase %d: a quest is in one of the phases 1 to 6", int(from))
	case to == PhaseCouncil:
		return fmt.Errorf("go to phase 0: a council never moves the quest")
	case !to.Valid():
		return fmt.Errorf("go to phase %d: the phases are 1 to 6", int(to))
	case from == to:
		return fmt.Errorf("go to phase %d: the quest is there already", int(to))
	}
	for _, s := range steps() {
		if s.from != from || s.to != to {
			continue
		}
		if s.allowed != nil {
			if why := s.allowed(f); why != "" {
				return fmt.Errorf("go from phase %d (%v) to %d (%v): %s", int(from), from, int(to), to, why)
			}
		}
		return nil
	}
	return fmt.Errorf("go from phase %d (%v) to %d (%v): that does not follow; open is %s", int(from), from, int(to), to, openFrom(from, f))
}

// nextPhases lists the phases that are open from here.
func nextPhases(from Phase, f Facts) []Phase {
	var out []Phase
	for to := PhaseDefinition; to <= PhaseDebrief; to++ {
		for _, s := range steps() {
			if s.from == from && s.to == to && (s.allowed == nil || s.allowed(f) == "") {
				out = append(out, to)
			}
		}
	}
	return out
}

func openFrom(from Phase, f Facts) string {
	var open []string
	for _, to := range nextPhases(from, f) {
		open = append(open, fmt.Sprintf("%d (%v)", int(to), to))
	}
	return cmp.Or(strings.Join(open, " or "), "a new quest")
}
