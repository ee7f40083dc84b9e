package profile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// builtinNames are the skins and emoji that the built-in packs are specified with.
var builtinNames = map[string]map[string]string{
	"fantasy": {
		"bear": "⚔️ The Paladin", "cat": "🗡️ The Rogue", "owl": "📜 The Sage", "puppy": "🎵 The Bard", "rabbit": "⚒️ The Artificer", "wolf": "🏹 The Warden",
		"gandalf": "🧙 The Archmage", "guardian": "🛡️ The Sentinel", "dragon": "🐉 The Ancient Wyrm",
	},
	"hundred-acre-wood": {
		"bear": "🍯 Pooh", "cat": "🫏 Eeyore", "owl": "🦉 Owl", "puppy": "🐯 Tigger", "rabbit": "🐰 Rabbit", "wolf": "🐷 Piglet",
		"gandalf": "👦 Christopher Robin", "guardian": "🦘 Kanga", "dragon": "🐘 Heffalump",
	},
	"family-parenting": {
		"bear": "👴 The Elder", "cat": "📱 The Teenager", "owl": "🛋️ The Family Therapist", "puppy": "🧒 The Neighbour Kid", "rabbit": "🤝 The Co-Parent", "wolf": "🫂 The Older Sibling",
		"gandalf": "🩺 The Paediatrician", "guardian": "📋 The Social Worker", "dragon": "👵 Great Aunt Betty",
	},
	"neutral": {
		"bear": "Visionary Leader", "cat": "Risk Analyst", "owl": "Timekeeper", "puppy": "Morale Officer", "rabbit": "Resource Coordinator", "wolf": "Team Captain",
		"gandalf": "The Mentor", "guardian": "The Gatekeeper", "dragon": "The Challenger",
	},
}

func TestBuiltinsPassTheirOwnValidator(t *testing.T) {
	packs, err := Library{}.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(packs) != len(builtinNames) {
		t.Errorf("%d built-in packs, want %d", len(packs), len(builtinNames))
	}
	for _, p := range packs {
		for _, f := range p.Faults {
			t.Errorf("%s", f)
		}
		if p.Origin != FromBuiltin || Slug(p.Theme) != p.Name || len(p.Profiles) != packSize {
			t.Errorf("pack %s: origin %s, theme %q, %d profiles", p.Name, p.Origin, p.Theme, len(p.Profiles))
		}
		for _, q := range p.Profiles {
			want := builtinNames[p.Name][q.Archetype]
			if got := q.Emoji + " " + q.SkinName; got != want && q.SkinName != want {
				t.Errorf("%s: %q, want %q", q.file, got, want)
			}
			a, _ := Lookup(q.Archetype)
			if a.Kind == npc && q.Depth != flavour {
				t.Errorf("%s: an NPC of depth %s", q.file, q.Depth)
			}
		}
	}
	if !strings.Contains(string(licence()), "CC-BY-SA-4.0") && !strings.Contains(string(licence()), "Attribution-ShareAlike 4.0") {
		t.Error("the packs carry no licence")
	}
}

// writePack puts a copy of a built-in pack under a new name and theme.
func writePack(t *testing.T, parent, name, theme string) string {
	t.Helper()
	p, err := Library{}.Find("builtin:fantasy")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, q := range p.Profiles {
		data := strings.Replace(string(q.Bytes()), `theme: "Fantasy"`, `theme: "`+theme+`"`, 1)
		if err := os.WriteFile(filepath.Join(dir, q.Archetype+".md"), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSearchPath(t *testing.T) {
	l := Library{Project: t.TempDir(), User: t.TempDir()}
	writePack(t, l.Project, "fantasy", "Fantasy")
	writePack(t, l.User, "fantasy", "FANTASY")
	writePack(t, l.User, "deep-sea", "Deep Sea")

	p, err := l.Find("deep-sea")
	if err != nil || p.Origin != fromUser || len(p.Faults) != 0 || p.Theme != "Deep Sea" {
		t.Errorf("deep-sea: %v %+v", err, p)
	}
	_, err = l.Find("fantasy")
	if err == nil {
		t.Fatal("an ambiguous name was resolved in silence")
	}
	for _, want := range []string{"project:fantasy (" + filepath.Join(l.Project, "fantasy"), "user:fantasy (" + filepath.Join(l.User, "fantasy"), "builtin:fantasy (built in)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not name %q: %v", want, err)
		}
	}
	for _, origin := range []Origin{FromProject, fromUser, FromBuiltin} {
		if p, err := l.Find(string(origin) + ":fantasy"); err != nil || p.Origin != origin {
			t.Errorf("%s:fantasy: %v %+v", origin, err, p)
		}
	}
	if _, err := l.Find("nowhere"); !errors.Is(err, errNoPack) || !strings.Contains(err.Error(), "hundred-acre-wood") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := l.Find("../fantasy"); !errors.Is(err, errNoPack) {
		t.Errorf("a path is no name: %v", err)
	}
	if _, err := l.Find("other:fantasy"); err == nil {
		t.Error("an unknown origin was accepted")
	}
}
