package table

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"conclave/internal/markdown"
	"conclave/internal/sample"
)

// openers are what people write when they mean to open a tag (W6).
var openers = []string{
	"<!-- gm -->", "<!--GM-->", "<!-- secret:lamp -->", "<!-- secret:the_lamp -->", "<!-- secret: The Lamp -->", "<!-- secret -->",
	"<!-- secrets -->", "<!-- SECRET:lamp -->", "<!-- secret lamp -->", "<!-- secret:lämp -->", "<!-- gm: note -->", "<!-- GM only -->",
	"<!-- gm-only -->", "<!--\ngm\n-->", "<!--\tsecret:lamp-->", "<!--\u00a0gm\u00a0-->", "<! -- secret:lamp -->", "<!- gm -->", "<!— gm —>",
	"<!-- gm", "<!-- gm\n", "<!-- secret:lamp ->", "<!-- gm >", "<!---gm--->", "< !-- gm -->", "<-- gm -->", "<gm>", "<secret:lamp>", "< GM >",
	"<!-- g\u200bm -->", "<!-- s\u00adecret:lamp -->", "<!--\ufeffgm -->", "＜!-- gm --＞", "<!-- ｇｍ -->", "<!-- ѕесret:lamp -->", "<!-- 𝐠𝐦 -->",
	"&lt;!-- gm --&gt;", "<!-- **gm** -->", "<!-- (gm) -->", "<!-- [secret:lamp] -->", "<!-- gm /-->", "<!gm>", "[GM]", "[ gm ]", "[GM: note]",
	"[//]: # (gm)", "%% gm %%", "```\n<!-- gm -->", "`<!-- gm -->`", "<!-- foo <!-- gm -->", "<!-- a\n<!-- b -->", "<!--", "<!-- todo\n", "<!-- secretly -->",
}

// closers close nothing, or not what is open.
var closers = []string{"<!-- /gm -->", "<!-- /secret -->", "<!-- / gm -->", "<!-- /secret:lamp -->", "<!-- end gm -->", "</gm>", "[/GM]", "<!-- /private -->"}

// readable is what a player gets of a file that says this.
func readableBy(t testing.TB, text string) (own, all string) {
	t.Helper()
	return RemoveGM(text), ForEveryone(text)
}

// What begins like a tag is one, and what follows it is the GM's (W6).
func TestTagsFailClosed(t *testing.T) {
	for _, o := range openers {
		text := "# Sheet\n\nseen\n\n" + o + "\nCANARY"
		own, all := readableBy(t, text)
		if strings.Contains(all, "CANARY") || !strings.Contains(all, "seen") {
			t.Errorf("%q: everybody reads %q", o, all)
		}
		if strings.Contains(own, "CANARY") || !strings.Contains(own, "seen") {
			t.Errorf("%q: its owner reads %q", o, own)
		}
		if d := readMarkup(text).doubts; len(d) == 0 || d[0].Line < 5 {
			t.Errorf("%q: doubts %v", o, d)
		}
	}
	for _, c := range closers {
		text := "# Sheet\n\nseen\n\n## Part\n\nCANARY " + c + " CANARY"
		if _, all := readableBy(t, text); strings.Contains(all, "CANARY") || !strings.Contains(all, "seen") {
			t.Errorf("%q: everybody reads %q", c, all)
		}
		if d := readMarkup(text).doubts; len(d) == 0 || d[0].Line != 7 {
			t.Errorf("%q: doubts %v", c, d)
		}
	}
}

// Pairs that do not fit hide from the first of them on; those that do hide what
// is between them and nothing else.
func TestTagsInPairs(t *testing.T) {
	for in, want := range map[string]string{
		"a<!-- gm -->X<!-- secret:s -->X<!-- /gm -->X<!-- /secret -->X": "a",
		"a<!-- secret:s -->X<!-- /gm -->X":                              "a",
		"a<!-- gm -->X<!-- /gm? -->X<!-- /gm -->b":                      "ab",
		"a<!-- secret: The Lamp -->X<!-- /secret -->b":                  "ab",
		"a<!-- gm: note -->X<!-- /gm -->b":                              "ab",
		"a<!-- secret:x -->X<!-- gm -->X<!-- /gm -->X<!-- /secret -->b": "ab",
		"a<!-- private -->X<!-- /private -->b":                          "ab",
		"a<!-- the miller X did it -->b":                                "ab",
		"a<!-- secretary -->X":                                          "a",
		"<b>bold</b> 1 < 2 [link](x) [to be] 100%% x":                   "<b>bold</b> 1 < 2 [link](x) [to be] 100%% x",
		"[GM guide](gm.md) & <gmail@example.org>":                       "[GM guide](gm.md) & <gmail@example.org>",
	} {
		if _, all := readableBy(t, in); all != want {
			t.Errorf("%q reads as %q, want %q", in, all, want)
		}
	}
	own, _ := readableBy(t, "a<!-- secret:x -->b<!-- /secret -->c")
	eq(t, "the owner's secret", own, "a<!-- secret:x -->b<!-- /secret -->c")
}

// liberal is what anybody would call the beginning of a tag.
var liberal = regexp.MustCompile(`(?i)<\s*!\s*-+\s*(?:gm|secret)|<(?:gm|secret)\b|\[\s*gm\s*\]`)

