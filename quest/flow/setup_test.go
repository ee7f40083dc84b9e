package flow

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/engine/enginetest"
	"conclave/profile"
	"conclave/quest"
)

const mine = "---\narchetype: cat\nskin-name: My Own\ntheme: Mine\n---\n\n## Character Concept\n\nx\n\n## Tone and Voice\n\ny\n"

// designScript has Gandalf propose nine characters.
func designScript(t testing.TB) string {
	t.Helper()
	pack, err := profile.Library{}.Find("neutral")
	if err != nil {
		t.Fatal(err)
	}
	c := characters{Theme: "Light House"}
	for _, p := range pack.Profiles {
		c.Profiles = append(c.Profiles, profile.Draft{Archetype: p.Archetype, Name: "Keeper " + p.Archetype, Concept: p.Concept, Voice: p.Voice})
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return "as gandalf\nturn on rock\n  say Nine keepers.\nturn on Write the characters down\n  answer " + string(data) + "\n"
}

// TestDesignSurvivesEveryKill: characters are designed, and installed over a
// profile that was edited by hand, and the process dies at every point of it.
func TestDesignSurvivesEveryKill(t *testing.T) {
	t.Parallel()
	script := designScript(t)
	labels := enginetest.KillEverywhere(t, enginetest.Program{
		Scopes: []string{Scope},
		Prepare: func(dir string) error {
			profiles := filepath.Join(dir, ".campaign", "profiles")
			return errors.Join(os.MkdirAll(profiles, 0o755),
				os.WriteFile(filepath.Join(dir, quest.QuestFile), []byte(strings.Replace(aQuest, "phase: 3", "phase: 2", 1)), 0o644),
				os.WriteFile(filepath.Join(profiles, "cat.md"), []byte(mine), 0o644))
		},
		Run: func(ctx context.Context, dir string, crash func(string)) error {
			s := stage{dir: dir, script: script, crash: crash, answers: map[string]string{
				"pack": "Design", "message": "A lighthouse on a rock", "designed": "Yes", "edited": "Replace"}}
			_, err := s.play(ctx, []act{{"setup", Setup{}}})
			return err
		},
		Check: func(t *testing.T, dir string) {
			proved(t, dir, 1)
			party, faults, err := profile.Project{Dir: dir}.Party()
			if err != nil || len(faults) > 0 || len(party) != 9 || party["cat"].SkinName != "Keeper cat" {
				t.Errorf("%d worn, %v, %v", len(party), faults, err)
			}
			q, err := os.ReadFile(filepath.Join(dir, quest.QuestFile))
			if err != nil || strings.Count(string(q), "Characters set up: Light House") != 1 || !strings.Contains(string(q), "\nphase: 3\n") {
				t.Errorf("%s%v", q, err)
			}
			kept, err := filepath.Glob(filepath.Join(dir, ".conclave", "profiles", "old", "*", "cat.md"))
			if err != nil || len(kept) != 1 {
				t.Errorf("kept %v %v", kept, err)
			}
		},
	})
	t.Logf("%d points", len(labels))
}
