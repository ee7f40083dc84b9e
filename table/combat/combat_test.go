package combat

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func party(who string) bool { return who == "tilda" || who == "gideon" }

// fight does commands with the faces of the d20s that they need, in order, and
// fails when one is left.
type fight struct {
	t     *testing.T
	state State
	said  []string
}

func (f *fight) do(text string, faces ...int) *fight {
	f.t.Helper()
	c, err := Parse(text)
	if err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
	need, err := f.state.Needs(c, party)
	if err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
	if len(need) != len(faces) {
		f.t.Fatalf("%s needs %v, not %d dice", text, need, len(faces))
	}
	var fell []Fell
	for i, d := range need {
		bonus := 0
		fmt.Sscanf(strings.TrimPrefix(d.Expr, "1d20"), "%d", &bonus)
		fell = append(fell, Fell{int64(faces[i] + bonus), faces[i]})
	}
	o, err := f.state.Do(c, fell, party)
	if err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
	f.state, f.said = o.State, nil
	for _, l := range o.Lines {
		f.said = append(f.said, l.Text)
	}
	return f
}

func (f *fight) names() string {
	var out []string
	for _, x := range f.state.Order {
		out = append(out, x.Name)
	}
	return strings.Join(out, " ")
}

func (f *fight) now() string {
	if f.state.Turn == 0 {
		return ""
	}
	return f.state.Order[f.state.Turn-1].Name
}

func (f *fight) wants(what, got, want string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("%s: %q, want %q\n%s", what, got, want, f.state.Text(true))
	}
}

// TestTies: total, bonus, party, as they were named.
func TestTies(t *testing.T) {
	f := (&fight{t: t}).do("start goblins +2, wolf +2, tilda +2, gideon +5, imp +0", 10, 10, 10, 7, 12)
	f.wants("order", f.names(), "gideon tilda goblins wolf imp")
}

func TestTurnsAndRounds(t *testing.T) {
	f := (&fight{t: t}).do("start tilda +0, goblins +0 surprised, gideon +0", 18, 15, 3)
	for _, want := range []string{"tilda", "gideon", "tilda", "goblins", "gideon"} {
		f.do("next").wants("turn", f.now(), want)
	}
	f.wants("round", fmt.Sprint(f.state.Round), "2")
	// A joiner acts from the next round on, wherever it stands.
	f.do("join wolf +0", 1).wants("order", f.names(), "tilda goblins gideon wolf")
	for _, want := range []string{"tilda", "goblins", "gideon", "wolf"} {
		f.do("next").wants("after joining", f.now(), want)
	}
	// A delay is a lower place, kept from then on.
	f.do("next").wants("turn", f.now(), "tilda")
	f.do("delay tilda after gideon").wants("order", f.names(), "goblins gideon tilda wolf")
	for _, want := range []string{"goblins", "gideon", "tilda", "wolf", "goblins"} {
		f.do("next").wants("after a delay", f.now(), want)
	}
	f.do("leave goblins")
	f.do("next").wants("after somebody left", f.now(), "gideon")
	f.do("ready gideon: the door opens")
	if !strings.Contains(f.state.Text(false), "ready: the door opens") {
		t.Errorf("nobody sees who waits:\n%s", f.state.Text(false))
	}
	f.do("next").do("next").do("next")
	f.wants("whose turn comes waits no more", f.state.Order[0].Ready, "")
	f.do("end")
	if f.state.On() {
		t.Error("it is not over")
	}
}

// TestDeathSaves: every way that saves can go.
func TestDeathSaves(t *testing.T) {
	for _, c := range []struct {
		faces []int
		want  string
	}{
		{[]int{10, 11, 19}, "stable"},
		{[]int{9, 2, 8}, "dead"},
		{[]int{1, 9}, "dead"},
		{[]int{9, 1}, "dead"},
		{[]int{10, 9, 20}, "back"},
		{[]int{10, 9, 10, 9}, "down"},
	} {
		f := (&fight{t: t}).do("start tilda +0, goblins +0", 20, 1).do("down tilda")
		for _, face := range c.faces {
			f.do("next", face) // tilda's turn: the save falls by itself
			f.do("next")
		}
		x := f.state.Order[0]
		got := map[bool]string{x.Dead: "dead", x.Stable: "stable", !x.Down: "back"}[true]
		if got == "" {
			got = "down"
		}
		if x.Dead {
			got = "dead"
		}
		f.wants(fmt.Sprint(c.faces), got, c.want)
		if c.want == "dead" {
			f.do("next").wants("the dead have no turn", f.now(), "goblins")
		}
	}
}

