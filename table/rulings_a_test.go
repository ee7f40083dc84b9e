package table

import (
	"os"
	"strings"
	"testing"
)

var rulingsA = map[string]func(*testing.T){
	"A1": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"party/nethara-kora.md": "text first\n```\n# not this\n```\n# Nethara'kora #\n"})
		ch, found := load(t, c).Get("nethara-kora")
		eq(t, "found by file name", found, true)
		eq(t, "name", ch.Name, "Nethara'kora")
		c = newCampaign(t, map[string]string{"party/old-pete.md": "no heading"})
		ch, _ = load(t, c).Get("old-pete")
		eq(t, "name without a heading", ch.Name, "Old Pete")
	},
	"A2": func(t *testing.T) {
		for _, s := range []string{"a", "r2-d2", strings.Repeat("x", 64)} {
			ok(t, CheckSlug(s))
		}
		for _, s := range []string{"", "Tilda", "a--b", "-a", "a-", "a b", "a.b", "ä", strings.Repeat("x", 65)} {
			if CheckSlug(s) == nil {
				t.Errorf("%q was accepted", s)
			}
		}
		r := load(t, newCampaign(t, map[string]string{"party/Mira.md": "# Mira", "party/x y.md": "", "party/李明.md": ""}))
		eqs(t, "problems", r.Problems,
			"party/Mira.md: not a valid character file name; rename to mira.md",
			"party/x y.md: not a valid character file name; rename to x-y.md",
			"party/李明.md: not a valid character file name")
		eqs(t, "seated", r.Slugs(), "gideon-harrowmoor", "tilda-brannock")
	},
	"A3": func(t *testing.T) {
		for _, r := range []rune{0x27, 0x2018, 0x2019, 0x2BC, 0xFF07, 0x60, 0xB4} {
			s, err := Slugify("O" + string(r) + "Brien")
			ok(t, err)
			eq(t, string(r), s, "obrien")
		}
	},
	"A4": func(t *testing.T) {
		slugs(t, map[string]string{
			"Dr. Yuki Okonkwo": "dr-yuki-okonkwo", "K/DA": "kda", "🐉 Drake": "drake", "Jean–Luc": "jean-luc",
			"a_b — c − d": "a-b-c-d", " --x-- ": "x", "R2-D2": "r2-d2", "a\u00a0b\tc": "a-b-c",
		})
	},
	"A5": func(t *testing.T) {
		slugs(t, map[string]string{
			"Zoë Ünal": "zoe-unal", "Zoe\u0308 U\u0308nal": "zoe-unal", "Łukasz Żółć": "lukasz-zolc", "Þórr Ægisson": "thorr-aegisson",
			"Straße": "strasse", "İpek": "ipek", "Ａｎｎａ": "anna", "ﬁn": "fin", "Đặng Văn": "dang-van", "œuvre": "oeuvre",
		})
		for _, n := range []string{"李明", "Ольга", "Zoë 李"} {
			_, err := Slugify(n)
			se, is := err.(*SlugError)
			if !is || !se.Ask {
				t.Errorf("%s: %v; a slug should be asked for", n, err)
			}
		}
	},
	"A6": func(t *testing.T) {
		err := UniqueSlug("zoe", []string{"zoe", "zoe-2", "bob"})
		has(t, err, "try zoe-3")
		eq(t, "suggestion", UniqueSlug("zoe", []string{"Zoe"}).(*SlugError).Suggest, "zoe-2")
		ok(t, UniqueSlug("zed", []string{"zoe"}))
		err = foldClash([]string{"Zoe.md", "zoe.md"})
		has(t, err, "party/Zoe.md and party/zoe.md differ only in case")
	},
	"A7": func(t *testing.T) {
		for _, w := range strings.Fields("gm narrator table engine system human player players all party everyone none narrative story-state party-knowledge") {
			eq(t, w, CheckSlug(w).(*SlugError).Suggest, w+"-2")
		}
		_, err := Slugify("GM")
		has(t, err, "reserved; use a fuller name; try gm-2")
	},
	"A8": func(t *testing.T) {
		for _, w := range strings.Fields("bob-journal bob-brief bob-prompt bob-response bob-notes bob-context bob-notes-for") {
			if CheckSlug(w) == nil {
				t.Errorf("%s was accepted", w)
			}
		}
		if _, err := Slugify("Bob Journal"); err == nil {
			t.Error("Bob Journal was accepted")
		}
		r := load(t, newCampaign(t, map[string]string{
			"party/bob-journal.md": "", "party/bob-brief.md": "", "party/tilda-brannock-journal.md": "", "party/gideon-harrowmoor-journal.md": "", "party/eve-notes.md": "",
		}))
		eqs(t, "party", r.Slugs(), "gideon-harrowmoor", "tilda-brannock")
		eqs(t, "warnings", r.Warnings, "party/bob-journal.md: journal without a character")
		eqs(t, "problems", r.Problems, "party/eve-notes.md: names ending in -notes belong to the file protocol; rename to eve-notes-2.md")
	},
	"A9": func(t *testing.T) {
		for _, w := range []string{"Con", "Aux", "Nul", "PRN", "com1", "LPT9"} {
			if s, err := Slugify(w); err == nil {
				t.Errorf("%s gave %s", w, s)
			}
		}
		slugs(t, map[string]string{"Conan": "conan", "com10": "com10"})
	},
	"A10": func(t *testing.T) {
		for name, want := range map[string]string{
			"Tilda Brannock": "tilda-brannock", "tilda-branock": "tilda-brannock", "harrowmoor": "gideon-harrowmoor", "zorro": "",
			"../../tilda": "",
		} {
			eq(t, name, duo().Suggest(name), want)
		}
	},
	"A11": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"story-state.md": "CANARY"})
		for _, n := range []string{"../../story-state", "../story-state", "a/b", ".", "..", "/etc/passwd", "tilda-brannock\x00", `..\x`} {
			if _, err := c.PlayerContext(n, nil, ContextOptions{}); err == nil {
				t.Errorf("a context for %q was built", n)
			}
			if _, err := OpenCampaign(c.Workspace, n); err == nil {
				t.Errorf("campaign %q was opened", n)
			}
			if _, err := c.Party.Read(n, 0); err == nil {
				t.Errorf("%q was read", n)
			}
		}
		slugs(t, map[string]string{"../../story state 2": "story-state-2"})
	},
	"A11b": func(t *testing.T) {
		r := load(t, newCampaign(t, map[string]string{"party/nethara-kora.md": "# Nethara'kora\n"}))
		eqs(t, "warnings", r.Warnings, `party/nethara-kora.md: the heading "Nethara'kora" would give netharakora.md; the file name counts`)
		eq(t, "still plays", len(r.Characters), 3)
	},
	"A12": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"party/tilda-brannock-journal.md": "x", "party/tilda-brannock-brief.md": "x"})
		moves, err := PlanRename(load(t, c), c.Party, "tilda-brannock", "tilda-storm")
		ok(t, err)
		eq(t, "moves", len(moves), 3)
		eq(t, "journal", moves[1], Move{"party/tilda-brannock-journal.md", "party/tilda-storm-journal.md"})
		for from, to := range map[string]string{"nobody": "x", "tilda-brannock": "gideon-harrowmoor", "gideon-harrowmoor": "GM"} {
			if _, err := PlanRename(load(t, c), c.Party, from, to); err == nil {
				t.Errorf("%s to %s was planned", from, to)
			}
		}
		ok(t, os.WriteFile(c.host("party/gideon-harrowmoor-journal.md"), nil, 0o644))
		ok(t, os.Rename(c.host("party/tilda-brannock.md"), c.host("party/tilda-storm.md")))
		has(t, load(t, c).Warnings, "use: table rename tilda-brannock tilda-storm")
	},
}

