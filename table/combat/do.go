package combat

import (
	"fmt"
	"slices"
)

// Die is a roll that a command needs.
type Die struct {
	Who     string
	Expr    string
	Purpose string
	DC      int  // 0 for none
	Hidden  bool // nobody but the game master sees it
}

// Fell is what a die came to.
type Fell struct {
	Total   int64
	Natural int // of the d20
}

// Line is something to be told.
type Line struct {
	Text string
	GM   bool // to the game master alone
}

// Outcome is what a command came to.
type Outcome struct {
	State State
	Lines []Line
	Died  []string
}

// deathDC is what a death save succeeds with.
const deathDC = 10

// ConcentrationDC is what keeps concentration after so much damage.
func ConcentrationDC(damage int) int { return max(10, damage/2) }

// Needs says which dice a command needs, in their order, or why it cannot be
// done. party says who is a character.
func (s State) Needs(c Command, party func(string) bool) ([]Die, error) {
	if c.Verb == "start" {
		if s.On() {
			return nil, fmt.Errorf("combat start: a fight is on; join adds somebody, end ends it")
		}
		return initiative(c.Fighters, party), nil
	}
	if !s.On() {
		return nil, fmt.Errorf("combat %s: there is no fight; combat start NAME BONUS, NAME BONUS begins one", c.Verb)
	}
	i := s.index(c.Who)
	if c.Who != "" && i < 0 {
		return nil, fmt.Errorf("combat %s: %s is not in the fight", c.Verb, c.Who)
	}
	switch c.Verb {
	case "join":
		for _, f := range c.Fighters {
			if s.index(f.Name) >= 0 {
				return nil, fmt.Errorf("combat join: %s is in the fight already", f.Name)
			}
		}
		if len(s.Order)+len(c.Fighters) > maxFighters {
			return nil, fmt.Errorf("combat join: at most %d can fight", maxFighters)
		}
		return initiative(c.Fighters, party), nil
	case "delay":
		if j := s.index(c.After); j < 0 || j == i {
			return nil, fmt.Errorf("combat delay: %s is nobody that %s can wait for", c.After, c.Who)
		}
	case "next":
		turn, _ := s.follower()
		if turn == 0 {
			return nil, fmt.Errorf("combat next: nobody can act; combat end ends it")
		}
		if f := s.Order[turn-1]; f.dying() {
			return []Die{deathSave(f)}, nil
		}
	case "save":
		if !s.Order[i].dying() {
			return nil, fmt.Errorf("combat save: %s is not dying", c.Who)
		}
		return []Die{deathSave(s.Order[i])}, nil
	case "damage":
		if f := s.Order[i]; f.Concentrating != "" && !f.Down && c.Damage > 0 {
			return []Die{{f.Name, "1d20" + signed(c.Bonus), "concentration on " + f.Concentrating, ConcentrationDC(c.Damage),
				f.Hidden}}, nil
		}
	case "down":
		if s.Order[i].Dead {
			return nil, fmt.Errorf("combat down: %s is dead", c.Who)
		}
	case "stabilise", "heal":
		if f := s.Order[i]; !f.Down || f.Dead {
			return nil, fmt.Errorf("combat %s: %s is not down, or dead", c.Verb, c.Who)
		}
	case "reveal":
		if !s.Order[i].Hidden {
			return nil, fmt.Errorf("combat reveal: %s is not hidden", c.Who)
		}
	}
	return nil, nil
}

func signed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%+d", n)
}

func initiative(list []Fighter, party func(string) bool) []Die {
	var out []Die
	for _, f := range list {
		out = append(out, Die{f.Name, "1d20" + signed(f.Bonus), "initiative", 0, f.Hidden && !party(f.Name)})
	}
	return out
}

func deathSave(f Fighter) Die { return Die{f.Name, "1d20", "death save", deathDC, f.Hidden} }

func (f Fighter) dying() bool { return f.Down && !f.Stable && !f.Dead }

// Do does a command for which the dice that it needs have fallen.
func (s State) Do(c Command, fell []Fell, party func(string) bool) (Outcome, error) {
	need, err := s.Needs(c, party)
	if err != nil {
		return Outcome{State: s}, err
	}
	if len(need) != len(fell) {
		return Outcome{State: s}, fmt.Errorf("combat %s: %d dice fell, and it needs %d", c.Verb, len(fell), len(need))
	}
	o := &Outcome{State: s.clone()}
	i := s.index(c.Who)
	switch c.Verb {
	case "start":
		o.State = State{Round: 1}
		o.enter(c.Fighters, fell, party, 1)
		o.say(false, "The fight begins.")
	case "join":
		o.enter(c.Fighters, fell, party, s.Round+1)
	case "next":
		o.next(fell)
	case "leave":
		o.leave(i)
	case "delay":
		o.delay(i, c.After)
	case "ready":
		o.State.Order[i].Ready = c.Text
	case "condition":
		o.condition(i, c)
	case "concentrate":
		o.State.Order[i].Concentrating = c.Text
	case "damage":
		o.damage(i, c, fell)
	case "down":
		o.down(i)
	case "save":
		o.save(i, fell[0])
	case "stabilise":
		f := &o.State.Order[i]
		f.Stable, f.Successes, f.Failures = true, 0, 0
		o.about(i, "is stable")
	case "heal":
		o.rise(i)
	case "reveal":
		o.State.Order[i].Hidden = false
		o.about(i, "is seen")
	case "end":
		o.State = State{}
		o.say(false, "The fight is over.")
	}
	return *o, nil
}

