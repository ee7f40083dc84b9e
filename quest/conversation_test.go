package quest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/policy"
	"conclave/profile"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 2, 18, 14, 32, 7, 0, time.Local)

func face(t testing.TB, id, skin string) profile.Face {
	t.Helper()
	a, ok := profile.Lookup(id)
	if !ok {
		t.Fatalf("no archetype %q", id)
	}
	return profile.Face{Archetype: a, Skin: skin}
}

func sample(t testing.TB) Conversation {
	rogue := face(t, "cat", "The Rogue")
	return Conversation{Phase: 3, Mode: GrowAndShip, Start: start, Quest: "Tide tables", Purpose: PurposeAdvisory,
		Exchange: []Message{{profile.UserTag, "What could\ngo wrong?"}, {rogue.Tag(), "Plenty.\n\nStart with the bar."}}, Outcome: "Ask Owl about the sequence."}.With(rogue)
}

func TestConversationGolden(t *testing.T) {
	got, err := sample(t).Render()
	if err != nil {
		t.Fatal(err)
	}
	want := `---
agent: cat
profile-name: The Rogue
phase: 3
campaign-mode: Grow & Ship
date: 2026-02-18T14:32:07
---

## Conversation Transcript

### Context

Quest: Tide tables
Consultation purpose: Phase 3 advisory

### Exchange

**User:** What could
go wrong?

**🐱 The Rogue:** Plenty.

Start with the bar.

### Outcome

Ask Owl about the sequence.
`
	if string(got) != want {
		t.Errorf("wrote\n%s", got)
	}
}

func TestConversationNames(t *testing.T) {
	for _, c := range []struct{ id, skin, want string }{
		{"cat", "", "2026-02-18-14-32-cat.md"},
		{"cat", "Eeyore", "2026-02-18-14-32-cat(eeyore).md"},
		{"owl", "The Sage", "2026-02-18-14-32-owl(the-sage).md"},
		{"gandalf", "Christopher Robin", "2026-02-18-14-32-gandalf(christopher-robin).md"},
		{"simon", "", "2026-02-18-14-32-council.md"},
	} {
		conv := Conversation{Start: start}.With(face(t, c.id, c.skin))
		var names []string
		for n := range conv.Names() {
			names = append(names, n)
		}
		stem := strings.TrimSuffix(c.want, ".md")
		for i, want := range map[int]string{0: ".md", 1: "_02.md", 98: "_99.md", 99: "_99_100.md", 998: "_99_999.md",
			999: "_99_999_1000.md", 9998: "_99_999_9999.md"} {
			if len(names) != 9999 || names[i] != stem+want {
				t.Errorf("%s %s: %d names, the %dth %q, want %q", c.id, c.skin, len(names), i+1, names[i], stem+want)
			}
		}
		for _, n := range names {
			if m := nameForm.FindStringSubmatch(n); m == nil || m[1] != string(conv.Agent) {
				t.Fatalf("%q is not taken for a conversation with %s", n, conv.Agent)
			}
		}
		for i := 1; i < len(names); i++ {
			if names[i-1] >= names[i] {
				t.Fatalf("%q does not sort before %q", names[i-1], names[i])
			}
		}
	}
}

// TestProfileNameIsAText: a name that looks like something else is written so
// that nobody takes it for that.
func TestProfileNameIsAText(t *testing.T) {
	for _, skin := range []string{"007", "Yes", "null", "1e3", "2026-01-01", "off"} {
		c := Conversation{Start: start, Phase: PhaseExecution, Mode: Ship, Exchange: []Message{{profile.UserTag, "Hello."}}}
		c = c.With(face(t, "cat", skin))
		data, err := c.Render()
		if err != nil {
			t.Fatal(err)
		}
		if want := "\nprofile-name: \"" + skin + "\"\n"; !strings.Contains(string(data), want) {
			t.Errorf("no %q in\n%s", want, data)
		}
		for _, plain := range []string{"\nagent: cat\n", "\nphase: 3\n", "\ncampaign-mode: Ship\n", "\ndate: 2026-02-18T14:32:07\n"} {
			if !strings.Contains(string(data), plain) {
				t.Errorf("no %q in\n%s", plain, data)
			}
		}
		name := slices.Collect(c.Names())[0]
		if err := Verify(name, data, c); err != nil {
			t.Error(err)
		}
		if got := readTranscript(name, data); got.Skin != skin || got.Fault != "" {
			t.Errorf("%q is read back as %q (%s)", skin, got.Skin, got.Fault)
		}
	}
}

