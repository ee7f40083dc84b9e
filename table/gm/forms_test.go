package gm

import (
	"strings"
	"testing"

	"conclave/table"
	"conclave/table/story"
)

const (
	tilda  = "tilda-brannock"
	gideon = "gideon-harrowmoor"
	sera   = "seraphine-dawnwhisper"
)

func trio() table.Roster { return party(gideon, sera, tilda) }

func TestForms(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		blocks string // as the GM sees them
		files  string // path and text
		rolls  int
		names  string
		faults string // a part of the first, "" for none
	}{
		"plain":              {text: "Rain.\n\nMore rain.", blocks: "Rain.\n\nMore rain."},
		"file":               {text: "A.\n[FILE: story-state.md]\nx\n## y\n[/FILE]\nB.", blocks: "A.\n\nB.", files: "story-state.md=x\n## y\n"},
		"decorated":          {text: "**[FILE: story-state.md]**\nx\n[/FILE]", files: "story-state.md=x\n"},
		"windows":            {text: "\ufeffA.\r\n[FILE: story-state.md]\r\nx\r\n[/FILE]\r\n", blocks: "A.", files: "story-state.md=x\n"},
		"in code":            {text: "```\n[FILE: story-state.md]\nx\n[/FILE]\n```", blocks: "```\n[FILE: story-state.md]\nx\n[/FILE]\n```"},
		"code in a file":     {text: "[FILE: story-state.md]\n```\nx\n[/FILE]\nB.", blocks: "B.", files: "story-state.md=```\nx\n"},
		"not closed":         {text: "A.\n[FILE: story-state.md]\nx", blocks: "A.", faults: "not closed"},
		"traversal":          {text: "[FILE: ../../etc/passwd]\nx\n[/FILE]", faults: "no file that a GM writes"},
		"a response":         {text: "[FILE: tmp/tilda-brannock-response.md]\nx\n[/FILE]", faults: "no file that a GM writes"},
		"a journal":          {text: "[FILE: party/tilda-brannock-journal.md]\nx\n[/FILE]", faults: "no file that a GM writes"},
		"first name":         {text: "[FILE: tmp/tilda-prompt.md]\nx\n[/FILE]", faults: "no file that a GM writes"},
		"an npc":             {text: "[FILE: npcs/the-miller.md]\nx\n[/FILE]", files: "npcs/the-miller.md=x\n"},
		"an npc elsewhere":   {text: "[FILE: npcs/../story-state.md]\nx\n[/FILE]", faults: "no file that a GM writes"},
		"roll":               {text: "A.\n[ROLL: 1d20+3 | tilda-brannock | Stealth | dc 15 | open]", blocks: "A.\n\n@", rolls: 1},
		"bad roll":           {text: "A.\n[ROLL: 1d20+ | gm]", blocks: "A.", faults: "ROLL: "},
		"roll for nobody":    {text: "[ROLL: 1d20 | finn]", faults: "rolls nothing"},
		"roll with nonsense": {text: "[ROLL: 1d20 | gm | luck | loudly]", faults: "none of dc N"},
		"signal":             {text: "A.\n[AWAIT_AI_PLAYERS: tilda-brannock]\nB.\n[FILE: story-state.md]\nx\n[/FILE]", blocks: "A.", names: tilda},
		"private roll":       {text: "[TO: tilda-brannock]\nA.\n[ROLL: 1d20 | gm]\n[/TO]", blocks: "[for tilda-brannock] A.\n\n@", rolls: 1},
		"status":             {text: "[STATUS: finn dead]", faults: "STATUS: "},
		"marks":              {text: "\ue0000\ue000A.", blocks: "0A."},
	} {
		t.Run(name, func(t *testing.T) {
			o := readBy(c.text, trio())
			var files []string
			for _, f := range o.Files {
				files = append(files, f.Path+"="+f.Text)
			}
			eq(t, "blocks", story.TextOf(withRolls(o, "@"), "gm", table.Roster{}.Called), c.blocks)
			eq(t, "files", strings.Join(files, "|"), c.files)
			eq(t, "rolls", len(o.Rolls), c.rolls)
			eq(t, "names", strings.Join(o.Signal.Names, ","), c.names)
			if (c.faults == "") != (len(o.Faults) == 0) || c.faults != "" && !strings.Contains(o.Faults[0], c.faults) {
				t.Errorf("faults: %q", o.Faults)
			}
		})
	}
}

// FuzzForms: whatever a GM says, only files that a GM may write come of
// it, and every roll has its place.
func FuzzForms(f *testing.F) {
	for _, s := range []string{"[FILE: story-state.md]\nx\n[/FILE]", "[FILE+: npcs/a.md]\n[/FILE]", "[ROLL: 1d20 | gm | x | dc 3]", "```\n[FILE: x]\n", "[TO: tilda-brannock]\n[ROLL: d6]\n[/TO]",
		"[AWAIT_AI_PLAYERS: a]\n[ROLL: d6]", "\ue0000\ue000", "[FILE: tmp/../story-state.md]\n[/FILE]", "[END_SESSION]\n[SCENE: a|b]\n[STATUS: tilda-brannock dead]"} {
		f.Add(s)
	}
	roster := trio()
	f.Fuzz(func(t *testing.T, text string) {
		o := readBy(text, roster)
		for _, w := range o.Files {
			again, err := filePath(w.Path, roster)
			if err != nil || again != w.Path || strings.Contains(w.Path, "..") || strings.Count(w.Path, "/") > 1 {
				t.Errorf("%q would be written", w.Path)
			}
			if k := table.Classify(w.Path).Kind; k == table.KindResponse || k == table.KindJournal || k == table.KindNotes || k == table.KindHidden || k == table.KindUnknown || k == table.KindDiceLog {
				t.Errorf("%q is no GM's file", w.Path)
			}
		}
		placed := map[*Roll]int{}
		for _, p := range o.Told {
			for _, part := range p.Parts {
				if part.Roll != nil {
					placed[part.Roll]++
				}
			}
		}
		for _, r := range o.Rolls {
			if placed[r] > 1 {
				t.Errorf("%+v stands at %d places", r, placed[r])
			}
			delete(placed, r)
		}
		if len(placed) > 0 {
			t.Errorf("%d rolls stand in the text and are not asked for", len(placed))
		}
	})
}

// withRolls are the passages with something where the rolls will be.
func withRolls(o Intent, sign string) []table.Block {
	var out []table.Block
	for _, p := range o.Told {
		out = append(out, table.Block{Audience: p.Audience, Text: p.Text(func(*Roll) string { return sign })})
	}
	return out
}
