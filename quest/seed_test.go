package quest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/profile"
)

// nameOf is the first name of a conversation that began then.
func nameOf(t *testing.T, at, id, skin string) string {
	t.Helper()
	begun, err := time.ParseInLocation("2006-01-02 15:04", at, time.Local)
	if err != nil {
		t.Fatal(err)
	}
	for name := range (Conversation{Start: begun}).With(face(t, id, skin)).Names() {
		return name
	}
	return ""
}

// TestSeedNames holds the file names against the transcript protocol: the ten
// values and the six examples.
func TestSeedNames(t *testing.T) {
	for _, c := range []struct{ id, at, who, skin, want string }{
		{"000-14", "2026-02-18 14:32", "bear", "", "2026-02-18-14-32-bear.md"},
		{"000-15", "2026-02-18 14:32", "cat", "", "2026-02-18-14-32-cat.md"},
		{"000-16", "2026-02-18 14:32", "owl", "", "2026-02-18-14-32-owl.md"},
		{"000-17", "2026-02-18 14:32", "puppy", "", "2026-02-18-14-32-puppy.md"},
		{"000-18", "2026-02-18 14:32", "rabbit", "", "2026-02-18-14-32-rabbit.md"},
		{"000-19", "2026-02-18 14:32", "wolf", "", "2026-02-18-14-32-wolf.md"},
		{"000-20", "2026-02-18 14:32", "gandalf", "", "2026-02-18-14-32-gandalf.md"},
		{"000-21", "2026-02-18 14:32", "guardian", "", "2026-02-18-14-32-guardian.md"},
		{"000-22", "2026-02-18 14:32", "dragon", "", "2026-02-18-14-32-dragon.md"},
		{"000-23", "2026-02-18 14:32", "simon", "", "2026-02-18-14-32-council.md"},
		{"000-24", "2026-02-18 14:32", "cat", "", "2026-02-18-14-32-cat.md"},
		{"000-25", "2026-02-18 14:32", "cat", "Eeyore", "2026-02-18-14-32-cat(eeyore).md"},
		{"000-26", "2026-02-18 15:10", "owl", "The Sage", "2026-02-18-15-10-owl(the-sage).md"},
		{"000-27", "2026-02-18 16:00", "guardian", "Kanga", "2026-02-18-16-00-guardian(kanga).md"},
		{"000-28", "2026-02-19 09:15", "gandalf", "", "2026-02-19-09-15-gandalf.md"},
		{"000-29", "2026-02-19 09:15", "gandalf", "Christopher Robin", "2026-02-19-09-15-gandalf(christopher-robin).md"},
		{"000-08", "2026-02-18 00:05", "cat", "", "2026-02-18-00-05-cat.md"},
		{"000-09", "2026-02-18 23:59", "wolf", "Piglet", "2026-02-18-23-59-wolf(piglet).md"},
		{"000-11", "2026-02-18 14:32", "dragon", "GREAT Aunt Betty", "2026-02-18-14-32-dragon(great-aunt-betty).md"},
		{"000-13", "2026-02-18 14:32", "owl", "", "2026-02-18-14-32-owl.md"},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := nameOf(t, c.at, c.who, c.skin); got != c.want {
				t.Errorf("filed as %s, want %s", got, c.want)
			}
		})
	}
	t.Run("000-07", func(t *testing.T) {
		var names []string
		for _, at := range []string{"2025-12-31 23:59", "2026-01-01 00:00", "2026-01-01 09:00", "2026-01-01 10:00", "2026-02-01 08:00"} {
			names = append(names, nameOf(t, at, "wolf", "Piglet"), nameOf(t, at, "wolf", ""))
		}
		for i := 2; i < len(names); i += 2 {
			if slices.Max(names[:i]) >= min(names[i], names[i+1]) {
				t.Errorf("%q does not sort behind %q", names[i], names[:i])
			}
		}
	})
}

// TestSeedTags holds the speakers' tags against the protocol's examples.
func TestSeedTags(t *testing.T) {
	dressed := func(id, skin, emoji string) string {
		a, _ := profile.Lookup(id)
		return profile.NewFace(a, &profile.Profile{Archetype: id, SkinName: skin, Emoji: emoji}).Tag()
	}
	plain := func(id string) string {
		a, _ := profile.Lookup(id)
		return profile.NewFace(a, nil).Tag()
	}
	for id, c := range map[string][2]string{
		"000-31": {"**🐱 Rogue:**", dressed("cat", "Rogue", "")},
		"000-60": {"**🐻 Bear:**", plain("bear")},
		"000-62": {"**🗡️ Rogue:**", dressed("cat", "Rogue", "🗡️")},
		"000-63": {"**🐱 Cat:**", plain("cat")},
		"000-64": {"**🧙 The Archmage:**", dressed("gandalf", "The Archmage", "🧙")},
		"000-66": {"**🛡️ Guardian:**", plain("guardian")},
		"000-67": {"**User:**", profile.UserTag},
	} {
		t.Run(id, func(t *testing.T) {
			if c[1] != c[0] {
				t.Errorf("the tag is %s, want %s", c[1], c[0])
			}
		})
	}
}

// TestSeedFields holds the front matter against the protocol: what is required
// is never left out, and what is not valid is not written.
func TestSeedFields(t *testing.T) {
	good := sample(t)
	for id, c := range map[string]struct {
		spoil func(*Conversation)
		line  string // which a good one has
	}{
		"000-30": {func(c *Conversation) { c.Agent = "" }, "\nagent: cat\n"},
		"000-32": {func(c *Conversation) { c.Phase = 7 }, "\nphase: 3\n"},
		"000-33": {func(c *Conversation) { c.Mode = "Grow and Ship" }, "\ncampaign-mode: Grow & Ship\n"},
		"000-34": {func(c *Conversation) { c.Start = time.Time{} }, "\ndate: 2026-02-18T14:32:07\n"},
		"000-47": {func(c *Conversation) { c.Phase = 0 }, "\nphase: 3\n"},
	} {
		t.Run(id, func(t *testing.T) {
			file, err := good.Render()
			if err != nil || !strings.Contains(string(file), c.line) {
				t.Errorf("no %q (%v) in\n%s", c.line, err, file)
			}
			bad := good
			c.spoil(&bad)
			if file, err := bad.Render(); err == nil {
				t.Errorf("written was\n%s", file)
			}
		})
	}
}
