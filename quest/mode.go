package quest

import (
	"fmt"
	"strings"
)

// Mode is what a campaign is for. It is chosen once.
type Mode string

// The modes.
const (
	Grow        Mode = "Grow"
	Ship        Mode = "Ship"
	GrowAndShip Mode = "Grow & Ship"
	DefaultMode      = GrowAndShip
)

// ParseMode reads a mode as people write it: letter case, spaces and "and" for
// "&" do not matter.
func ParseMode(s string) (Mode, error) {
	key := strings.ToLower(strings.Join(strings.Fields(s), ""))
	switch strings.ReplaceAll(strings.ReplaceAll(key, "and", "&"), "+", "&") {
	case "grow":
		return Grow, nil
	case "ship":
		return Ship, nil
	case "grow&ship":
		return GrowAndShip, nil
	}
	return "", fmt.Errorf("campaign mode %q is not one of Grow, Ship, Grow & Ship", clip(s, 40))
}

// Setup says how a mode treats phase 2.
type Setup string

// The ways to treat character setup.
const (
	SetupEncouraged Setup = "encouraged"
	SetupSkipped    Setup = "skipped"
	SetupOffered    Setup = "offered"
)

// Setup is how the mode treats character setup.
func (m Mode) Setup() Setup {
	switch m {
	case Grow:
		return SetupEncouraged
	case Ship:
		return SetupSkipped
	}
	return SetupOffered
}

// requires reports whether a criterion of that sort must be met for the Dragon
// to be slain. An unmarked criterion counts as a deliverable.
func (m Mode) requires(sort Sort) bool {
	return sort != Transformation || m == Grow
}

// Assesses reports whether the Dragon looks at criteria of that sort at all.
func (m Mode) Assesses(sort Sort) bool {
	return sort != Transformation || m != Ship
}

// clip shortens a text for a message.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