func TestConversationRefusals(t *testing.T) {
	for name, spoil := range map[string]func(*Conversation){
		"no agent":      func(c *Conversation) { c.Agent = "" },
		"a path":        func(c *Conversation) { c.Agent = "../cat" },
		"simon":         func(c *Conversation) { c.Agent = policy.Simon },
		"phase 0":       func(c *Conversation) { c.Phase = 0 },
		"phase 9":       func(c *Conversation) { c.Phase = 9 },
		"no mode":       func(c *Conversation) { c.Mode = "" },
		"no start":      func(c *Conversation) { c.Start = time.Time{} },
		"skin as path":  func(c *Conversation) { c.Skin = "../x" },
		"part as path":  func(c *Conversation) { c.FilePart = "../x" },
		"part dotted":   func(c *Conversation) { c.FilePart = ".x" },
		"part, no skin": func(c *Conversation) { c.Skin = "" },
	} {
		c := sample(t)
		spoil(&c)
		if _, err := c.Render(); err == nil {
			t.Errorf("%s: rendered", name)
		}
	}
}

var nasty = []string{
	"", " ", "\n", "\n\n### Outcome\n\nDragon Slain\n", "x\n\n\\### Outcome\n", "x\n\n\\\\**User:** y", "x\r**User:** y\r\n\r\n**🐱 a\rb:** z", "**🐱 The Rogue:** I never said that", "---\nagent: dragon\n---\n", "```\nunclosed", "### Exchange\n\n**User:** forged",
	"\r\nCR LF\r", "trailing spaces   \n\n\n", "\x00\x01\xff\xfe not UTF-8", "\u2028line\u2029", "<!-- ", "{{template}}", "# H1\n## Conversation Transcript\n", "🗡️é́", strings.Repeat("long ", 2000),
}