func (o *Outcome) say(gm bool, text string) { o.Lines = append(o.Lines, Line{text, gm}) }

// about says something of a fighter to whoever may know of it.
func (o *Outcome) about(i int, text string) {
	f := o.State.Order[i]
	o.say(f.Hidden, f.Name+" "+text+".")
}

// enter puts fighters into the order. Whose turn it is stays so.
func (o *Outcome) enter(list []Fighter, fell []Fell, party func(string) bool, from int) {
	now := ""
	if o.State.Turn > 0 {
		now = o.State.Order[o.State.Turn-1].Name
	}
	for i, f := range list {
		f.Total, f.Party = fell[i].Total, party(f.Name)
		f.Hidden = f.Hidden && !f.Party
		f.Surprised = f.Surprised && from == 1
		if from > 1 {
			f.From = from
		}
		// Who delayed has a place of their own: the newcomer stands before the
		// first whom it beats, and nobody else moves.
		at := slices.IndexFunc(o.State.Order, func(other Fighter) bool { return before(f, other) < 0 })
		if at < 0 {
			at = len(o.State.Order)
		}
		o.State.Order = slices.Insert(o.State.Order, at, f)
	}
	if now != "" {
		o.State.Turn = o.State.index(now) + 1
	}
}

func (o *Outcome) next(fell []Fell) {
	turn, round := o.State.follower()
	if round > o.State.Round {
		o.say(false, fmt.Sprintf("Round %d.", round))
		for i := range o.State.Order {
			o.State.Order[i].Surprised = false
		}
	}
	o.State.Turn, o.State.Round = turn, round
	f := &o.State.Order[turn-1]
	f.Ready = "" // what was waited for did not come
	o.about(turn-1, "acts")
	if f.dying() {
		o.save(turn-1, fell[0])
	}
}

func (o *Outcome) leave(i int) {
	o.about(i, "is out of the fight")
	o.State.Order = slices.Delete(o.State.Order, i, i+1)
	if o.State.Turn > i { // the one before was the last to act
		o.State.Turn--
	}
}

func (o *Outcome) delay(i int, after string) {
	now, f := o.State.Turn-1, o.State.Order[i]
	o.State.Order = slices.Delete(o.State.Order, i, i+1)
	at := o.State.index(after) + 1
	o.State.Order = slices.Insert(o.State.Order, at, f)
	switch {
	case now == i: // whoever stood behind has the next turn
		o.State.Turn = i
	case now > i && now < at+1:
		o.State.Turn = now
	case now < i && now >= at:
		o.State.Turn = now + 2
	}
	o.about(at, "waits until "+after+" has acted")
}

func (o *Outcome) condition(i int, c Command) {
	f := &o.State.Order[i]
	for _, what := range c.Add {
		if !slices.Contains(f.Conditions, what) {
			f.Conditions = append(f.Conditions, what)
			o.about(i, "is "+what)
		}
	}
	for _, what := range c.Remove {
		if at := slices.Index(f.Conditions, what); at >= 0 {
			f.Conditions = slices.Delete(f.Conditions, at, at+1)
			o.about(i, "is no longer "+what)
		}
	}
}

func (o *Outcome) damage(i int, c Command, fell []Fell) {
	f := &o.State.Order[i]
	switch {
	case f.Dead || c.Damage == 0:
	case f.Down:
		n := 1
		if c.Crit {
			n = 2
		}
		f.Stable = false
		o.fails(i, n)
	case len(fell) > 0 && fell[0].Total < int64(ConcentrationDC(c.Damage)):
		o.about(i, "no longer concentrates on "+f.Concentrating)
		f.Concentrating = ""
	}
}

func (o *Outcome) down(i int) {
	f := &o.State.Order[i]
	if f.Concentrating != "" {
		o.about(i, "no longer concentrates on "+f.Concentrating)
	}
	f.Down, f.Stable, f.Successes, f.Failures, f.Concentrating, f.Ready = true, false, 0, 0, "", ""
	if !slices.Contains(f.Conditions, "unconscious") {
		f.Conditions = append(f.Conditions, "unconscious")
	}
	o.about(i, "is down")
}

func (o *Outcome) rise(i int) {
	f := &o.State.Order[i]
	f.Down, f.Stable, f.Successes, f.Failures = false, false, 0, 0
	f.Conditions = slices.DeleteFunc(f.Conditions, func(c string) bool { return c == "unconscious" })
	o.about(i, "is back")
}

func (o *Outcome) save(i int, fell Fell) {
	f := &o.State.Order[i]
	switch {
	case fell.Natural == 20:
		o.rise(i)
	case fell.Natural == 1:
		o.fails(i, 2)
	case fell.Total >= deathDC:
		if f.Successes++; f.Successes >= 3 {
			f.Stable, f.Successes, f.Failures = true, 0, 0
			o.about(i, "is stable")
			return
		}
		o.about(i, fmt.Sprintf("holds on (%d of 3)", f.Successes))
	default:
		o.fails(i, 1)
	}
}

func (o *Outcome) fails(i, n int) {
	f := &o.State.Order[i]
	if f.Failures += n; f.Failures < 3 {
		o.about(i, fmt.Sprintf("slips away (%d of 3)", f.Failures))
		return
	}
	f.Failures, f.Dead = 3, true
	o.about(i, "is dead")
	o.Died = append(o.Died, f.Name)
}
