package table

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"conclave/internal/markdown"
	"conclave/policy"
)

var rulingsG = map[string]func(*testing.T){
	"G1": func(t *testing.T) {
		b, faults := ParseNarrative("It rains.\n\n[TO: tilda-brannock]\nA coin is false.\n[/TO]\n\nA bell.\n[GM]\nHe knows.\n[/GM]\n", duo())
		eq(t, "faults", len(faults), 0)
		eq(t, "blocks", len(b), 4)
		eq(t, "party", PartyText(b), "It rains.\n\nA bell.")
		eq(t, "tilda", TextFor(b, "tilda-brannock"), "It rains.\n\nA coin is false.\n\nA bell.")
		eq(t, "tilda's own", PrivateText(b, "tilda-brannock"), "A coin is false.")
		eq(t, "gideon", TextFor(b, "gideon-harrowmoor"), "It rains.\n\nA bell.")
		eq(t, "gm", b[3].Audience.String(), "gm")
		eq(t, "zero audience", Audience{}.May("tilda-brannock"), false)
	},
	"G5": func(t *testing.T) {
		player := Reader{Role: policy.Player, Character: "tilda-brannock"}
		for path, may := range map[string]bool{
			"party/tilda-brannock.md": true, "party/tilda-brannock-journal.md": true, "tmp/tilda-brannock-prompt.md": true,
			"party-knowledge.md": true, "world-primer.md": true,
			"story-state.md": false, "beats/1.md": false, "npcs/a.md": false, "factions/x": false, "locations/y": false, "items/z": false,
			"decision-log.md": false, "overview.md": false, "tmp/gm-context.md": false, "tmp/x-delta.md": false, ".conclave/x": false,
			"party/gideon-harrowmoor.md": false, "party/gideon-harrowmoor-journal.md": false, "tmp/gideon-harrowmoor-prompt.md": false,
			"tmp/tilda-brannock-response.md": false, "tmp/tilda-brannock-notes-for-journal.md": false, "tmp/narrative-for-journal.md": false,
			"party/tilda-brannock-brief.md": false, "dice-log.jsonl": false, "scenes/001-x.md": false, "new-file.md": false,
			"party/tilda-brannock.md.bak": false, "party/tilda-brannock.md/x": false, "party/x/tilda-brannock.md": false,
			"party-knowledge.md/x": false, "Party-Knowledge.md": false, "PARTY/tilda-brannock.md": false, "x/party-knowledge.md": false,
			"party/../story-state.md": false, "./party-knowledge.md": false, "/party-knowledge.md": false, "": false,
			"party/Tilda-Brannock.md": false, `party\tilda-brannock.md`: false, "party-knowledge.md\x00": false, "party/.tilda-brannock.md.0123456789abcdef.new": false,
		} {
			eq(t, path, player.May(path), may)
			eq(t, "nobody: "+path, Reader{}.May(path), false)
		}
		gm := Reader{Role: policy.GM}
		for path, may := range map[string]bool{"story-state.md": true, "new-file.md": true, "scenes/1.md": true, ".conclave/seed": false, "../x": false, "tmp/tilda-brannock-notes-for-journal.md": false} {
			eq(t, "gm "+path, gm.May(path), may)
		}
		keeper := Reader{Role: policy.JournalKeeper, Character: "tilda-brannock"}
		for path, may := range map[string]bool{
			"tmp/narrative-for-journal.md": true, "tmp/tilda-brannock-notes-for-journal.md": true, "party/tilda-brannock-journal.md": true,
			"tmp/gideon-harrowmoor-notes-for-journal.md": false, "story-state.md": false, "tmp/tilda-brannock-prompt.md": false,
		} {
			eq(t, "keeper "+path, keeper.May(path), may)
		}
		eq(t, "spectator", Reader{Role: policy.Spectator}.May("story-state.md"), false)
	},
	"G6": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"story-state.md": "CANARY"})
		sheet := c.host("party/tilda-brannock.md")
		for name, make := range map[string]func() error{
			"symlink":   func() error { return os.Symlink("../story-state.md", sheet) },
			"sibling":   func() error { return os.Symlink("gideon-harrowmoor.md", sheet) },
			"hard link": func() error { return os.Link(c.host("story-state.md"), sheet) },
			"directory": func() error { return os.Mkdir(sheet, 0o755) },
		} {
			ok(t, os.Remove(sheet))
			if err := make(); err != nil {
				t.Fatal(name, err)
			}
			if s, err := c.PlayerContext("tilda-brannock", []byte(goodPrompt), ContextOptions{}); err == nil {
				t.Errorf("%s: %s", name, s.Text())
			}
			r := load(t, c)
			if _, seated := r.Get("tilda-brannock"); seated || len(r.Problems) != 1 {
				t.Errorf("%s: seated %v, problems %v", name, seated, r.Problems)
			}
		}
	},
	"G7": func(t *testing.T) {
		g := Guard{keepText("story-state.md", "<!-- secret:heir -->Mira is the lost heir of Ashford<!-- /secret -->")}
		before := "The inn burned."
		block, _ := GuardSettings{}.Sort(g.Check(before+" Mira is the lost heir of Ashford.", before))
		eq(t, "blocked", len(block), 1)
		c := newCampaign(t, map[string]string{"party-knowledge.md": "Inn burned. <!-- secret:heir -->CANARY<!-- /secret --> End. <!-- gm -->CANARY"})
		s, err := c.PlayerContext("tilda-brannock", []byte(goodPrompt), ContextOptions{})
		ok(t, err)
		has(t, s.Text(), "Inn burned.  End. ")
		if strings.Contains(s.Text(), "CANARY") {
			t.Error(s.Text())
		}
	},
	"G8": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"party-knowledge.md": "k", "world-primer.md": "w", "party/tilda-brannock-journal.md": "# T\n", "story-state.md": "CANARY", "party/gideon-harrowmoor-journal.md": "CANARY", "beats/1.md": "CANARY"})
		s, err := c.PlayerContext("tilda-brannock", []byte(goodPrompt), ContextOptions{Pending: "It rained.", Recent: "You slept."})
		ok(t, err)
		var paths []string
		for _, src := range s.Sources {
			paths = append(paths, src.Path)
			if len(src.SHA256) != 64 {
				t.Errorf("%+v", src)
			}
		}
		eqs(t, "sources", paths, "party/tilda-brannock.md", "party/tilda-brannock-journal.md", "party-knowledge.md", "world-primer.md", "engine:pending", "engine:recent", "tmp/tilda-brannock-prompt.md")
		eq(t, "prompt hash", s.Sources[6].SHA256, Hash([]byte(goodPrompt)))
		if strings.Contains(s.Text(), "CANARY") {
			t.Error(s.Text())
		}
		s.Sources = append(s.Sources, Source{Path: "story-state.md"})
		has(t, s.check(), "tilda-brannock may not read story-state.md")
	},
	"G10": func(t *testing.T) {
		for in, want := range map[string]string{
			"a<!-- gm -->b<!-- /gm -->c": "ac", "a<!--GM-->b<!--/GM-->c": "ac", "a<!-- gm -->b": "a", "a<!-- /gm -->b": "", "# A\na<!-- /gm -->b": "# A\n",
			"a<!-- gm -->b<!-- gm -->c<!-- /gm -->d<!-- /gm -->e": "ae", "a\n<!--\n gm\n-->b<!-- /gm -->\n": "a\n\n",
		} {
			eq(t, in, RemoveGM(in), want)
		}
		c := newCampaign(t, map[string]string{"party/tilda-brannock.md": "# Tilda Brannock\n<!-- gm -->CANARY<!-- /gm -->\n<!-- secret:debt -->I owe the guild.<!-- /secret -->\n"})
		s, err := c.PlayerContext("tilda-brannock", []byte(goodPrompt), ContextOptions{})
		ok(t, err)
		has(t, s.Text(), "I owe the guild.")
		eq(t, "note", s.Sources[0].Note, "without the GM's regions")
		if strings.Contains(s.Text(), "CANARY") {
			t.Error(s.Text())
		}
	},
}

