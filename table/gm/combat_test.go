package gm

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"conclave/table"
	"conclave/table/combat"
)

// TestCombatIsOneThing: a form, a tool and a person's slash line ask for the same
// command; what is none is a fault, or refused where it was typed.
func TestCombatIsOneThing(t *testing.T) {
	roster := table.Roster{Characters: []table.Character{{Slug: "tilda-brannock", Name: "Tilda Brannock", Status: table.Present}}}
	read := Reader{Roster: roster, Caps: table.Caps{}.WithDefaults()}
	for typed, said := range map[string]string{
		"start tilda +2, imp -1 surprised": "start tilda-brannock +2, imp -1 surprised",
		"delay tilda after imp":            "delay tilda-brannock after imp",
		"ready Tilda: tilda sees the imp":  "ready tilda-brannock: tilda sees the imp",
		"next":                             "next",
	} {
		want, err := combat.Parse(said)
		if err != nil {
			t.Fatal(err)
		}
		form := read.Read(Turn{Text: "Now.\n[COMBAT: " + said + "]\n"})
		input, err := json.Marshal(map[string]string{"command": said})
		if err != nil {
			t.Fatal(err)
		}
		tool := read.Read(Turn{Calls: []Call{{Tool: "combat", Input: input}}})
		text, err := Typist{Roster: roster, Lately: func(string) string { return "" }}.Forms("/combat " + typed)
		if err != nil {
			t.Fatalf("/combat %s: %v", typed, err)
		}
		slash := read.Read(Turn{Text: text})
		for how, o := range map[string]Intent{"form": form, "tool": tool, "slash": slash} {
			if len(o.Faults) > 0 || !reflect.DeepEqual(o.Combat, []combat.Command{want}) {
				t.Errorf("%s, by %s: %+v, faults %v", said, how, o.Combat, o.Faults)
			}
			if strings.Contains(table.PartyText(o.Blocks()), "COMBAT") {
				t.Errorf("%s, by %s: the form is told", said, how)
			}
		}
	}
	if o := read.Read(Turn{Text: "[COMBAT: dance]"}); len(o.Combat) > 0 || len(o.Faults) != 1 {
		t.Errorf("dance: %+v, %v", o.Combat, o.Faults)
	}
	if _, err := (Typist{Roster: roster}).Forms("/combat dance"); err == nil {
		t.Error("a person may dance")
	}
	// A cycle that was begun before there was such a form goes on without it.
	old := read
	old.OwnLines = true
	if o := old.Read(Turn{Text: "[COMBAT: next]"}); len(o.Combat) > 0 {
		t.Errorf("an older cycle fights: %+v", o.Combat)
	}
}
