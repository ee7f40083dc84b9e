package table

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rulingsH = map[string]func(*testing.T){
	"H1": func(t *testing.T) {
		c := newCampaign(t, map[string]string{
			"tmp/.x-prompt.md.0123456789abcdef.new": "half", "party/.y.md.0123456789abcdef.new": "half", "tmp/.keep": "", "tmp/a.new": "",
		})
		swept, err := c.Sweep()
		ok(t, err)
		eqs(t, "swept", swept, ".y.md.0123456789abcdef.new", ".x-prompt.md.0123456789abcdef.new")
		names, err := c.Tmp.List()
		ok(t, err)
		eqs(t, "left", names, ".keep", "a.new")
		ok(t, os.WriteFile(c.host("tmp/.z.md.0123456789abcdef.new"), nil, 0o644))
		names, _ = c.Tmp.List()
		eqs(t, "ignored", names, ".keep", "a.new")
		ok(t, c.Tmp.Write("x.md", []byte("new")))
		ok(t, c.Tmp.Write("x.md", []byte("newer")))
		hash, err := c.Tmp.HashOf("x.md")
		ok(t, err)
		eq(t, "written", hash, Hash([]byte("newer")))
		if swept, _ := c.Tmp.Sweep(); len(swept) != 1 {
			t.Errorf("a write left %v behind", swept)
		}
		// A write replaces a link; it never goes through it.
		ok(t, os.Symlink(c.host("party/tilda-brannock.md"), c.host("tmp/link.md")))
		ok(t, c.Tmp.Write("link.md", []byte("x")))
		data, _ := os.ReadFile(c.host("party/tilda-brannock.md"))
		has(t, string(data), "# Tilda")
		for _, bad := range []string{"../x", "a/b", "", ".", "..", "a\x00"} {
			if c.Tmp.Write(bad, nil) == nil {
				t.Errorf("%q was written", bad)
			}
		}
	},
	"H2": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"story-state.md": "CANARY", "tmp/good.md": "good"})
		data, err := c.Tmp.Read("good.md", 4)
		ok(t, err)
		eq(t, "read", string(data), "good")
		ok(t, os.Symlink("good.md", c.host("tmp/in.md")))
		ok(t, os.Symlink("../story-state.md", c.host("tmp/out.md")))
		ok(t, os.Symlink("nothing", c.host("tmp/dangling.md")))
		ok(t, os.Link(c.host("story-state.md"), c.host("tmp/hard.md")))
		for _, n := range []string{"in.md", "out.md", "dangling.md", "hard.md"} {
			_, err := c.Tmp.Read(n, 0)
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) {
				t.Errorf("%s: %v", n, err)
			}
			if err != nil && strings.Contains(err.Error(), c.Workspace) {
				t.Errorf("the message names the host: %v", err)
			}
		}
		// A party directory that is a link opens nothing.
		ok(t, os.Rename(c.host("party"), c.host("real")))
		ok(t, os.Symlink("real", c.host("party")))
		if _, err := OpenCampaign(c.Workspace, "ash"); err == nil {
			t.Error("a linked party/ was opened")
		}
		if _, err := OpenDir(filepath.Join(c.host("party"))); err == nil {
			t.Error("a linked directory was opened")
		}
	},
	"H3": func(t *testing.T) { // on Unix the case has a FIFO as well
		c := newCampaign(t, nil)
		ok(t, os.Mkdir(c.host("tmp/gideon-harrowmoor-response.md"), 0o755))
		var unsafe *UnsafeError
		if _, err := c.Tmp.Read("gideon-harrowmoor-response.md", 0); !errors.As(err, &unsafe) {
			t.Error(err)
		}
	},
	"H4": func(t *testing.T) {
		eq(t, "case", Classify("party/TILDA.md").Kind, KindUnknown)
		eq(t, "case", Classify("Story-State.md").Kind, KindUnknown)
		has(t, UniqueSlug("zoe", []string{"ZOE"}), "already taken")
		has(t, foldClash([]string{"A.md", "a.md"}), "differ only in case")
	},
	"H5": func(t *testing.T) {
		want := "/.conclave/\n/campaigns/*/tmp/\n"
		eq(t, "new", string(GitIgnore(nil)), want)
		eq(t, "twice", string(GitIgnore(GitIgnore(nil))), want)
		eq(t, "added", string(GitIgnore([]byte("bin\r\n/.conclave/\r\nx"))), "bin\r\n/.conclave/\r\nx\n/campaigns/*/tmp/\n")
	},
	"H6": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"party/tilda-brannock.md": strings.Repeat("x", 256<<10+1), "party-knowledge.md": strings.Repeat("x", 512<<10+1)})
		r := load(t, c)
		eqs(t, "problems", r.Problems, "party/tilda-brannock.md: 262145 bytes, limit 262144")
		_, err := c.PlayerContext("gideon-harrowmoor", []byte(goodPrompt), ContextOptions{})
		has(t, err, "campaigns/ash/party-knowledge.md: 524289 bytes, limit 524288")
		files := map[string]string{}
		for _, n := range strings.Split("a b c d e f g h i j k l m", " ") {
			files["party/"+n+".md"] = ""
		}
		_, err = LoadRoster(newCampaign(t, files).Party, nil, Caps{})
		has(t, err, "15 characters, at most 12")
	},
}

var rulingsI = map[string]func(*testing.T){
	"I1": func(t *testing.T) {
		// A person's words go through the same door as an agent's.
		turn := SplitTurn("I wave.\n[NOTES]\nTired.")
		eq(t, "file", string(ParseResponse(turn.Response, QuickReaction, Caps{}).File()), "I wave.\n")
	},
	"I5": func(t *testing.T) {
		for _, in := range []string{"[AWAIT_AI_PLAYERS: gideon-harrowmoor]", "[ERROR: No response]\n\nCharacter: x"} {
			r := resp(in)
			eq(t, "text", r.Kind == Answer && r.Text == in, true)
		}
	},
}