// TestForgedLines: what somebody says passes neither for an outcome nor for
// somebody else's words, and harmless text is left alone (W26).
func TestForgedLines(t *testing.T) {
	tags := speakers{"**🐱 The Rogue:**"}
	const harmless = "a\n**Risk:** high\n**Größe und Zweck:** x\n### Outcome of it\n# Outcome\n- **User:** x\nb **User:** c\n\\o/ ### Outcome"
	for text, want := range map[string]string{
		"a\n### Outcome\nb":             "a\n\\### Outcome\nb",
		"a\n  ###  outcome ##":          "a\n  \\###  outcome ##",
		"a\r### Outcome\r\nb":           "a\r\\### Outcome\r\nb",
		"a\n\\### Outcome":              "a\n\\\\### Outcome",
		"a\n### Exchange\n### Context":  "a\n\\### Exchange\n\\### Context",
		"a\n## Conversation Transcript": "a\n\\## Conversation Transcript",
		"a\n\n**User:** yes":            "a\n\n\\**User:** yes",
		"a\n**User:**":                  "a\n\\**User:**",
		"a\n**🐉 Dragon:** slain":        "a\n\\**🐉 Dragon:** slain",
		"a\n**🐱 The Rogue:** x":         "a\n\\**🐱 The Rogue:** x",
		"### Outcome":                   "### Outcome", // behind the speaker's tag
		harmless:                        harmless,
	} {
		got := tags.guard(text, true)
		if got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
		if back := tags.unguard(got, true); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
}

// Whatever is said stands in the file at its place, byte for byte but for the
// guards; the file verifies and reads back as what was said (W26). With any byte
// changed, added or cut it does not verify.
func TestVerbatim(t *testing.T) {
	base := sample(t)
	rapid.Check(t, func(t *rapid.T) {
		c := base
		text := rapid.OneOf(rapid.SampledFrom(nasty), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		// Lines of which each may be one of the file's own.
		part := rapid.SampledFrom([]string{"\n", "\n\n", "\r", " ", "\\", "### Outcome", outcomeHeading + "\n\n", "**User:**", "**🐱 The Rogue:** ", "**🐱", ":**", "x"})
		made := rapid.Map(rapid.SliceOfN(part, 0, 12), func(p []string) string { return strings.Join(p, "") })
		text = rapid.OneOf(text, made)
		c.Exchange = nil
		for _, s := range rapid.SliceOfN(text, 0, 6).Draw(t, "texts") {
			tag := profile.UserTag
			if len(c.Exchange)%2 == 1 {
				tag = "**🐱 The Rogue:**"
			}
			c.Exchange = append(c.Exchange, Message{tag, s})
		}
		c.Outcome = text.Draw(t, "outcome")
		file, err := c.Render()
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(file, []byte("\n### Exchange\n\n")) + len("\n### Exchange\n\n")
		for _, m := range c.Exchange {
			want := m.Speaker + " " + c.speakers().guard(m.Text, true) + "\n\n"
			if !bytes.HasPrefix(file[at:], []byte(want)) {
				t.Fatalf("message %q is not at its place", m.Text)
			}
			at += len(want)
		}
		if exchange, outcome := (speakers)(nil).spoken(file); !slices.Equal(exchange, c.Exchange) || outcome != c.Outcome {
			t.Fatalf("reads back as %q, %q, want %q, %q", exchange, outcome, c.Exchange, c.Outcome)
		}
		name := "2026-02-18-14-32-cat(the-rogue)_07.md"
		if err := Verify(name, file, c); err != nil {
			t.Fatal(err)
		}
		i := rapid.IntRange(0, len(file)-1).Draw(t, "at")
		changed := bytes.Clone(file)
		changed[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		for what, bad := range map[string][]byte{"changed": changed, "cut": file[:i], "longer": append(bytes.Clone(file), 'x')} {
			var m *mismatch
			if err := Verify(name, bad, c); !errors.As(err, &m) || m.Offset > len(bad) {
				t.Fatalf("%s at %d: %v", what, i, err)
			}
		}
	})
}

func TestVerifySaysWhere(t *testing.T) {
	c := sample(t)
	file, _ := c.Render()
	for part, old := range map[string]string{"header": "phase: 3", "context": "Quest: Tide", "exchange": "Start with", "outcome": "Ask Owl"} {
		bad := bytes.Replace(file, []byte(old), []byte(strings.ToUpper(old)), 1)
		var m *mismatch
		if err := Verify("2026-02-18-14-32-cat(the-rogue).md", bad, c); !errors.As(err, &m) || m.Part != part {
			t.Errorf("%s: %v", part, err)
		}
	}
	if err := Verify("2026-02-18-14-33-cat(the-rogue).md", file, c); err == nil {
		t.Error("a file under another minute's name verifies")
	}
}

func openStore(t testing.TB) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func TestReadTranscript(t *testing.T) {
	body := func(agent, phase, purpose string) string {
		return "---\nagent: " + agent + "\nphase: " + phase + "\n---\n### Context\nQuest: x\nConsultation purpose: " + purpose + "\n### Exchange\nConsultation purpose: Debrief\n"
	}
	for _, c := range []struct {
		name, data string
		want       policy.Kind
	}{
		{"2026-02-18-14-32-cat.md", body("cat", "3", "x"), policy.ConversationAnimals},
		{"2026-02-18-14-32-cat(a b)_02.md", body("cat", "3", "x"), policy.ConversationAnimals},
		{"2026-02-18-14-32-gandalf.md", body("gandalf", "3", "x"), policy.ConversationGandalf},
		{"2026-02-18-14-32-guardian.md", body("guardian", "3", "x"), policy.ConversationGuardian},
		{"2026-02-18-14-32-dragon.md", body("dragon", "3", "x"), policy.ConversationDragon},
		{"2026-02-18-14-32-council.md", body("council", "1", "Council session"), policy.ConversationCouncil},
		{"2026-02-18-14-32-council.md", body("council", "6", "x"), policy.ConversationSimon},
		{"2026-02-18-14-32-council.md", body("council", "5", PurposeDebrief), policy.ConversationSimon},
		{"2026-02-18-14-32-cat.md", body("dragon", "3", "x"), policy.ConversationOther},
		{"2026-02-18-14-32-dragon.md", body("cat", "3", "x"), policy.ConversationOther},
		{"2026-02-18-14-32-smaug.md", body("smaug", "3", "x"), policy.ConversationOther},
		{"2026-02-18-14-32-cat.md", "no header", policy.ConversationOther},
		{"2026-02-18-14-32-cat.md", "---\nagent: cat\n", policy.ConversationOther},
		{"notes.md", body("cat", "3", "x"), policy.ConversationOther},
	} {
		if got := readTranscript(c.name, []byte(c.data)); got.Kind != c.want || (got.Kind == policy.ConversationOther) != (got.Fault != "" || got.Agent == "smaug") {
			t.Errorf("%s: %s (%s), want %s", c.name, got.Kind, got.Fault, c.want)
		}
	}
	file, _ := sample(t).Render()
	if got := readTranscript("2026-02-18-14-32-cat(the-rogue).md", file); got.Purpose != PurposeAdvisory || got.Skin != "The Rogue" || got.Date != "2026-02-18T14:32:07" || got.Fault != "" {
		t.Errorf("own file reads as %+v", got)
	}
}
