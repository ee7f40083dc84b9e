package flow

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/policy"
	"conclave/table"
	"conclave/table/seating"
	"conclave/table/story"
)

// The template of the seed, filled in.
const (
	seedNotes = "## Expecting\nA careful look.\n\n## Contingencies\n- If veto: show the boat.\n- If they agree: the hatch.\n" +
		"- If combat starts: the dark.\n\n## NPC Reactions\nThe miller hides.\n\n## Scene Direction\nDownwards, slowly.\n"
	laterNotes = "## Expecting\nAn answer about Finn.\n"
	fullReason = "My brother Finn (Bond: the sea).\n\nShe would not answer that in a sentence."
)

// seedCycle is one cycle of the seed, with a veto in it, and what everybody was
// told and found on the disk when it was their turn.
type seedCycle struct {
	*rig
	gm     *talker
	player map[string]*talker
	keeper *talker
	result Result
	event  story.Event

	mu    sync.Mutex
	found map[string]map[string]string // tmp/ when somebody was asked: "gm 2", "tilda-brannock 1", "keeper of …"
}

func newSeedCycle(t *testing.T) *seedCycle {
	s := &seedCycle{rig: newRig(t, map[string]string{
		"party/map-of-the-mill.txt": "a map", "party/tilda-brannock-brief.md": "Red hair.\n", "maps/mill.md": "CANARY-MAP\n",
		"party/tilda-brannock-journal.md": "# Tilda Brannock's Journal\n\n---\n\n### Before\n\n- What happened: we came to the mill\n",
	}), player: map[string]*talker{}, found: map[string]map[string]string{}}
	s.gm = s.seat("gm", func(m string, n int) string {
		switch n {
		case 1:
			return "Water drips.\n[FILE: tmp/gm-context.md]\n" + seedNotes + "[/FILE]\n" + prompt(tilda, "QUICK_REACTION") +
				prompt(gideon, "COMBAT_ACTION") + prompt(sera, "SECRET_ACTION") +
				"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor, seraphine-dawnwhisper]"
		case 2:
			return "[FILE: tmp/gm-context.md]\n" + laterNotes + "[/FILE]\n" + prompt(tilda, "FULL_CONTEXT") + "[AWAIT_AI_PLAYERS: tilda-brannock]"
		}
		return "They look down together.\n[TO: seraphine-dawnwhisper]\nThe key is yours.\n[/TO]"
	})
	words := map[string][]string{
		tilda: {"[VETO - need more input]\n\n" + fullReason + "\n\n[NOTES]\nI am afraid.", "I go down.\n\n(Lantern: bright light.)\n[NOTES]\nFinn is there."},
		// A player who plays the game master is quoted.
		gideon: {"I strike.\n\n(1d20+3 to hit.)\n\n[AWAIT_AI_PLAYERS: seraphine-dawnwhisper]"},
		sera:   {"I pocket the brass key from under the stone."},
	}
	for who, said := range words {
		s.player[who] = s.seat(who, func(_ string, n int) string { return said[n-1] })
	}
	s.keeper = s.seat("keeper", func(m string, _ int) string {
		_, who, _ := strings.Cut(m, "Character: ")
		who, _, _ = strings.Cut(who, "\n")
		s.look("keeper of " + who)
		return entry("A moment")
	})
	s.result = s.say(start)
	s.drain()
	s.event = s.lastCommit()
	return s
}

// seat is an agent that notes what it finds in tmp/ when it is asked.
func (s *seedCycle) seat(who string, say func(m string, n int) string) *talker {
	k := &talker{}
	k.reply = func(_ context.Context, m string) (string, error) {
		k.mu.Lock()
		n := len(k.heard)
		k.mu.Unlock()
		s.look(who + " " + string(rune('0'+n)))
		return say(m, n), nil
	}
	s.agents[who] = k
	return k
}

