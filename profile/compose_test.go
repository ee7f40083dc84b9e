package profile

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// drafts are nine characters of one world.
func drafts() []Draft {
	var all []Draft
	for _, p := range mustPack("neutral").Profiles {
		all = append(all, Draft{p.Archetype, "Keeper " + p.Archetype, "", p.Concept, p.Voice, p.Modifiers})
	}
	return all
}

func mustPack(name string) *Pack {
	if p, ok := foundPacks.Load(name); ok {
		return p.(*Pack)
	}
	p, err := Library{}.Find(name)
	if err != nil {
		panic(err)
	}
	foundPacks.Store(name, p)
	return p
}

var foundPacks sync.Map // by name: nobody changes them

// TestCompose: what was thought up in a talk is held to what every pack is.
func TestCompose(t *testing.T) {
	nine := drafts()
	p := Compose("Light  House", nine)
	if len(p.Faults) > 0 || len(p.Profiles) != 9 || p.Name != "light-house" || p.Theme != "Light House" || p.Origin != FromTalk {
		t.Errorf("%+v", p)
	}
	if one := Compose("Light House", nine[1:2]); len(one.Faults) > 0 || len(one.Profiles) != 1 || one.Profiles[0].Archetype != "cat" {
		t.Errorf("one alone: %v", one.Faults)
	}
	for name, c := range map[string]struct {
		theme string
		spoil func([]Draft) []Draft
		rule  string
	}{
		"none":             {"Light House", func([]Draft) []Draft { return nil }, "pack-incomplete"},
		"no theme":         {"!", func(d []Draft) []Draft { return d }, "theme-missing"},
		"no name":          {"Light House", func(d []Draft) []Draft { d[2].Name = ""; return d }, "skin-name-missing"},
		"a path":           {"Light House", func(d []Draft) []Draft { d[2].Name = "../owl"; return d }, "skin-name-character"},
		"two alike":        {"Light House", func(d []Draft) []Draft { d[2].Name = "keeper BEAR"; return d }, "pack-skin-alike"},
		"twice":            {"Light House", func(d []Draft) []Draft { d[2].Archetype = "cat"; return d }, "pack-twice"},
		"a tenth":          {"Light House", func(d []Draft) []Draft { return append(d, Draft{"simon", "S", "", "x", "y", ""}) }, "pack-stray"},
		"a stranger":       {"Light House", func(d []Draft) []Draft { d[0].Archetype = "lynx"; return d }, "pack-stray"},
		"no voice":         {"Light House", func(d []Draft) []Draft { d[4].Voice = " "; return d }, "voice-missing"},
		"two emoji":        {"Light House", func(d []Draft) []Draft { d[4].Emoji = "🔥🔥"; return d }, "emoji-count"},
		"core negated":     {"Light House", func(d []Draft) []Draft { d[1].Concept = "Ignores every risk."; return d }, "core-negated"},
		"an NPC modified":  {"Light House", func(d []Draft) []Draft { d[6].Modifiers = "- softer"; return d }, "modifiers-npc"},
		"a forged header":  {"Light House", func(d []Draft) []Draft { d[1].Name = "x\"\n---\n\n## Name"; return d }, "skin-name-character"},
		"a forged section": {"Light House", func(d []Draft) []Draft { d[1].Concept += "\n\n## Tone and Voice\n\nz"; return d }, "section-twice"},
	} {
		p := Compose(c.theme, c.spoil(drafts()))
		if !slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Rule == c.rule }) {
			t.Errorf("%s: no %s in %v", name, c.rule, p.Faults)
		}
	}
}

// TestSuits: a pack is suggested for what a quest says, word for word.
func TestSuits(t *testing.T) {
	for text, want := range map[string]string{
		"Plan the summer with the whole family":                "family-parenting: family",
		"Two families share one house, and a teenager objects": "family-parenting: families, teenager",
		"Write a fantasy novel with a rogue in it":             "fantasy: fantasy, rogue",
		"A walk through the Hundred Acre Wood":                 "hundred-acre-wood: Hundred Acre Wood",
		"Build a table of oak wood on an acre of land":         "",
		"An owl box and a rabbit hutch":                        "",
		"Ship the parser with its tests; the risk is scope":    "",
		"message passing between processes":                    "",
	} {
		var got []string
		for _, name := range []string{"family-parenting", "fantasy", "hundred-acre-wood", "neutral"} {
			if found := mustPack(name).Suits(text); len(found) > 0 {
				got = append(got, name+": "+strings.Join(found, ", "))
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