func slugs(t *testing.T, want map[string]string) {
	t.Helper()
	for name, slug := range want {
		got, err := Slugify(name)
		if err != nil || got != slug {
			t.Errorf("%q: %q, %v; want %q", name, got, err, slug)
		}
	}
}

// TestSlugVectors are the given pairs.
func TestSlugVectors(t *testing.T) {
	slugs(t, map[string]string{
		"Tilda Brannock": "tilda-brannock", "O'Brien": "obrien", "O’Brien": "obrien", "Sir Edmund the Bold": "sir-edmund-the-bold",
		"Nethara'kora": "netharakora", "Zoë Ünal": "zoe-unal", "Łukasz Żółć": "lukasz-zolc", "Þórr Ægisson": "thorr-aegisson",
		"Straße": "strasse", "Dr. Yuki Okonkwo": "dr-yuki-okonkwo", "Jean–Luc": "jean-luc", "R2-D2": "r2-d2", "K/DA": "kda",
		"🐉 Drake": "drake", "Ａｎｎａ": "anna", "d'Artagnan": "dartagnan", "İpek": "ipek",
	})
	for _, name := range []string{"李明", "Ольга", "!!!", " ", "", "GM", "Con", "Bob Journal", strings.Repeat("x", 300), "../../story-state", "a\xff"} {
		if got, err := Slugify(name); err == nil {
			t.Errorf("%q gave %q", name, got)
		}
	}
}

func FuzzSlugify(f *testing.F) {
	for _, s := range []string{"Zoë Ünal", "O’Brien", "../../x", "李明", "\xff", "---", "İß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s, err := Slugify(name)
		if err != nil {
			return
		}
		if CheckSlug(s) != nil {
			t.Errorf("%q gave %q, which is no slug", name, s)
		}
		if again, err := Slugify(s); err != nil || again != s {
			t.Errorf("%q gave %q, and that %q, %v", name, s, again, err)
		}
	})
}