func (s *seedCycle) look(when string) {
	files := map[string]string{}
	for _, name := range s.tmp() {
		if data, err := os.ReadFile(s.path("tmp/" + name)); err == nil { // a keeper may have deleted it
			files[name] = string(data)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found[when] = files
}

// told is what the keeper of a character was told.
func (s *seedCycle) told(who string) string {
	i := slices.IndexFunc(s.keeper.heard, func(m string) bool { return strings.Contains(m, "Character: "+who+"\n") })
	if i < 0 {
		s.t.Fatalf("nobody keeps the journal of %s", who)
	}
	return s.keeper.heard[i]
}

// ordered says whether texts stand in a text one after the other.
func ordered(t *testing.T, what, text string, want ...string) {
	t.Helper()
	at := 0
	for _, w := range want {
		i := strings.Index(text[at:], w)
		if i < 0 {
			t.Errorf("%s: %q is not there, or not in its place:\n%s", what, w, text)
			return
		}
		at += i + len(w)
	}
}

// TestSeedCycle holds a cycle against the statements of the specification about
// what happens when.
func TestSeedCycle(t *testing.T) {
	t.Parallel()
	s := newSeedCycle(t)
	for _, id := range slices.Sorted(maps.Keys(cycleStatements)) {
		t.Run(id, func(t *testing.T) { cycleStatements[id](t, s) })
	}
}

var cycleStatements = map[string]func(*testing.T, *seedCycle){
	"001-04": func(t *testing.T, s *seedCycle) {
		eq(t, "tmp/gm-context.md", s.found["tilda-brannock 1"]["gm-context.md"], seedNotes)
	},
	"001-05": func(t *testing.T, s *seedCycle) { has(t, "the GM after the hand-off", s.gm.heard[1], seedNotes) },
	"001-09": func(t *testing.T, s *seedCycle) {
		eq(t, "notes", s.found["gm 2"]["tilda-brannock-notes-for-journal.md"], "I am afraid.\n")
		eq(t, "of one who took none", s.found["gm 2"]["gideon-harrowmoor-notes-for-journal.md"], "")
	},
	"001-12": func(t *testing.T, s *seedCycle) {
		eq(t, "another file", s.read("party/map-of-the-mill.txt"), "a map")
		eq(t, "a brief", s.read("party/tilda-brannock-brief.md"), "Red hair.\n")
		eqs(t, "characters", s.event.Journals, gideon, sera, tilda)
	},
	"001-13": func(t *testing.T, s *seedCycle) {
		for who, k := range s.player {
			has(t, who, k.heard[0], "# What the party knows\n\n# What the party knows\n\nThe mill is flooded.\n")
		}
	},
	"001-15": func(t *testing.T, s *seedCycle) {
		eq(t, "a file of the campaign", s.read("maps/mill.md"), "CANARY-MAP\n")
		has(t, "the GM", s.gm.heard[0], "CANARY-MAP")
		for who, k := range s.player {
			hasNot(t, who, k.all(), "CANARY-MAP")
		}
	},
	"001-16": func(t *testing.T, s *seedCycle) {
		eqs(t, "tmp at the first request", slices.Sorted(maps.Keys(s.found["gideon-harrowmoor 1"])), "gideon-harrowmoor-prompt.md",
			"gm-context.md", "seraphine-dawnwhisper-prompt.md", "tilda-brannock-prompt.md")
	},
	"001-17": func(t *testing.T, s *seedCycle) {
		eq(t, "at the first request", s.found["seraphine-dawnwhisper 1"]["gm-context.md"], seedNotes)
	},
	"001-18": func(t *testing.T, s *seedCycle) {
		ordered(t, "at resume", s.gm.heard[1], "Event: responses", seedNotes)
	},
	"001-20": func(t *testing.T, s *seedCycle) {
		ordered(t, "second hand-off", s.gm.heard[2], "Event: responses", laterNotes)
	},
	"001-21": func(t *testing.T, s *seedCycle) { has(t, "notes", s.gm.heard[1], "## Expecting\nA careful look.\n") },
	"001-22": func(t *testing.T, s *seedCycle) {
		has(t, "notes", s.gm.heard[1], "## Contingencies\n- If veto: show the boat.\n- If they agree: the hatch.\n- If combat starts: the dark.\n")
	},
	"001-23": func(t *testing.T, s *seedCycle) {
		has(t, "notes", s.gm.heard[1], "## NPC Reactions\nThe miller hides.\n")
	},
	"001-24": func(t *testing.T, s *seedCycle) {
		has(t, "notes", s.gm.heard[1], "## Scene Direction\nDownwards, slowly.\n")
	},
	"001-27": func(t *testing.T, s *seedCycle) {
		for who := range s.player { // the signal is run when the notes are there
			eq(t, who, s.found[who+" 1"]["gm-context.md"], seedNotes)
		}
	},
	"001-28": func(t *testing.T, s *seedCycle) {
		eq(t, "the GM is resumed when all have answered", len(s.found["gm 2"]["tilda-brannock-response.md"]) > 0 &&
			len(s.found["gm 2"]["gideon-harrowmoor-response.md"]) > 0 && len(s.found["gm 2"]["seraphine-dawnwhisper-response.md"]) > 0, true)
		has(t, "and reads its notes", s.gm.heard[1], seedNotes)
	},
	"001-30": func(t *testing.T, s *seedCycle) {
		eq(t, "updated", s.found["tilda-brannock 2"]["gm-context.md"], laterNotes)
		hasNot(t, "the old ones", s.gm.heard[2], "A careful look.")
	},
	"001-44": func(t *testing.T, s *seedCycle) {
		has(t, "prompt", s.player[tilda].heard[0], "## Scene\nThe mill at night.\n")
	},
	"001-45": func(t *testing.T, s *seedCycle) {
		has(t, "prompt", s.player[tilda].heard[0], "## Just Happened\nA splash below.\n")
	},
	"001-46": func(t *testing.T, s *seedCycle) {
		has(t, "prompt", s.player[tilda].heard[0], "## Request\nWhat do you do?\n")
	},
	"001-47": func(t *testing.T, s *seedCycle) {
		for who, kind := range map[string]string{tilda: "QUICK_REACTION", gideon: "COMBAT_ACTION", sera: "SECRET_ACTION"} {
			eq(t, "the file", s.found[who+" 1"][who+"-prompt.md"], promptText(kind))
			has(t, who, s.player[who].heard[0], "# The game master asks\n\n"+promptText(kind))
		}
	},
	"001-48": func(t *testing.T, s *seedCycle) {
		has(t, "tilda", s.player[tilda].heard[0], "Request: QUICK_REACTION\n")
		has(t, "the GM is told how to ask", seating.Instructions(policy.GM), "`QUICK_REACTION`: one or two sentences.")
		has(t, "a player is told to keep to it", seating.Instructions(policy.Player), "Keep to the length that the request asks for.")
	},
	"001-49": func(t *testing.T, s *seedCycle) {
		has(t, "gideon", s.player[gideon].heard[0], "Request: COMBAT_ACTION\n")
		eq(t, "type", outcome(s.event, gideon).Type, table.CombatAction)
		has(t, "the GM is told how to ask", seating.Instructions(policy.GM), "`COMBAT_ACTION`: one turn in a fight")
	},
	"001-50": func(t *testing.T, s *seedCycle) {
		ordered(t, "tilda", s.player[tilda].heard[1], "Request: FULL_CONTEXT\n", "You vetoed the last request: My brother Finn")
		eq(t, "the answer counts", outcome(s.event, tilda).Response, "I go down.\n\n(Lantern: bright light.)\n")
	},
	"001-51": func(t *testing.T, s *seedCycle) {
		has(t, "the GM", s.gm.heard[1], "> I pocket the brass key")
		for who, k := range s.player {
			if who != sera {
				hasNot(t, who, k.all(), "brass key")
				hasNot(t, "journal of "+who, s.told(who), "key")
			}
		}
		hasNot(t, "the party", story.TextOf(s.result.Blocks, tilda, table.Roster{}.Called), "key")
		has(t, "her own", story.TextOf(s.result.Blocks, sera, table.Roster{}.Called), "The key is yours.")
	},
	"001-55": func(t *testing.T, s *seedCycle) {
		has(t, "response", s.found["gm 2"]["gideon-harrowmoor-response.md"], "I strike.\n\n(1d20+3 to hit.)\n")
	},
	"001-56": func(t *testing.T, s *seedCycle) {
		eq(t, "response", s.found["gm 2"]["seraphine-dawnwhisper-response.md"], "I pocket the brass key from under the stone.\n")
	},
	"001-59": func(t *testing.T, s *seedCycle) {
		has(t, "a player is told to", seating.Instructions(policy.Player), "A reason that names what on the sheet is touched.")
		has(t, "and has it", s.player[tilda].heard[0], "Bond: the sea took her brother Finn.")
		has(t, "it is kept", s.event.Asked[0].Response, "(Bond: the sea)")
	},
	"001-60": func(t *testing.T, s *seedCycle) {
		eq(t, "file", s.found["gm 2"]["tilda-brannock-response.md"], "[VETO - need more input]\n\n"+fullReason+"\n")
	},
	"001-62": func(t *testing.T, s *seedCycle) {
		ordered(t, "the GM", s.gm.heard[1], "Answer of tilda-brannock (QUICK_REACTION): veto",
			"> [VETO - need more input]\n> \n> My brother Finn (Bond: the sea).\n> \n> She would not answer that in a sentence.\n")
	},
	"001-64": func(t *testing.T, s *seedCycle) { eq(t, "keepers, and nobody asked for one", len(s.keeper.heard), 3) },
	"001-69": func(t *testing.T, s *seedCycle) {
		for _, who := range []string{tilda, gideon, sera} {
			eq(t, "when the keeper of "+who+" was asked", s.found["keeper of "+who]["narrative-for-journal.md"],
				"Water drips.\n\nThey look down together.\n")
		}
	},
	"001-71": func(t *testing.T, s *seedCycle) {
		for _, who := range []string{tilda, gideon, sera} {
			has(t, who, s.told(who), "# What happened\n\nWater drips.\n\nThey look down together.\n")
		}
	},
	"001-75": func(t *testing.T, s *seedCycle) {
		eq(t, "notes", s.found["keeper of tilda-brannock"]["tilda-brannock-notes-for-journal.md"], "I am afraid.\n\nFinn is there.\n")
	},
	"001-78": func(t *testing.T, s *seedCycle) {
		has(t, "a player is told to", seating.Instructions(policy.Player), "what your character thinks and feels and means to remember")
		has(t, "as they were said", s.told(tilda), "# Your notes\n\nI am afraid.\n\nFinn is there.\n")
	},
	"001-79": func(t *testing.T, s *seedCycle) {
		eq(t, "after the first request", s.found["gm 2"]["tilda-brannock-notes-for-journal.md"], "I am afraid.\n")
		eq(t, "after the second", s.found["gm 3"]["tilda-brannock-notes-for-journal.md"], "I am afraid.\n\nFinn is there.\n")
	},
	"001-80": func(t *testing.T, s *seedCycle) { has(t, "keeper", s.told(tilda), "Finn is there.") },
	"001-83": func(t *testing.T, s *seedCycle) {
		has(t, "keeper", s.told(gideon), "They look down together.")
		hasNot(t, "keeper", s.told(gideon), "# Your notes")
		has(t, "an entry all the same", s.read("party/gideon-harrowmoor-journal.md"), "### A moment")
	},
	"001-90": bullet("What I did", "b"), "001-91": bullet("What I learned", "c"), "001-92": bullet("How I feel", "d"),
	"001-93": bullet("Notes", "e"),
	"001-94": func(t *testing.T, s *seedCycle) {
		eq(t, "nothing before", len(s.found["gm 1"]), 0)
		eq(t, "then", s.found["tilda-brannock 1"]["gm-context.md"], seedNotes)
	},
	"001-95": func(t *testing.T, s *seedCycle) {
		eq(t, "prompt", s.found["tilda-brannock 1"]["tilda-brannock-prompt.md"], promptText("QUICK_REACTION"))
		eq(t, "the second", s.found["tilda-brannock 2"]["tilda-brannock-prompt.md"], promptText("FULL_CONTEXT"))
	},
	"001-98": func(t *testing.T, s *seedCycle) {
		has(t, "quoted", s.gm.heard[1], "> [AWAIT_AI_PLAYERS: seraphine-dawnwhisper]")
		eq(t, "sera was asked", len(s.player[sera].heard), 1)
	},
	"001-100": func(t *testing.T, s *seedCycle) {
		ordered(t, "tilda", s.player[tilda].heard[0], "# Your character\n\n# Tilda Brannock", "# Your journal\n", "### Before",
			"# What the party knows", "# The game master asks")
	},
	"001-102": func(t *testing.T, s *seedCycle) {
		ordered(t, "first", s.gm.heard[1], "A careful look.", "Answer of tilda-brannock", "Answer of gideon-harrowmoor")
		ordered(t, "second", s.gm.heard[2], "An answer about Finn.", "Answer of tilda-brannock")
	},
	"001-105": func(t *testing.T, s *seedCycle) {
		eq(t, "the GM's turns", len(s.gm.heard), 3)
		eqs(t, "nothing is deleted before the end", slices.Sorted(maps.Keys(s.found["gm 3"])), "gideon-harrowmoor-prompt.md",
			"gideon-harrowmoor-response.md", "gm-context.md", "seraphine-dawnwhisper-prompt.md", "seraphine-dawnwhisper-response.md",
			"tilda-brannock-notes-for-journal.md", "tilda-brannock-prompt.md", "tilda-brannock-response.md")
		ordered(t, "all answers are read again", s.gm.heard[2], "> I go down.", "> I strike.", "> I pocket")
		eqs(t, "and then everything is", s.tmp(), table.NarrativeFile)
	},
	"001-108": func(t *testing.T, s *seedCycle) {
		ordered(t, "keeper", s.told(tilda), "# What happened", "They look down together.", "# Your notes", "I am afraid.")
		has(t, "what only she saw", s.told(sera), "# What only you saw\n\nThe key is yours.")
	},
	"001-116": func(t *testing.T, s *seedCycle) {
		for _, when := range []string{"gm 3", "keeper of tilda-brannock"} {
			eq(t, when, s.found[when]["tilda-brannock-notes-for-journal.md"], "I am afraid.\n\nFinn is there.\n")
		}
		eqs(t, "when the entry is written", s.tmp(), table.NarrativeFile)
	},
	"001-119": func(t *testing.T, s *seedCycle) {
		for _, who := range []string{tilda, gideon, sera} {
			has(t, "party/", strings.Join(list(t, s.path("party")), " "), who+".md")
			has(t, "tmp/", strings.Join(slices.Sorted(maps.Keys(s.found["gm 2"])), " "), who+"-prompt.md "+who+"-response.md")
		}
	},
	"001-120": namedAs(tilda), "001-121": namedAs(gideon), "001-122": namedAs(sera),
	"001-131": func(t *testing.T, s *seedCycle) {
		for _, who := range []string{tilda, gideon, sera} {
			eq(t, "asked as", outcome(s.event, who).Character, who)
			has(t, "told as", s.player[who].heard[0], "Character: "+who+"\n")
			has(t, "journal", strings.Join(list(t, s.path("party")), " "), who+"-journal.md")
		}
	},
	"001-142": func(t *testing.T, s *seedCycle) {
		has(t, "her own", s.player[tilda].all(), "### Before")
		for _, who := range []string{gideon, sera} {
			hasNot(t, who, s.player[who].all(), "### Before")
		}
	},
}

func bullet(label, text string) func(*testing.T, *seedCycle) {
	return func(t *testing.T, s *seedCycle) {
		for _, who := range []string{tilda, gideon, sera} {
			has(t, who, s.read("party/"+who+"-journal.md"), "\n- "+label+": "+text+"\n")
		}
	}
}

// namedAs: the sheet's name is the one in the signal, and in both files.
func namedAs(who string) func(*testing.T, *seedCycle) {
	return func(t *testing.T, s *seedCycle) {
		if _, err := os.Stat(s.path("party/" + who + ".md")); err != nil {
			t.Error(err)
		}
		eq(t, "prompt", s.found[who+" 1"][who+"-prompt.md"] != "", true)
		eq(t, "response", s.found["gm 2"][who+"-response.md"] != "", true)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSeedRulings are statements that a ruling decides: its case is their proof.
func TestSeedRulings(t *testing.T) {
	t.Parallel()
	for id, run := range map[string]func(*testing.T){
		"001-31":  rulingsE["E7"],
		"001-61":  rulingsC["C4"],
		"001-65":  rulingsF["F7"],
		"001-66":  rulingsF["F2"],
		"001-82":  rulingsF["F14"],
		"001-118": rulingsF["F2"],
		"001-135": rulingsD["D10"],
		"001-139": rulingsAB["B14"],
		"001-146": rulingsD["D2"],
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}
