package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestCast(t *testing.T) {
	if len(Cast()) != 10 {
		t.Fatalf("%d in the cast", len(Cast()))
	}
	kinds := map[Kind]int{}
	for _, a := range Cast() {
		kinds[a.Kind]++
		if err := emojiError(a.emoji); err != nil {
			t.Errorf("%s: %v", a.ID, err)
		}
		if (a.Kind == npc) != (a.Lens == "") || (a.Kind == animal) != (len(a.flex) > 0) || a.Core == "" {
			t.Errorf("incomplete: %+v", a)
		}
		if coreRules()[a.ID+" contrary"] == nil || coreRules()[a.ID+" core"] == nil {
			t.Errorf("no rule holds the core of the %s", a.ID)
		}
	}
	if kinds[animal] != 6 || kinds[npc] != 3 || kinds[Educator] != 1 {
		t.Errorf("kinds %v", kinds)
	}
}

func TestFace(t *testing.T) {
	cat, _ := Lookup("cat")
	rogue := &Profile{Archetype: "cat", SkinName: "The Rogue", Emoji: "🗡️"}
	cases := []struct {
		name                string
		face                Face
		tag, menu, filePart string
	}{
		{"no profile", NewFace(cat, nil), "**🐱 Cat:**", "Cat", ""},
		{"profile", NewFace(cat, rogue), "**🗡️ The Rogue:**", "The Rogue (Cat)", "the-rogue"},
		{"profile without emoji", NewFace(cat, &Profile{Archetype: "cat", SkinName: "Eeyore"}), "**🐱 Eeyore:**", "Eeyore (Cat)", "eeyore"},
		{"someone else's", NewFace(cat, &Profile{Archetype: "owl", SkinName: "The Sage"}), "**🐱 Cat:**", "Cat", ""},
		{"accents", NewFace(cat, &Profile{Archetype: "cat", SkinName: "Die Große Ähre"}), "**🐱 Die Große Ähre:**", "Die Große Ähre (Cat)", "die-große-ähre"},
	}
	for _, c := range cases {
		if c.face.Tag() != c.tag || c.face.MenuName() != c.menu || c.face.FilePart() != c.filePart {
			t.Errorf("%s: %s, %s, %s", c.name, c.face.Tag(), c.face.MenuName(), c.face.FilePart())
		}
	}
	long := NewFace(cat, &Profile{Archetype: "cat", SkinName: strings.Repeat("🐙", 64)})
	if n := len("2026-02-18-14-32-guardian()_02.md") + len(long.FilePart()); n > 255 {
		t.Errorf("a legal skin name makes a file name of %d bytes", n)
	}
}

func TestSlug(t *testing.T) {
	for theme, want := range map[string]string{"Hundred Acre Wood": "hundred-acre-wood", "Family & Parenting": "family-parenting", " Sci-Fi! ": "sci-fi", "Été 2": "été-2", "…": ""} {
		if got := Slug(theme); got != want {
			t.Errorf("Slug(%q) = %q, want %q", theme, got, want)
		}
	}
	if got := title("hundred-acre-wood"); got != "Hundred Acre Wood" {
		t.Errorf("Title: %q", got)
	}
}

