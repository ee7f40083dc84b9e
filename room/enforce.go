package room

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Enforcement says what a room was shown to hold back. It is part of every
// receipt. The zero value claims nothing.
type Enforcement struct {
	// Level is what the probes have shown, empty before a program started.
	Level Level `json:"level"`
	// Required is what the role needs. Level is weaker only by the person's
	// explicit word, or by Fallback.
	Required Level `json:"required"`
	// Fallback is why this system could not seal the room, where it was
	// allowed to be built weaker then.
	Fallback string `json:"fallback,omitempty"`

	Mechanism string `json:"mechanism,omitempty"` // "namespaces, landlock 7, seccomp"
	Kernel    string `json:"kernel,omitempty"`
	// Without names what a fenced room could have had on another system, and
	// why it has it not.
	Without string `json:"without,omitempty"`
	// UID is the user on this system whose rights the program has.
	UID int `json:"uid"`
	// ShownAt is when the probes were run, in the very process that became
	// the program.
	ShownAt time.Time `json:"shown_at"`

	// Forwards are the hosts to which the room's way out passes on what nobody
	// here can read.
	Forwards []string `json:"forwards,omitempty"`

	Probes []Probe `json:"probes,omitempty"`
	// Gaps are things that were tried and are possible at this level.
	Gaps []string `json:"gaps,omitempty"`
}

// Lowered reports whether the room is weaker than its role requires.
func (e Enforcement) Lowered() bool { return e.Level != "" && e.Level.rank() < e.Required.rank() }

// Probe is one probe pair: a thing that can be done without the room, and
// cannot be done in it.
type Probe struct {
	Name string `json:"name"`
	// Control is what happened without the restriction: "ok" or an error.
	Control string `json:"control"`
	// Restricted is the error with which it failed in the room; "ok" if it did
	// not fail.
	Restricted string `json:"restricted"`
	// Where says who showed the control: a witness outside, or the process
	// itself before it was restricted.
	Where string `json:"where"`
}

// Holds reports whether the pair shows a restriction.
func (p Probe) Holds() bool { return p.Control == done && p.Restricted != "" && p.Restricted != done }

// done is the outcome of an attempt that succeeded.
const done = "ok"

// The places of a control.
const (
	byWitness = "witness"
	bySelf    = "before"
)

// outcomes are the results of attempts by name; done, or an error's text.
type outcomes map[string]string

// wanted is what a level must show.
type wanted struct {
	name  string
	where string
	must  bool // else it is tried and reported as a gap
}

// claim joins controls and attempts to pairs and decides whether they show the
// level. Anything that is missing, done twice, unknown or the wrong way round
// is a refusal.
func claim(list []wanted, control map[string]outcomes, restricted outcomes) ([]Probe, []string, error) {
	if len(list) == 0 {
		return nil, nil, errors.New("there is no probe for this level")
	}
	var probes []Probe
	var gaps, faults []string
	for _, w := range list {
		p := Probe{Name: w.name, Where: w.where, Control: control[w.where][w.name], Restricted: restricted[w.name]}
		switch {
		case p.Control == "" || p.Restricted == "":
			faults = append(faults, fmt.Sprintf("%s: was not tried", w.name))
		case p.Control != done:
			// It is not known to be held back if it was never possible.
			if w.must {
				faults = append(faults, fmt.Sprintf("%s: could not be done without the room either (%s)", w.name, p.Control))
			}
		case p.Restricted == done && w.must:
			faults = append(faults, fmt.Sprintf("%s: is possible in the room", w.name))
		case p.Restricted == done:
			gaps = append(gaps, w.name)
		}
		if p.Holds() {
			probes = append(probes, p)
		}
	}
	for name := range restricted {
		if !slices.ContainsFunc(list, func(w wanted) bool { return w.name == name }) {
			faults = append(faults, fmt.Sprintf("%s: nobody asked for it", name))
		}
	}
	if len(faults) > 0 {
		slices.Sort(faults)
		return probes, gaps, fmt.Errorf("%d probes do not show it: %s", len(faults), strings.Join(faults, "; "))
	}
	return probes, gaps, nil
}
