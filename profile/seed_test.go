package profile

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// seedIDs are the statements of the pack format that speak of one archetype:
// its file in a pack, and that it is required.
var seedIDs = map[string][2]string{
	"bear": {"003-06", "003-44"}, "cat": {"003-07", "003-45"}, "owl": {"003-08", "003-46"},
	"puppy": {"003-09", "003-47"}, "rabbit": {"003-10", "003-48"}, "wolf": {"003-11", "003-49"},
	"gandalf": {"003-12", "003-50"}, "guardian": {"003-13", "003-51"}, "dragon": {"003-14", "003-52"},
}

// TestSeedNine: each of the nine is in every pack that comes with the program,
// under its own file name, and a pack without it is none.
func TestSeedNine(t *testing.T) {
	packs, err := Library{}.List()
	if err != nil || len(packs) == 0 {
		t.Fatalf("%d packs, %v", len(packs), err)
	}
	for _, id := range slices.Sorted(maps.Keys(seedIDs)) {
		t.Run(seedIDs[id][0], func(t *testing.T) {
			for _, p := range packs {
				at := slices.IndexFunc(p.Profiles, func(q *Profile) bool { return q.Archetype == id })
				if at < 0 || filepath.Base(p.Profiles[at].file) != id+".md" {
					t.Errorf("%s has no %s.md", p.Name, id)
				}
			}
		})
		t.Run(seedIDs[id][1], func(t *testing.T) {
			a, ok := Lookup(id)
			if want := map[bool]Kind{true: npc, false: animal}[id == "gandalf" || id == "guardian" || id == "dragon"]; !ok || a.Kind != want {
				t.Errorf("the %s is of kind %v", id, a.Kind)
			}
			p, _ := broken{file: id + ".md"}.load(t)
			if len(p.Faults) != 1 || p.Faults[0].Rule != "pack-incomplete" || !strings.Contains(p.Faults[0].Message, id) {
				t.Errorf("without it: %v", p.Faults)
			}
		})
	}
}

// TestSeedPackNames: directory names as the pack format has them.
func TestSeedPackNames(t *testing.T) {
	makes := func(name string) error { return NewPack(filepath.Join(t.TempDir(), name), "") }
	for id, names := range map[string]struct{ good, bad []string }{
		"003-15": {[]string{"fantasy"}, []string{"Fantasy", "FANTASY"}},
		"003-16": {[]string{"deep-sea"}, []string{"deep sea", "deep_sea", "-deep", "deep-"}},
		"003-19": {[]string{"fantasy", "hundred-acre-wood", "martial-arts", "sci-fi"}, nil},
	} {
		t.Run(id, func(t *testing.T) {
			for _, name := range names.good {
				if err := makes(name); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			for _, name := range names.bad {
				if makes(name) == nil {
					t.Errorf("%q is taken", name)
				}
			}
		})
	}
}

// TestSeedFiles holds single profiles against the pack format: what it asks for
// is missed, what it allows is read.
func TestSeedFiles(t *testing.T) {
	const (
		head = "---\narchetype: cat\nskin-name: \"The Moray\"\ntheme: \"Deep Sea\"\nemoji: \"🐱\"\n---\n"
		body = "\n## Character Concept\n\nAn eel.\n\n## Tone and Voice\n\nDry.\n"
	)
	read := func(text string) (*Profile, string) {
		p, faults := Parse("cat.md", []byte(text))
		var rules []string
		for _, f := range faults {
			rules = append(rules, f.Rule)
		}
		return p, strings.Join(rules, " ")
	}
	for id, c := range map[string]struct{ old, new, rules string }{
		"003-20": {"archetype: cat", "archetype: owl", "archetype-file"},
		"003-22": {"", "", ""},
		"003-23": {"archetype: cat", "archetype: bear", "archetype-file"},
		"003-24": {"skin-name: \"The Moray\"\n", "", "skin-name-missing"},
		"003-27": {"emoji: \"🐱\"\n", "", ""},
		"003-30": {"## Character Concept", "## Who", "concept-missing"},
		"003-31": {"## Character Concept", "## Thematic Adaptation", ""},
		"003-32": {"An eel.", "", "concept-empty"},
		"003-33": {"## Tone and Voice", "## Sound", "voice-missing"},
		"003-34": {"## Tone and Voice", "## Voice and Manner", ""},
		"003-35": {"Dry.", "", "voice-empty"},
		"003-36": {"Dry.\n", "Dry.\n\n## Behavioural Modifiers\n\n- Cautious.\n", ""},
		"003-37": {"Dry.\n", "Dry.\n\n## Behavioural Tweaks\n\n- Cautious.\n", ""},
	} {
		t.Run(id, func(t *testing.T) {
			text := head + body
			if c.old != "" {
				if !strings.Contains(text, c.old) {
					t.Fatalf("no %q in it", c.old)
				}
				text = strings.Replace(text, c.old, c.new, 1)
			}
			p, rules := read(text)
			if rules != c.rules {
				t.Errorf("found %q, want %q", rules, c.rules)
			}
			if tuned := strings.Contains(c.new, "Behavioural"); rules == "" && (p.Depth == Modifier) != tuned {
				t.Errorf("of depth %s", p.Depth)
			}
		})
	}
}
