package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/screen"
	"conclave/profile"
	"conclave/terminal"
)

const familyQuest = `---
campaign-mode: Grow
phase: 2
created: 2026-02-14
---

# A summer for everybody

## Quest Narrative

Two families share one house for three weeks, and nobody is to go home early.

## Success Criteria

1. A plan for the kitchen stands in plan.md

## Anticipated Dragon

Rain.

## Party Assignments

## Progress Log

- **Phase 1 complete** — Quest defined (2026-02-14)
`

// lighthouse is a proposal of nine characters, or of some of them.
func lighthouse(t *testing.T, spoil func(*profile.Draft), ids ...string) string {
	t.Helper()
	pack, err := profile.Library{}.Find("neutral")
	if err != nil {
		t.Fatal(err)
	}
	var drafts []profile.Draft
	for _, p := range pack.Profiles {
		if len(ids) > 0 && !strings.Contains(strings.Join(ids, " "), p.Archetype) {
			continue
		}
		d := profile.Draft{Archetype: p.Archetype, Name: "Keeper " + strings.ToUpper(p.Archetype[:2]), Concept: p.Concept, Voice: p.Voice}
		if spoil != nil {
			spoil(&d)
		}
		drafts = append(drafts, d)
	}
	data, err := json.Marshal(map[string]any{"theme": "Light House", "profiles": drafts})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// inSetup runs quest continue in phase 2 with a person who types these lines. An
// empty script is the embedded party.
func inSetup(t *testing.T, w *real, script string, typed ...string) string {
	t.Helper()
	files := map[string]string{".campaign/quest.md": familyQuest}
	if script != "" {
		files["conclave.yaml"], files["party.script"] = "agents:\n  default: {agent: scripted, script: party.script}\n", script
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "trust", "--yes")
	w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader(strings.Join(typed, "\n")+"\n"), true
	w.env.Stdout = screen.New(&w.out, screen.Options{Terminal: true})
	w.run(0, "quest", "continue")
	w.env.StdinIsTerminal = false
	return w.out.String()
}

func worn(t *testing.T, w *real, id string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, ".campaign", "profiles", id+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDesignWithGandalf: a world in the person's words becomes nine profiles that
// the validator accepts, shown before they are worn, changed by talking, and all
// of it is in a conversation that the record proves.
func TestDesignWithGandalf(t *testing.T) {
	script := fmt.Sprintf(`as gandalf
turn on on a rock
  expect risk and scope
  say Nine keepers, then. Which of them is afraid of the sea?
turn on Write the characters down
  answer %s
turn on could not be worn
  expect ignores every risk
  answer %s
turn on drier
  say Drier she shall be.
turn on Write the characters down
  answer %s
turn on A locksmith
  expect It is about the owl alone
  say A locksmith.
turn on Write the characters down
  answer %s
`, lighthouse(t, func(d *profile.Draft) {
		if d.Archetype == "cat" {
			d.Concept = "Ignores every risk."
		}
	}), lighthouse(t, nil), lighthouse(t, func(d *profile.Draft) {
		if d.Archetype == "cat" {
			d.Name = "The Dry Coxswain"
		}
	}), strings.Replace(lighthouse(t, nil, "owl"), "Keeper OW", "The Locksmith", 1))
	w := newReal(t, "")
	out := inSetup(t, w, script,
		"design", "A lighthouse on a rock",
		"every word", "Make the cat drier.", "Yes",
		"cat", "🔑", "bear", "The Pilot", "wolf", `"007"`, "owl", "design", "A locksmith", "Yes", "Done", "")
	inOrder(t, out, "Which characters shall the party wear?", "1. Family & Parenting", "your quest speaks of “families”",
		"Design your own with Gandalf", "What world", "Nine keepers, then.", "Light House", "Keeper CA (Cat) – risk and scope",
		"Your own words go to Gandalf", "archetype: \"cat\"", "Drier she shall be.", "The Dry Coxswain (Cat)",
		"This is the party now.", "The Dry Coxswain (Cat)", "type a new name or an emoji",
		"🔑 The Dry Coxswain (Cat)", "The Pilot (Bear)", "Who shall", "A locksmith.", "The Locksmith (Owl)",
		"This is the party now:", "What next?")
	for id, want := range map[string]string{"cat": "skin-name: \"The Dry Coxswain\"", "bear": "skin-name: \"The Pilot\"",
		"owl": "skin-name: \"The Locksmith\"", "wolf": "skin-name: \"007\"", "dragon": "theme: \"Light House\""} {
		if text := worn(t, w, id); !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	w.run(0, "profile", "list")
	w.run(0, "transcript", "verify")
	if !strings.Contains(w.out.String(), "1 conversation proved") {
		t.Error(w.out.String())
	}
	found, err := filepath.Glob(filepath.Join(w.dir, ".campaign", "conversations", "*-gandalf.md"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	inOrder(t, string(text), "Consultation purpose: Character setup", "**User:** A lighthouse on a rock", "**🧙 Gandalf:** Nine keepers",
		"**User:** Make the cat drier.", "**🧙 Gandalf:** Drier", "**User:** The Pilot", "### Outcome", "Characters set up: Light House")
}

// TestTheEmbeddedGandalfInventsNobody: without a model he says so, and the packs
// are still there.
func TestTheEmbeddedGandalfInventsNobody(t *testing.T) {
	w := newReal(t, "")
	out := inSetup(t, w, "", "design", "A lighthouse on a rock", "fantasy", "Yes", "Done", "")
	inOrder(t, out, "What world", "I do not make one up", "has proposed no characters", "conclave pack new NAME",
		"Which characters shall the party wear?", "The Rogue (Cat)", "These?", "This is the party now.", "🗡️ The Rogue (Cat)", "This is the party now:", "What next?")
	if text := worn(t, w, "cat"); !strings.Contains(text, "The Rogue") {
		t.Error(text)
	}
}

// TestSetupAsksAboutWhatWasEdited: a profile that the person edited is theirs. They
// are asked, and nobody is told of a flag that there is none of here.
func TestSetupAsksAboutWhatWasEdited(t *testing.T) {
	for answer, want := range map[string]struct{ cat, owl, said string }{
		"Keep mine":       {"A cat of my own.", "The Sage", "🐱 My Own (Cat)"},
		"Replace mine":    {"The Rogue", "The Sage", "🗡️ The Rogue (Cat)"},
		"Install nothing": {"A cat of my own.", "", "Which characters shall the party wear?"},
	} {
		w := newReal(t, "")
		if err := os.MkdirAll(filepath.Join(w.dir, ".campaign", "profiles"), 0o755); err != nil {
			t.Fatal(err)
		}
		mine := "---\narchetype: cat\nskin-name: My Own\ntheme: Mine\n---\n\n## Character Concept\n\nA cat of my own.\n\n## Tone and Voice\n\nPurrs.\n"
		if err := os.WriteFile(filepath.Join(w.dir, ".campaign", "profiles", "cat.md"), []byte(mine), 0o644); err != nil {
			t.Fatal(err)
		}
		out := inSetup(t, w, "", "fantasy", "Yes", answer, "As they are", "Done", "")
		inOrder(t, out, "These?", "You edited cat.md by hand.", "Keep mine", "Replace mine", "a copy of it is kept", want.said, "What next?")
		if strings.Contains(out, "--force") {
			t.Errorf("%s: a flag is recommended:\n%s", answer, out)
		}
		if text := worn(t, w, "cat"); !strings.Contains(text, want.cat) {
			t.Errorf("%s: the cat is\n%s", answer, text)
		}
		owl, err := os.ReadFile(filepath.Join(w.dir, ".campaign", "profiles", "owl.md"))
		if (err == nil) != (want.owl != "") || !strings.Contains(string(owl), want.owl) {
			t.Errorf("%s: the owl is\n%s%v", answer, owl, err)
		}
		kept, err := filepath.Glob(filepath.Join(w.dir, ".conclave", "profiles", "old", "*", "cat.md"))
		if err != nil || (answer == "Replace mine") && len(kept) != 1 {
			t.Errorf("%s: kept %v %v", answer, kept, err)
		}
	}
}

// piped is a command line without a person: what comes in, and where words go.
func piped(in string, out, errs io.Writer) terminal.Terminal {
	return terminal.Terminal{
		Stdin: strings.NewReader(in), Stdout: screen.New(out, screen.Options{}), Stderr: screen.New(errs, screen.Options{}),
	}
}
