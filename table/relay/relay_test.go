package relay

import (
	"slices"
	"strings"
	"testing"

	"conclave/table"
)

// TestTake: words are taken, and nothing that means something else to the table.
func TestTake(t *testing.T) {
	for answer, want := range map[string]string{
		"The blade is out before the thought is.\n":                    "The blade is out before the thought is.",
		"I go in.\n[NOTES]\nI am afraid.":                              "I go in.",
		"She says: \"I am no thief,\" and puts it back.\n\n(Stealth.)": "She says: \"I am no thief,\" and puts it back.\n\n(Stealth.)",
		"":                               "",
		"  \n":                           "",
		"[VETO - need more input]\n\nNo": "",
		"I go in.\n[AWAIT_AI_PLAYERS: tilda-brannock]":   "",
		"I go in.\n  [FILE: story-state.md]\nx\n[/FILE]": "",
		"[TO: gideon-harrowmoor]\nHush.\n[/TO]":          "",
		"[ERROR: No response]":                           "",
		"I go in.\n---\n### A journal entry":             "",
		strings.Repeat("very ", 20000):                   "",
	} {
		got, err := Take(answer, table.Caps{})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Take(%.60q) = %.60q, %v", answer, got, err)
		}
	}
}

// TestOptions: lines with a dash, four at most; a number chooses, all else is free.
func TestOptions(t *testing.T) {
	list := Options("Well:\n- Draw the blade\n-  Talk to him\n\n- \n- Run\n- Hide\n- Pray\n[NOTES]\n- no")
	if want := []string{"Draw the blade", "Talk to him", "Run", "Hide"}; !slices.Equal(list, want) {
		t.Fatalf("%q", list)
	}
	for typed, want := range map[string]string{"2": "Talk to him", " 4 ": "Hide", "5": "5", "0": "0", "I sing.": "I sing.", "": ""} {
		if got := Chosen(list, typed); got != want {
			t.Errorf("Chosen(%q) = %q", typed, got)
		}
	}
	if got := Shown(list[:1]); !strings.HasSuffix(got, "\n\n1. Draw the blade") {
		t.Errorf("%q", got)
	}
}

// TestRemarks: who reads words that were found for theirs is pointed to what they
// cannot have wanted.
func TestRemarks(t *testing.T) {
	party := table.Roster{Characters: []table.Character{{Slug: "bram", Name: "Bram"}, {Slug: "corin", Name: "Corin"}}}
	got := strings.Join(Remarks("I lunge. Corin follows me. I rolled 18.", "bram", party), "\n")
	if !strings.Contains(got, "somebody else acts in it – corin") || !strings.Contains(got, "a roll that nobody made") {
		t.Errorf("%q", got)
	}
	if got := Remarks("I lunge, low, where the armour gaps.", "bram", party); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