func TestEmoji(t *testing.T) {
	for _, good := range []string{"🗡️", "⚔️", "👩🏽‍🚀", "🧑‍🏫", "🇬🇧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "🫏", "🛋️", "☀", "➡️", "©️", "👨‍👩‍👧‍👦"} {
		if err := emojiError(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", " ", "a", "é", "1", "*", "🔥🔥", "🔥 ", "-", "\n", "🔥" + strings.Repeat("\u0301", 3), "🔥" + strings.Repeat("\ufe0f", 40), "字"} {
		if emojiError(bad) == nil {
			t.Errorf("emoji %q was accepted", bad)
		}
	}
}

// TestNameSectionAgreesAsItIsHeard: the section that repeats the skin name is
// redundant, and no reason to refuse a profile over a letter.
func TestNameSectionAgreesAsItIsHeard(t *testing.T) {
	for section, ok := range map[string]bool{
		"The Ancient Wyrm": true, "the ancient wyrm": true, "Ancient Wyrm": true, "  The  Ancient\nWyrm ": true,
		"**The Ancient Wyrm**": true, "The Ancient Wyrm.": true, "The Ancient Worm": false, "Wyrm": false, "": false,
	} {
		text := "---\narchetype: dragon\nskin-name: \"The Ancient Wyrm\"\ntheme: T\n---\n\n## Name\n\n" + section +
			"\n\n## Character Concept\n\nx\n\n## Tone and Voice\n\ny\n"
		if _, faults := Parse("dragon.md", []byte(text)); (len(faults) == 0) != ok {
			t.Errorf("%q: %v", section, faults)
		}
	}
}

// TestRenamedToANumber: what a person types is a name, whatever it looks like.
func TestRenamedToANumber(t *testing.T) {
	text := "---\narchetype: cat\nskin-name: Rogue\ntheme: T\n---\n\n## Character Concept\n\nx\n\n## Tone and Voice\n\ny\n"
	for _, name := range []string{"007", "Yes", "null", "1e3", "2026-01-01"} {
		p, faults := Parse("cat.md", []byte(text))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		data, err := p.Rename(name, "")
		if err != nil || !strings.Contains(string(data), "\nskin-name: \""+name+"\"\n") {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
		if q, faults := Parse("cat.md", data); len(faults) > 0 || q.SkinName != name {
			t.Errorf("%s is read as %q: %v", name, q.SkinName, faults)
		}
		a, _ := Lookup("cat")
		if q, faults := Parse("cat.md", Plain(a, name, "T", "")); len(faults) > 0 || q.SkinName != name {
			t.Errorf("a plain %s is read as %q: %v", name, q.SkinName, faults)
		}
	}
}

func TestVersions(t *testing.T) {
	body := "\n## Thematic Adaptation\n\nx\n\n## Voice and Manner\n\ny\n"
	cases := []struct {
		name, file, text string
		legacy           bool
		depth            Depth
		skin             string
	}{
		{"1.2", "cat.md", "---\narchetype: cat\nskin-name: Rogue\ntheme: T\nmore: kept\n---\n" + body, false, flavour, "Rogue"},
		{"1.2 with modifiers", "cat.md", "---\narchetype: cat\nskin-name: Rogue\ntheme: T\n---\n" + body + "\n## Behavioural Tweaks\n\n- z\n", false, Modifier, "Rogue"},
		{"1.0 animal", "cat.md", "---\nanimal: Cat\nprofile-name: Rogue\ndepth: modifier\n---\n" + body, true, flavour, "Rogue"},
		{"1.0 npc", "dragon.md", "---\nnpc: dragon\nprofile-name: Wyrm\n---\n" + body + "\n## Name\n\nWyrm\n", true, flavour, "Wyrm"},
		{"1.0 npc named in its section", "dragon.md", "---\nnpc: dragon\nprofile-name:\n---\n" + body + "\n## Name\n\nWyrm\n", true, flavour, "Wyrm"},
		{"simon", ".campaign/profiles/simon.md", "---\narchetype: simon\nskin-name: The Don\ntheme: T\n---\n" + body, false, flavour, "The Don"},
		{"CRLF and BOM", "cat.md", "\ufeff" + strings.ReplaceAll("---\narchetype: cat\nskin-name: Rogue\ntheme: T\n---\n"+body, "\n", "\r\n"), false, flavour, "Rogue"},
	}
	for _, c := range cases {
		p, faults := Parse(c.file, []byte(c.text))
		if len(faults) > 0 {
			t.Errorf("%s: %v", c.name, faults)
			continue
		}
		if p.legacy != c.legacy || p.Depth != c.depth || p.SkinName != c.skin || p.Concept != "x" || p.Voice != "y" || string(p.Bytes()) != c.text {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	if _, faults := Parse("dragon.md", []byte("---\nanimal: dragon\nprofile-name: Wyrm\n---\n"+body)); len(faults) != 1 || faults[0].Rule != "archetype-kind" {
		t.Errorf("an animal that is none: %v", faults)
	}
}

// TestCompatibility holds both edges of the rule: what negates a core, and what
// only sounds like it.
func TestCompatibility(t *testing.T) {
	negate := map[string][]string{
		"bear":     {"Has no vision at all.", "He ignores the bigger picture.", "She doesn't care about direction."},
		"cat":      {"Ignore risk.", "Brushes off dangers with a laugh.", "Does not assess risk.", "She never mentions risks.", "He **ignores** the\n  obvious risks.", "Won't ever check the scope."},
		"owl":      {"Disregards deadlines.", "Does not track progress.", "Cares nothing for the calendar."},
		"puppy":    {"Crushes morale wherever she goes.", "Never looks for opportunities."},
		"rabbit":   {"Ignores stakeholders.", "He does not count the costs."},
		"wolf":     {"Plays favourites.", "Breaks the cohesion of the team.", "Does not care about balance."},
		"gandalf":  {"Solves it for the party.", "He fixes everything for them.", "Rescues the user at the last moment.", "Takes over the quest."},
		"guardian": {"Never blocks.", "Always approves.", "Waves everything through.", "Just says no.", "Does not check quality.", "Approves whatever comes."},
		"dragon":   {"Moves the goalposts.", "Invents new criteria.", "Always prevails.", "Goes easy on friends.", "Ignores the agreed criteria."},
		"simon":    {"Ignores the council.", "Decides for the user."},
	}
	keep := map[string][]string{
		"bear":     {"Never loses sight of the vision.", "He never ignores the bigger picture."},
		"cat":      {"She never ignores risk.", "He does not ignore a danger for all the gold in the world.", "Does not merely assess risk, but prices it.", "Never assesses risk without naming the price.", "A cat that ignored nothing."},
		"owl":      {"Cannot disregard a deadline.", "Never fails to track progress."},
		"puppy":    {"Would not dampen spirits."},
		"rabbit":   {"Without ever overlooking a stakeholder.", "She never forgets to count the costs."},
		"wolf":     {"Never plays favourites."},
		"gandalf":  {"Never solves it for the party.", "He will not rescue them.", "Refuses to take over the quest.", "Asks rather than fixes everything for them."},
		"guardian": {"Never blocks without saying what is missing.", "Does not just block.", "He never just says no.", "By no means always approves.", "Never waves anything through."},
		"dragon":   {"Never moves the goalposts.", "It does not invent new criteria.", "Shows no mercy and no malice."},
		"simon":    {"Never decides for the user."},
	}
	check := func(id, text string) []Fault {
		_, faults := Parse(id+".md", []byte("---\narchetype: "+id+"\nskin-name: X\ntheme: T\n---\n\n## Character Concept\n\n"+text+"\n\n## Tone and Voice\n\ny\n"))
		return faults
	}
	for _, a := range Cast() {
		if len(negate[a.ID]) == 0 || len(keep[a.ID]) == 0 {
			t.Errorf("no cases for the %s", a.ID)
		}
		for _, text := range negate[a.ID] {
			if faults := check(a.ID, text); len(faults) != 1 || faults[0].Rule != "core-negated" {
				t.Errorf("%s: %q was accepted: %v", a.ID, text, faults)
			}
		}
		for _, text := range keep[a.ID] {
			if faults := check(a.ID, text); len(faults) > 0 {
				t.Errorf("%s: %q was refused: %v", a.ID, text, faults)
			}
		}
	}
}

func TestRename(t *testing.T) {
	text := "---\narchetype: dragon\nskin-name: \"Wyrm\" # old\ntheme: T\nodd: [1]\n---\n\n## Name\n\nWyrm\n\n## Character Concept\n\nx\n\n## Tone and Voice\n\ny"
	p, _ := Parse("dragon.md", []byte(text))
	got, err := p.Rename("The Auditor", "🦈")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"Wyrm"`, `"The Auditor"`, "\n\nWyrm\n", "\n\nThe Auditor\n", "odd: [1]\n", "odd: [1]\nemoji: \"🦈\"\n").Replace(text)
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if string(p.Bytes()) != text {
		t.Error("Rename changed the profile itself")
	}
	for _, bad := range [][2]string{{"a/b", ""}, {"", "xx"}} {
		if _, err := p.Rename(bad[0], bad[1]); err == nil {
			t.Errorf("Rename(%q) was accepted", bad)
		}
	}
}

type judge struct{ err error }

func (j judge) Judge(_ context.Context, p *Pack, list []Question) (map[string]Opinion, error) {
	if j.err != nil {
		return nil, j.err
	}
	opinions := map[string]Opinion{}
	for i, q := range list[1:] {
		opinions[q.ID] = Opinion{Holds: i > 0, Why: p.Name + ",\n  as " + q.ID + " goes"}
	}
	return opinions, nil
}

func TestReview(t *testing.T) {
	pack := &Pack{Name: "deep-sea"}
	for _, item := range Review(t.Context(), pack, nil) {
		if item.Judged || item.Answer != "not judged" {
			t.Errorf("without a judge: %+v", item)
		}
	}
	items := Review(t.Context(), pack, judge{})
	var got []string
	for _, item := range items {
		got = append(got, fmt.Sprintf("%s %v %v %s", item.ID, item.Judged, item.Holds, item.Answer))
	}
	if want := []string{"vocabulary false false not judged",
		"tone true false judged by the mentor: no: deep-sea, as tone goes",
		"personality true true judged by the mentor: yes: deep-sea, as personality goes",
		"distinctiveness true true judged by the mentor: yes: deep-sea, as distinctiveness goes",
		"npc-roles true true judged by the mentor: yes: deep-sea, as npc-roles goes",
		"compatibility true true judged by the mentor: yes: deep-sea, as compatibility goes"}; !slices.Equal(got, want) {
		t.Errorf("with a judge: %q, want %q", got, want)
	}
	if items := Review(t.Context(), pack, judge{errors.New("asleep")}); items[0].Judged || items[0].Answer != "not judged: asleep" {
		t.Errorf("with a judge who fails: %+v", items[0])
	}
}

func TestAnnotation(t *testing.T) {
	f := Fault{"a,b:c.md", 3, "rule", "50% of it\nis wrong", "mend it"}
	if got, want := f.Annotation(), "::error file=a%2Cb%3Ac.md,line=3,title=rule::50%25 of it%0Ais wrong; mend it"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTemplatesLeadTheAuthor(t *testing.T) {
	for _, a := range Cast() {
		_, faults := Parse(a.ID+".md", template(a, "Deep Sea"))
		var rules []string
		for _, f := range faults {
			rules = append(rules, f.Rule)
		}
		if got := strings.Join(rules, " "); got != "skin-name-missing concept-empty voice-empty" {
			t.Errorf("%s: an unfilled template has the faults %s", a.ID, got)
		}
		if _, faults := Parse(a.ID+".md", Plain(a, `The "X"`, "Custom", "")); len(faults) != 1 {
			t.Errorf("%s: %v", a.ID, faults)
		}
		if p, faults := Parse(a.ID+".md", Plain(a, "The Squid", "Custom", "🦑")); len(faults) != 0 || p.Depth != flavour {
			t.Errorf("%s: %v", a.ID, faults)
		}
	}
}
