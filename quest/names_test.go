package quest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/policy"
	"conclave/profile"
)

var inBrackets = regexp.MustCompile(`\([^()]*\)`)

// archetypeIn finds the name of an archetype outside brackets, unless somebody in
// the party is called so.
func archetypeIn(text string, party profile.Party) string {
	text = inBrackets.ReplaceAllString(text, "")
	for _, a := range profile.Cast() {
		if p := party[a.ID]; p != nil {
			text = strings.ReplaceAll(text, p.SkinName, "")
		}
	}
	for _, a := range profile.Cast() {
		if a.Kind != profile.Educator && regexp.MustCompile(`(?i)\b`+a.Title+`\b`).MatchString(text) {
			return a.Title
		}
	}
	return ""
}

// TestNoArchetypeInOffers: under every pack that comes with the program, every
// offer at every boundary calls everybody by the name they wear.
func TestNoArchetypeInOffers(t *testing.T) {
	packs, err := profile.Library{}.List()
	if err != nil || len(packs) < 4 {
		t.Fatalf("%d packs: %v", len(packs), err)
	}
	for _, pack := range packs {
		party := profile.Party{}
		for _, p := range pack.Profiles {
			party[p.Archetype] = p
		}
		face := func(who policy.Role) profile.Face {
			f, _ := party.Face(string(who))
			return f
		}
		seen := map[policy.Role]bool{}
		for _, at := range boundaries() {
			for _, who := range append(policy.Animals(), "") {
				c := OfferContext{Suggested: Suggestion{Who: who, Reason: "another angle"}, Face: face}
				for _, o := range Offers(at, c) {
					seen[o.Who] = true
					if name := archetypeIn(o.String(), party); name != "" {
						t.Errorf("%s, %s: %q says %s", pack.Name, at, o, name)
					}
				}
			}
		}
		for _, who := range append(policy.Animals(), policy.Gandalf, policy.Guardian, policy.Dragon) {
			if !seen[who] {
				t.Errorf("%s: no offer names %s", pack.Name, who)
			}
		}
		for _, e := range []Entry{CheckpointHeld(Approved, "fine", "2026-02-14"), ConfrontationHeld(DragonSlain, "", "2026-02-14"),
			ConfrontationHeld(DragonPrevails, "criterion 2", "2026-02-14")} {
			if name := archetypeIn(e.Told(face), party); name != "" || !strings.Contains(e.Told(face), "(") {
				t.Errorf("%s: %q says %s", pack.Name, e.Told(face), name)
			}
		}
		test := verdictTest{Criteria: []Criterion{{Number: 1, Text: "x"}}}
		for _, v := range []DragonOutcome{DragonSlain, DragonPrevails} {
			got := DragonVerdict{Verdict: v}.Outcome(face(policy.Dragon), test)
			if name := archetypeIn(got, party); name != "" || !strings.Contains(got, "("+string(v)+")") {
				t.Errorf("%s: %q says %s", pack.Name, got, name)
			}
		}
	}
}

// TestToldOfAnUndressedParty: the log is shown as it stands.
func TestToldOfAnUndressedParty(t *testing.T) {
	bare := func(who policy.Role) profile.Face { return face(t, string(who), "") }
	for _, e := range []Entry{CheckpointHeld(Approved, "fine", "2026-02-14"), ConfrontationHeld(DragonSlain, "", "2026-02-14")} {
		if e.Told(bare) != e.Bullet() {
			t.Errorf("%q is told as %q", e.Bullet(), e.Told(bare))
		}
	}
}

// TestOffersOfAnUndressedParty keeps the names of those who wear nothing.
func TestOffersOfAnUndressedParty(t *testing.T) {
	var labels []string
	for _, o := range Offers(ForEvaluation, OfferContext{}) {
		labels = append(labels, o.Label)
	}
	want := []string{"Face the Dragon", "Address the gaps first", "Guardian's checkpoint first", "Counsel from Gandalf"}
	if !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}
