package audit

import (
	"fmt"
	"slices"
	"strings"

	"conclave/policy"
)

// Given finds what is in a room and is not its role's to know.
func Given(role string, items []Item) []Finding {
	var found []Finding
	for _, item := range items {
		if d := policy.Decide(policy.Role(role), policy.Kind(item.Kind)); !d.Allow {
			found = append(found, Finding{Rule: RuleGiven,
				What: fmt.Sprintf("%s (%s) is in the room of %s: %s", item.Path, item.Kind, role, d.Reason)})
		}
	}
	return found
}

// Shown is what a receipt shows of its room.
type Shown struct {
	Level    string // with where it led to, if it led anywhere unseen
	Probes   int    // pairs that hold
	Findings []Finding
	Gaps     []string
}

// Shown holds the room that a receipt speaks of against what its role requires,
// and every claim against the probe pair that has to show it.
func (r Receipt) Shown() Shown {
	s := Shown{Level: r.Enforced.Level}
	if r.ModelInput == InputNotObserved {
		s.gap("model input: not observed")
	}
	if r.InProcess {
		s.Level = "in-process"
		return s
	}
	if forwards := strings.Join(r.Enforced.Forwards, ", "); forwards != "" {
		s.Level += " to " + forwards
		if r.ModelInput != InputNotObserved {
			s.find(RuleReceipt, "the model's input is said to be %q, and the room led to %s unseen", r.ModelInput, forwards)
		}
	}
	if r.Credential != "" {
		s.gap("the credential was %s", r.Credential)
	}
	s.probes(r.Enforced.Probes)
	s.level(r)
	return s
}

func (s *Shown) find(rule, format string, args ...any) {
	s.Findings = append(s.Findings, Finding{Rule: rule, What: fmt.Sprintf(format, args...)})
}

func (s *Shown) gap(format string, args ...any) {
	s.Gaps = append(s.Gaps, fmt.Sprintf(format, args...))
}

func (s *Shown) probes(list []Probe) {
	for _, p := range list {
		if p.Control == "ok" && p.Restricted != "" && p.Restricted != "ok" {
			s.Probes++
		} else {
			s.find(RuleEnforced, "the probe %q shows nothing: without the room %q, in it %q", p.Name, p.Control, p.Restricted)
		}
	}
}

// level: the level must be good enough, and shown.
func (s *Shown) level(r Receipt) {
	role, level := policy.Role(r.Role), policy.Level(r.Enforced.Level)
	required, forwards := policy.Required(role), len(r.Enforced.Forwards) > 0
	if forwards && level.Satisfies(required) {
		s.find(RuleEnforced, "the level %s is claimed, and the room led to %s unseen", level,
			strings.Join(r.Enforced.Forwards, ", "))
	}
	switch {
	case level.Satisfies(required):
		if s.Probes == 0 {
			s.find(RuleEnforced, "the level %s is claimed without a probe", level)
		}
	case forwards && s.Probes > 0 && level.Forwards() && role.MayLogIn():
		s.gap("the room was %s: what passed there is not on the record", s.Level)
	case r.Enforced.Fallback != "" && s.Probes > 0 && level.Satisfies(policy.Fallback(role)):
		s.gap("the room was %s where %s needs %s, as that system could not do better: %s", level, r.Role, required,
			r.Enforced.Fallback)
	case lowered(r.Stamps):
		s.gap("the room was %s where %s needs %s, by the person's word", level, r.Role, required)
	default:
		s.find(RuleEnforced, "the room was %q, %s needs %s", level, r.Role, required)
	}
}

func lowered(stamps []string) bool {
	return slices.ContainsFunc(stamps, func(s string) bool {
		return strings.HasPrefix(s, "room lowered to ") // other stamps name files, and those may be called anything
	})
}