func TestDamage(t *testing.T) {
	for damage, want := range map[int]int{0: 10, 1: 10, 21: 10, 22: 11, 61: 30} {
		if got := ConcentrationDC(damage); got != want {
			t.Errorf("DC after %d: %d, want %d", damage, got, want)
		}
	}
	f := (&fight{t: t}).do("start gideon +0", 10).do("concentrate gideon: bless")
	f.do("damage gideon 30 save +3", 12).wants("kept", f.state.Order[0].Concentrating, "bless")
	f.do("damage gideon 30 save +3", 11).wants("lost", f.state.Order[0].Concentrating, "")
	f.do("damage gideon 30").do("concentrate gideon: bless").do("down gideon")
	f.wants("down", f.state.Order[0].Concentrating, "")
	f.do("damage gideon 4 crit").wants("failures", fmt.Sprint(f.state.Order[0].Failures), "2")
	f.do("stabilise gideon").do("damage gideon 1").wants("again", fmt.Sprint(f.state.Order[0].Failures), "1")
	f.do("heal gideon").wants("conditions", strings.Join(f.state.Order[0].Conditions, " "), "")
	f.do("condition gideon +prone +paralyzed -poisoned").wants("conditions",
		strings.Join(f.state.Order[0].Conditions, " "), "prone paralysed")
}

// TestHidden: nothing that others may read tells of a hidden fighter.
func TestHidden(t *testing.T) {
	f := &fight{t: t}
	c, _ := Parse("start tilda +0, shade +4 hidden")
	need, _ := f.state.Needs(c, party)
	if need[0].Hidden || !need[1].Hidden {
		t.Errorf("the dice of a hidden fighter are seen: %+v", need)
	}
	o, _ := f.state.Do(c, []Fell{{10, 10}, {14, 10}}, party)
	for _, text := range []string{"next", "condition shade +invisible", "damage shade 3", "down shade", "leave shade"} {
		c, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if o, err = o.State.Do(c, nil, party); err != nil {
			t.Fatal(err)
		}
		for _, l := range o.Lines {
			if !l.GM && strings.Contains(l.Text, "shade") {
				t.Errorf("%s: everybody hears %q", text, l.Text)
			}
		}
		if strings.Contains(o.State.Text(false), "shade") {
			t.Errorf("%s: everybody reads\n%s", text, o.State.Text(false))
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "combat knows no",
		"dance tilda":              "combat knows no",
		"start":                    "one to",
		"start ../x +1":            "no name of a fighter",
		"start tilda +1, tilda +2": "twice",
		"start tilda very":         "no bonus",
		"delay tilda":              "behind whom",
		"condition tilda +sleepy":  "none of",
		"condition tilda":          "WHO +NAME",
		"damage tilda lots":        "NUMBER",
		"damage tilda 4 save":      "NUMBER",
		"next tilda":               "nothing behind",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"next": "there is no fight", "join tilda +1": "there is no fight",
	} {
		c, _ := Parse(text)
		if _, err := (State{}).Needs(c, party); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	f := (&fight{t: t}).do("start tilda +0, goblins +0", 10, 5)
	for text, want := range map[string]string{
		"start imp +1": "a fight is on", "join tilda +1": "already", "save tilda": "not dying", "heal tilda": "not down",
		"leave imp": "not in the fight", "delay tilda after tilda": "nobody that", "reveal tilda": "not hidden",
	} {
		c, _ := Parse(text)
		if _, err := f.state.Needs(c, party); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestAnyFight: whatever is done, in any order, everybody who can act does so
// once a round, and nothing is forgotten or doubled.
func TestAnyFight(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := &fight{t: t}
		var state State
		for range 60 {
			who := []string{"tilda", "gideon", "goblins", "wolf", "imp"}[rng.IntN(5)]
			other := []string{"tilda", "gideon", "goblins", "wolf", "imp"}[rng.IntN(5)]
			verb := Verbs[rng.IntN(len(Verbs)-1)] // not the end
			text := map[string]string{
				"start": "start tilda +1, gideon +3, goblins +1 surprised, wolf +2", "next": "next",
				"join": "join " + who + " +2", "delay": "delay " + who + " after " + other, "ready": "ready " + who + ": now",
				"condition": "condition " + who + " +prone", "concentrate": "concentrate " + who + ": bless",
				"damage": fmt.Sprintf("damage %s %d", who, rng.IntN(40)),
			}[verb]
			if text == "" {
				text = verb + " " + who
			}
			c, err := Parse(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			need, err := state.Needs(c, party)
			if err != nil {
				continue
			}
			var fell []Fell
			for range need {
				face := 1 + rng.IntN(20)
				fell = append(fell, Fell{int64(face), face})
			}
			before := state.clone()
			o, err := state.Do(c, fell, party)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if fmt.Sprint(before) != fmt.Sprint(state) {
				t.Fatalf("%s changed what it was given", text)
			}
			state = o.State
			if state.Turn < 0 || state.Turn > len(state.Order) {
				t.Fatalf("seed %d, %s: turn %d of %d", seed, text, state.Turn, len(state.Order))
			}
			f.state = state
			names := strings.Fields(f.names())
			slices.Sort(names)
			if len(slices.Compact(names)) != len(state.Order) {
				t.Fatalf("%s: somebody is there twice: %s", text, f.names())
			}
			// Whose turn it is changes by next, leave and delay alone.
			if now := f.now(); before.Turn > 0 && verb != "next" && verb != "leave" && verb != "delay" &&
				now != before.Order[before.Turn-1].Name {
				t.Fatalf("%s: the turn went from %s to %s", text, before.Order[before.Turn-1].Name, now)
			}
		}
	}
}