// TestAudienceFailsClosed: whatever a GM gets wrong, the secret stays with the GM.
func TestAudienceFailsClosed(t *testing.T) {
	for _, in := range []string{
		"x\n[TO: tilda]\nCANARY\n[/TO]\ny", "x\n[TO: tilda-brannock, bob]\nCANARY\n[/TO]\ny", "x\n[GM]\nCANARY", "x\n[GM]\nCANARY\n[/TO]\nCANARY",
		"x [GM] CANARY [/GM] y", "```\nx\n[GM]\nCANARY\n[/GM]\ny", "x\n[TO:]\nCANARY\n[/TO]\ny", "x\n[TO]\nCANARY\n[/TO]\ny",
		"x\n[GM]\na\n[GM]\nb\n[/GM]\nCANARY\n[/GM]\ny", "x\n[TO: tilda-brannock]\n[GM]\nCANARY\n[/GM]\nCANARY\n[/TO]\ny", "x\r\n**[gm]**\r\nCANARY\r\n**[/gm]**\r\n",
	} {
		b, _ := ParseNarrative(in, duo())
		for _, who := range []string{"tilda-brannock", "gideon-harrowmoor"} {
			if s := TextFor(b, who); strings.Contains(s, "CANARY") || !strings.Contains(s, "x") {
				t.Errorf("%q: %s reads %q", in, who, s)
			}
		}
	}
	_, faults := ParseNarrative("[TO: tilda]x[/TO] [/GM] [GM]", duo())
	eqs(t, "faults", faults, `"tilda": no such character`, "[/GM] closes nothing", "block [GM] is not closed")
}

func FuzzParseNarrative(f *testing.F) {
	for _, s := range []string{"a[GM]S[/GM]b", "[TO: tilda-brannock]S[/TO]", "[GM][TO: x]S[/GM]S[/TO]", "```[GM]S"} {
		f.Add(s, "S")
	}
	f.Fuzz(func(t *testing.T, text, secret string) {
		if strings.ContainsAny(secret, "[]") || strings.TrimSpace(secret) == "" || strings.Contains(text, secret) {
			return
		}
		b, _ := ParseNarrative(text+"\n[GM]\n"+secret+"\n[/GM]\n", duo())
		if strings.Contains(PartyText(b), markdown.Clean(secret)) && !strings.Contains(markdown.Clean(text), markdown.Clean(secret)) {
			t.Errorf("%q after %q is public: %v", secret, text, fmt.Sprint(b))
		}
	})
}
