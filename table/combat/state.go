package combat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// State is a fight as it stands. The zero value is none. It is a stored form:
// fields may be added, none may change its meaning.
type State struct {
	Round int       `json:"round,omitempty"`
	Turn  int       `json:"turn,omitempty"` // in Order, from 1; 0 before the first
	Order []Fighter `json:"order,omitempty"`
}

// Fighter is one who acts in it, or several who act as one.
type Fighter struct {
	Name          string   `json:"name"`
	Bonus         int      `json:"bonus,omitempty"`
	Total         int64    `json:"total,omitempty"` // of the initiative
	Party         bool     `json:"party,omitempty"`
	Surprised     bool     `json:"surprised,omitempty"`
	Hidden        bool     `json:"hidden,omitempty"` // nobody but the game master knows
	From          int      `json:"from,omitempty"`   // the round from which it acts
	Conditions    []string `json:"conditions,omitempty"`
	Concentrating string   `json:"concentrating,omitempty"`
	Ready         string   `json:"ready,omitempty"` // the trigger
	Down          bool     `json:"down,omitempty"`
	Stable        bool     `json:"stable,omitempty"`
	Dead          bool     `json:"dead,omitempty"`
	Successes     int      `json:"successes,omitempty"`
	Failures      int      `json:"failures,omitempty"`
}

// On says whether there is a fight.
func (s State) On() bool { return s.Round > 0 }

func (s State) index(who string) int {
	return slices.IndexFunc(s.Order, func(f Fighter) bool { return f.Name == who })
}

func (s State) clone() State {
	s.Order = slices.Clone(s.Order)
	for i := range s.Order {
		s.Order[i].Conditions = slices.Clone(s.Order[i].Conditions)
	}
	return s
}

// Rename gives a fighter another name.
func (s State) Rename(from, to string) State {
	s = s.clone()
	if i := s.index(from); i >= 0 {
		s.Order[i].Name = to
	}
	return s
}

// before is the order of initiative; what is equal in all of it stays as it was
// named.
func before(a, b Fighter) int {
	return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Bonus, a.Bonus), boolFirst(a.Party, b.Party))
}

func boolFirst(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

// follower is whose turn comes next, from 1, in which round; 0 when nobody can
// act.
func (s State) follower() (turn, round int) {
	turn, round = s.Turn, s.Round
	for range 2 * len(s.Order) {
		if turn++; turn > len(s.Order) {
			turn, round = 1, round+1
		}
		f := s.Order[turn-1]
		if !f.Dead && f.From <= round && !(f.Surprised && round == 1) {
			return turn, round
		}
	}
	return 0, s.Round
}

// Text is the fight as somebody may know it: the game master all of it, anybody
// else without what is hidden.
func (s State) Text(gm bool) string {
	if !s.On() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Round %d, in the order of initiative:\n", s.Round)
	for i, f := range s.Order {
		if f.Hidden && !gm {
			continue
		}
		fmt.Fprintf(&b, "- %s %d%s", f.Name, f.Total, f.notes(s.Round, gm))
		if i == s.Turn-1 {
			b.WriteString(" ← now")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (f Fighter) notes(round int, gm bool) string {
	var out []string
	add := func(is bool, text string) {
		if is {
			out = append(out, text)
		}
	}
	add(f.Hidden, "hidden")
	add(f.Surprised && round == 1, "surprised")
	add(f.From > round, "acts from the next round on")
	add(f.Dead, "dead")
	add(f.Down && f.Stable, "down, stable")
	add(f.dying(), fmt.Sprintf("down, death saves %d of 3, failures %d of 3", f.Successes, f.Failures))
	out = append(out, f.Conditions...)
	add(f.Concentrating != "", "concentrating on "+f.Concentrating)
	add(f.Ready != "" && (gm || f.Party), "ready: "+f.Ready)
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}