// TestLiberalTags: whatever stands around something that looks like an opening
// tag, no player reads what is behind it.
func TestLiberalTags(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 81))
	parts := append([]string{"\n\n", "# H\n", "word ", "`", "```\n", "<", "--", "-->", "<!", "*", "\u200b", "é"}, openers...)
	for range sample.Count(100, 500, 5000) {
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		b.WriteString(openers[r.IntN(len(openers))] + " ")
		for range r.IntN(3) {
			b.WriteString([]string{"\n\n", "# H\n", "word ", "`", "```\n", "*", "\u200b"}[r.IntN(7)])
		}
		tagCanary(t, b.String())
	}
}

func tagCanary(t testing.TB, before string) {
	t.Helper()
	own, all := readableBy(t, before+"CANARY and more")
	if strings.Contains(own, "CANARY") || strings.Contains(all, "CANARY") {
		t.Errorf("after %q the canary is read: %q", before, all)
	}
	b, _ := ParseNarrative(before+"CANARY and more", duo())
	if s := TextFor(b, "tilda-brannock"); strings.Contains(s, "CANARY") {
		t.Errorf("narrated after %q the canary is read: %q", before, s)
	}
}

// A text made to cost time costs none.
func TestTagsOfAHostileText(t *testing.T) {
	parts := []string{"<gm>", "<!-- gm -->", "<!-- /gm -->", "<!-", "<!-- secret:x -->", "<!-- a -->", "<", "[", "<!-- /a -->", "<!-- secret:x -->a<!-- /secret -->"}
	for _, i := range sample.Pick(t, len(parts), 2, len(parts)) {
		part := parts[i]
		text := strings.Repeat(part, 16<<10/len(part))
		begun := time.Now()
		readableBy(t, text)
		guardSecrets(text)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%q again and again took %s", part, took)
		}
	}
}

func FuzzTags(f *testing.F) {
	for _, o := range openers {
		f.Add("x", o, "\n")
	}
	f.Fuzz(func(t *testing.T, before, tag, between string) {
		text := markdown.Clean(before + tag + between)
		m := liberal.FindAllStringIndex(text, -1)
		if strings.Contains(text, "CANARY") || m == nil || strings.ContainsAny(text[m[len(m)-1][0]+1:], "/\\<[({") || strings.Contains(strings.ToLower(text), "end") {
			return // closed again, perhaps
		}
		tagCanary(t, text+" ")
	})
}

// Near misses of the markers of a narrative are markers.
func TestMarkersFailClosed(t *testing.T) {
	for _, o := range []string{"[GM]", "[ GM ]", "[GM:]", "[GM only]", "［GM］", "[G\u200bM]", "[GM", "(GM)", "{gm}", "<!-- gm -->", "<gm>", "[TO gideon-harrowmoor]",
		"[TO Gideon]", "[TO: gideon-harrowmoor", "[ to : gideon-harrowmoor ]", "<!-- secret:x -->"} {
		b, _ := ParseNarrative("seen\n"+o+"\nCANARY\n", duo())
		if s := TextFor(b, "tilda-brannock"); strings.Contains(s, "CANARY") || !strings.Contains(s, "seen") {
			t.Errorf("%q: tilda reads %q", o, s)
		}
	}
	b, faults := ParseNarrative("CANARY\n[/GM]\nseen", duo())
	if s := PartyText(b); s != "seen" || len(faults) != 1 {
		t.Errorf("%q, %v", s, faults)
	}
	for _, in := range []string{"[to be continued]", "[togas]", "[gmail]", "a (to tilda) b"} {
		if b, faults := ParseNarrative(in, duo()); PartyText(b) != in || len(faults) > 0 {
			t.Errorf("%q: %v, %v", in, b, faults)
		}
	}
}

// A tagged secret that stands where others read it is found, with its line (W8).
func TestExposedSecrets(t *testing.T) {
	secret := "Hanna put out the lamp herself to save the boats tonight"
	c := newCampaign(t, map[string]string{
		"story-state.md":             "x\n<!-- secret:lamp -->" + secret + "<!-- /secret -->\n",
		"party-knowledge.md":         "# Known\n\nIt rains.\nThey say Hanna put out\nthe lamp HERSELF to save – the boats, tonight.\n",
		"world-primer.md":            "<!-- secret:lamp -->" + secret + "<!-- /secret -->\n<!-- gm -->" + secret + "<!-- /gm -->\n",
		"party/tilda-brannock.md":    "# Tilda\n\n<!-- secret:debt -->I owe the guild nine hundred crowns since the fire<!-- /secret -->\n",
		"party/gideon-harrowmoor.md": "# Gideon\n\n\nShe: I owe the guild nine hundred crowns since the fire.\n",
		"npcs/reeve.md":              secret + "\n<!-- secret -->\n",
	})
	got, err := c.Findings(Caps{})
	ok(t, err)
	var lines []string
	for _, f := range got {
		lines = append(lines, fmt.Sprintf("%s:%d", f.Path, f.Line))
	}
	eqs(t, "findings", lines, "npcs/reeve.md:2", "npcs/reeve.md:2", "party/gideon-harrowmoor.md:4", "party-knowledge.md:4")
	has(t, got[3].String(), "secret lamp of story-state.md stands here, where everybody reads it")
	has(t, got[2].String(), "where gideon-harrowmoor reads it")
}
