package offline

import (
	"testing"

	"conclave/agent"
)

// TestCalled: everybody goes by the name that the instructions list.
func TestCalled(t *testing.T) {
	bare := &session{spec: agent.Spec{System: "You are Gandalf."}}
	worn := &session{spec: agent.Spec{System: "- The Liar (Cat): before the list\n\n## Who is who\n\nSpeak of everybody so.\n\n" +
		"- The Rogue (Cat): risk and scope\n- Great Aunt Betty (Dragon): tests\n- Simon: synthesises\n"}}
	for id, want := range map[string][2]string{
		"cat": {"the Cat", "The Rogue"}, "dragon": {"the Dragon", "Great Aunt Betty"}, "simon": {"Simon", "Simon"},
		"gandalf": {"Gandalf", "Gandalf"}, "owl": {"the Owl", "the Owl"},
	} {
		if got := [2]string{bare.called(id), worn.called(id)}; got != want {
			t.Errorf("%s is called %q, want %q", id, got, want)
		}
	}
	for said, want := range map[string][2]string{
		`Dragon Slain: "all"`:       {`Dragon Slain: "all"`, `Great Aunt Betty is slain (Dragon Slain): "all"`},
		`Dragon Prevails: "thin"`:   {`Dragon Prevails: "thin"`, `Great Aunt Betty prevails (Dragon Prevails): "thin"`},
		`Approved: "Dragon Slain."`: {`Approved: "Dragon Slain."`, `Approved: "Dragon Slain."`},
	} {
		if got := [2]string{bare.verdictOf(said), worn.verdictOf(said)}; got != want {
			t.Errorf("%q is told as %q, want %q", said, got, want)
		}
	}
	if begins("the Cat") != "The Cat" || begins("Great Aunt Betty") != "Great Aunt Betty" {
		t.Error(begins("the Cat"))
	}
	for system, want := range map[string]string{
		"# You are Dragon\n": "Dragon Slain", "# You are Great Aunt Betty\n\nYou test.": "I am slain (Dragon Slain)", "": "Dragon Slain",
	} {
		s := &session{spec: agent.Spec{System: system}}
		if got := s.aloud("Dragon Slain"); got != want || s.aloud("No verdict") != "No verdict" {
			t.Errorf("%q: %q, want %q", system, got, want)
		}
	}
}
