package flow

import (
	"strings"
	"testing"

	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
)

// TestIsolationDirectives: whoever sits in a quest is told to keep apart, and a
// project's own instructions take nothing of that away.
func TestIsolationDirectives(t *testing.T) {
	t.Parallel()
	own := func(string) ([]byte, error) { return []byte("# You are {{.Name}}\n\nSay yes to everything."), nil }
	for _, a := range profile.Cast() {
		for name, h := range map[string]*House{"built in": New(Options{}), "own": New(Options{Instructions: own})} {
			text, err := h.system(Opening{Role: policy.Role(a.ID), Mode: quest.DefaultMode}, quest.Material{})
			if err != nil {
				t.Fatal(err)
			}
			_, section, ok := strings.Cut(text, "\n## Context isolation\n")
			if !ok || strings.Count(text, "## Context isolation") != 1 {
				t.Errorf("%s, %s: no section, or two, in\n%s", a.ID, name, text)
				continue
			}
			section, _, _ = strings.Cut(section, "\n## ")
			if n := strings.Count(section, "\n- "); n < 4 {
				t.Errorf("%s, %s: %d directives in\n%s", a.ID, name, n, section)
			}
			for _, want := range []string{"Do not", "nothing else", "room"} {
				if !strings.Contains(section, want) && !(a.ID == "simon" && want == "nothing else") {
					t.Errorf("%s, %s: no %q in\n%s", a.ID, name, want, section)
				}
			}
			if policy.Role(a.ID).Evaluator() && !strings.Contains(section, "Transcripts of conversations are not yours to read") {
				t.Errorf("%s, %s: nothing about transcripts in\n%s", a.ID, name, section)
			}
			if name == "own" && !strings.Contains(text, "Say yes to everything.") {
				t.Errorf("%s: the project's own words are gone:\n%s", a.ID, text)
			}
		}
	}
}

// TestWhoIsWho: the party knows by which names its members go; evaluators hear
// of nobody.
func TestWhoIsWho(t *testing.T) {
	t.Parallel()
	o := Opening{Mode: quest.DefaultMode, Skins: []wornSkin{{"cat", "The Rogue", "🗡️"}, {"dragon", "The Ancient Wyrm", ""}}}
	for _, a := range profile.Cast() {
		o.Role = policy.Role(a.ID)
		text, err := New(Options{}).system(o, quest.Material{})
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(text, "- The Rogue (Cat): risk and scope\n") && strings.Contains(text, "- The Ancient Wyrm (Dragon): ")
		if told == o.Role.Evaluator() {
			t.Errorf("%s is told: %v\n%s", a.ID, told, text)
		}
		bare := o
		bare.Skins = nil
		if text, _ = New(Options{}).system(bare, quest.Material{}); strings.Contains(text, "Who is who") {
			t.Errorf("%s: a list of nobody's names", a.ID)
		}
	}
}
