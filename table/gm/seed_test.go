package gm

import (
	"strings"
	"testing"

	"conclave/table"
)

// TestSeedGM holds what a game master writes and signals against the statements
// of the specification.
func TestSeedGM(t *testing.T) {
	for id, run := range map[string]func(*testing.T){
		"001-25": func(t *testing.T) {
			for _, notes := range []string{"just a line\n", "## Something else\nx\n", "- a\n- b\n"} {
				out, warning, err := CheckContext([]byte(notes), table.Caps{})
				ok(t, err)
				eq(t, "kept", string(out), notes)
				eq(t, "warning", warning, "")
			}
		},
		"001-26": func(t *testing.T) {
			for lines, want := range map[int]string{5: "", 10: "", 11: "gm-context.md has 11 lines; 10 are plenty"} {
				_, warning, err := CheckContext([]byte("## Expecting\n\n"+strings.Repeat("- x\n", lines)), table.Caps{})
				ok(t, err)
				eq(t, "warning", warning, want)
			}
		},
		"001-99": func(t *testing.T) {
			o := read("The lamp goes out. What do you do? [AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]\n")
			eqs(t, "asked", o.Signal.Names, "tilda-brannock", "gideon-harrowmoor")
			eq(t, "told", table.PartyText(o.Blocks()), "The lamp goes out. What do you do?")
		},
		"001-125": func(t *testing.T) {
			_, bad := signal("[AWAIT_AI_PLAYERS: tilda]").Check(duo())
			if bad == nil {
				t.Fatal("a first name was taken")
			}
			has(t, bad.Repair(), "did you mean tilda-brannock?")
		},
		"001-144": func(t *testing.T) {
			_, bad := signal("[AWAIT_AI_PLAYERS]").Check(duo())
			if bad == nil {
				t.Fatal("nobody was named, and somebody is asked")
			}
			has(t, bad.Repair(), "the signal names nobody")
		},
		"001-145": func(t *testing.T) {
			names, bad := signal("[AWAIT_AI_PLAYERS: tilda-brannock, bob]").Check(duo())
			if bad == nil || names != nil {
				t.Fatalf("%v is asked", names)
			}
			has(t, bad.Repair(), "\"bob\": no such character")
		},
	} {
		t.Run(id, run)
	}
}
