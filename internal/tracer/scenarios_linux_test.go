package tracer

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/table/story"
)

// scenario is a table, and what its people type there.
type scenario struct {
	name string
	own  map[string]string // its files, besides those that all have
	// next is the command that is typed as things stand; nil when the people are
	// through. Whoever was cut types by the same rule: they look, and go on.
	next func(p place, s standing) ([]string, error)
	bare bool // nothing was ever played here
	// waits: to stop because somebody is to answer is no failure.
	waits bool
}

func (s scenario) files() map[string]string {
	all := maps.Clone(everyTable)
	maps.Copy(all, s.own)
	return all
}

const (
	tilda  = "tilda-brannock"
	gideon = "gideon-harrowmoor"
	corwin = "corwin-voss"
)

// everyTable is a campaign made by hand, whose agents play scripts.
var everyTable = map[string]string{
	"conclave.yaml": `agents:
  default: {agent: scripted, script: gm.script}
  gm: {agent: scripted, script: gm.script}
  player.tilda-brannock: {agent: scripted, script: tilda.script}
  player.gideon-harrowmoor: {agent: scripted, script: gideon.script}
  journal-keeper: {agent: scripted, script: keeper.script}
`,
	"campaigns/ash/party/tilda-brannock.md":    "# Tilda Brannock\n\nBond: the sea took her brother Finn.\n",
	"campaigns/ash/party/gideon-harrowmoor.md": "# Gideon Harrowmoor\n\nFlaw: cannot leave a lock alone.\n",
	"campaigns/ash/party-knowledge.md":         "# What the party knows\n\nThe mill is flooded.\n",
	"campaigns/ash/story-state.md":             "# Story state\n\nThe miller drowned the heir.\n",
	"campaigns/ash/overview.md":                "# Ash\n\nRain.\n",
	"gm.script":                                "always\n  say The mill stands.\n",
	"tilda.script":                             "always\n  say I hold the lantern.\n  say [NOTES]\n  say I was afraid.\n",
	"gideon.script":                            "always\n  say I try the hatch.\n",
	"keeper.script": `always
  say <<END
### A moment
- What happened: something
- What I did: my part
- What I learned: a little
- How I feel: fine
- Notes: none
END
`,
}

// says is a turn of a game master's script.
func says(on string, lines ...string) string {
	return "turn on " + on + "\n  say <<EOT\n" + strings.Join(lines, "\n") + "\nEOT\n"
}

const notes = "[FILE: tmp/gm-context.md]\n## Expecting\nA careful look.\n[/FILE]"

// prompt is a question to a character, with sections of its own.
func prompt(who, kind string, more ...string) string {
	return fmt.Sprintf("[FILE: tmp/%s-prompt.md]\n---\nrequest_type: %s\n---\n\n## Scene\nThe mill at night.\n\n"+
		"## Just Happened\nA splash below.\n\n## Request\nWhat do you do?\n%s[/FILE]", who, kind, strings.Join(more, "\n"))
}

func await(who ...string) string { return "[AWAIT_AI_PLAYERS: " + strings.Join(who, ", ") + "]" }

// auto plays without people, and ends what was cut when the session is over. The
// save point of its end is made by whatever is done next.
func auto(s standing) []string {
	switch {
	case !s.over():
		return []string{"table", "play", campaign, "--auto"}
	case s.unfinished() || !s.endKept():
		return []string{"table", "resume", campaign, "--auto"}
	}
	return nil
}

var scenarios = []scenario{personPlays, personLeads, diceFall, playerVetoes, wayBack, theyFight, theyTalk}

// personPlays: a person plays a character, an agent is the game master. It
// begins before anything was ever played.
var personPlays = scenario{
	name: "a person plays",
	bare: true,
	own: map[string]string{
		"conclave.yaml":                      everyTable["conclave.yaml"] + "  player.corwin-voss: {agent: human}\n",
		"campaigns/ash/party/corwin-voss.md": "# Corwin Voss\n\nIdeal: nobody is left behind.\n",
		"gm.script": says("Event: session-start", "Water drips in the mill.", notes, prompt(tilda, "QUICK_REACTION"),
			prompt(corwin, "QUICK_REACTION"), await(tilda, corwin)) +
			says("Event: said", "The hatch gives way.", notes, prompt(corwin, "SECRET_ACTION"), await(corwin)) +
			says("I pocket the brass key", "Nobody speaks.", "[TO: corwin-voss]", "The key is cold.", "[/TO]") +
			says("Event: responses", "They look down together."),
	},
	next: func(p place, s standing) ([]string, error) {
		words := []string{"I hold the rope.\n[NOTES]\nI did not like the water.", "I try the hatch.",
			"I pocket the brass key while nobody looks at me.", "/end"}
		if s.over() {
			return auto(s), nil
		}
		return []string{"table", "play", campaign, "--as", corwin, "--answers", p.answers()}, p.rest(words[s.said(corwin):])
	},
}

// personLeads: a person is the game master, by single commands at first, whose
// answers wait for their turn, and then at the table; with secrets.
var personLeads = scenario{
	name:  "a person leads",
	waits: true,
	own: map[string]string{
		"conclave.yaml": strings.Replace(everyTable["conclave.yaml"], "gm: {agent: scripted, script: gm.script}", "gm: {agent: human}", 1),
		"tilda.script":  "always on SECRET_ACTION\n  say I slip the ring into my sleeve while nobody looks.\nalways\n  say I wait.\n",
	},
	next: func(p place, s standing) ([]string, error) {
		words := []string{
			"Water drips in the mill.\n/secret tilda: You are alone at the wheel. What do you do?\n/ask gideon: What do you do?",
			"/tell tilda: It is cold in your hand.\nGideon finds the hatch.",
			"Dawn comes.\n/note Tilda has the ring.\n/ask all: And now?",
			"The night ends.\n/end",
		}
		n := s.said("gm")
		switch {
		case s.over():
			return auto(s), nil
		case s.Cycle >= 1:
			return []string{"table", "play", campaign, "--as", "gm", "--answers", p.answers()}, p.rest(words[n:])
		case n >= 2 || slices.Contains(s.Drafts, "gm") && len(s.Open) > 0:
			return []string{"table", "resume", campaign, "--as", "gm"}, nil
		}
		return []string{"table", "say", campaign, "--as", "gm", words[n]}, nil
	},
}

// diceFall: open, sealed and private dice, by form, by tool, by a player, and by
// a person between the cycles.
var diceFall = scenario{
	name: "dice fall",
	own: map[string]string{
		"gm.script": "turn on Event: session-start\n" +
			"  tool roll {\"expr\": \"1d20+1\", \"who\": \"gm\", \"purpose\": \"the weather\"}\n  say <<EOT\n" +
			"Water drips.\n[ROLL: 1d20+2 | tilda-brannock | Perception | dc 12 | open]\n[ROLL: 1d20 | gm | the thing below | sealed]\nEOT\n" +
			says("luck", "Dawn.", "[END_SESSION]") +
			says("Event: rolls", "She hears it.", notes,
				prompt(tilda, "COMBAT_ACTION", "\n## Roll Required\n- 1d20+3 | Athletics | dc 10\n"), await(tilda)) +
			says("Event: responses", "It was the wheel.") +
			says("Event: continue", "[ROLL: 2d6 | gideon-harrowmoor | nerve | private]", "[ROLL: 1d100 | gm | luck]"),
		"tilda.script": "always\n  tool roll {\"expr\": \"1d20+3\", \"purpose\": \"Athletics\"}\n" +
			"  tool roll {\"expr\": \"1d6\", \"purpose\": \"do I dare\"}\n  say I jump.\n",
	},
	next: func(_ place, s standing) ([]string, error) {
		switch {
		case s.Cycle < 1:
			return []string{"table", "play", campaign, "--auto", "--max-turns", "1"}, nil
		case s.unfinished():
			return []string{"table", "resume", campaign, "--auto"}, nil
		case !bytes.Contains(s.dice, []byte("by hand")):
			return []string{"table", "roll", "--table", campaign, "--who", "gm", "--purpose", "by hand", "--visibility", "sealed", "3d6"}, nil
		case bytes.Count(s.dice, []byte(`"event":"reveal"`)) < 2: // the player's, at the barrier
			return []string{"table", "reveal", campaign, "3"}, nil
		}
		return auto(s), nil
	},
}

// playerVetoes: a veto and its sub-cycle, a prompt that must be written again, a
// secret, and what a game master writes into files.
var playerVetoes = scenario{
	name: "a player vetoes",
	own: map[string]string{
		"gm.script": says("Event: session-start", "Water drips.", notes,
			prompt(tilda, "QUICK_REACTION", "\n## Tone\nA voice like Finn's.\n"),
			"[FILE: tmp/gideon-harrowmoor-prompt.md]\nno header\n[/FILE]", await(tilda, gideon)) +
			says("tilda-brannock vetoed", notes, prompt(tilda, "FULL_CONTEXT"), prompt(gideon, "SECRET_ACTION"), await(tilda, gideon)) +
			says("Sub-cycle: 2", "Tilda calls the name.", "[TO: gideon-harrowmoor]", "It is in your sleeve now.", "[/TO]",
				"[FILE+: story-state.md]", "Gideon has it.", "[/FILE]", "[SCENE: The weir | under the wheel]") +
			says("Event: continue", "Dawn comes.", notes, prompt(tilda, "QUICK_REACTION"), await(tilda)) +
			says("Event: responses", "The end.", "[END_SESSION]"),
		"tilda.script": "turn on FULL_CONTEXT\n  expect You vetoed\n  say Finn! Is it you?\n  say [NOTES]\n  say It had his voice.\n" +
			"turn on A voice like Finn's\n  veto The sea took my brother.\nturn\n  say I sit down.\n",
		"gideon.script": "always\n  say I slip the brass key into my sleeve while nobody looks at me.\n",
	},
	next: func(_ place, s standing) ([]string, error) { return auto(s), nil },
}

// wayBack: a save point, a way back to it, the end of a session with journals,
// and another campaign made of the same past.
var wayBack = scenario{
	name: "the way back",
	own: map[string]string{
		"gm.script": says("Event: session-start", "Water drips.", notes, prompt(tilda, "QUICK_REACTION"), prompt(gideon, "QUICK_REACTION"),
			await(tilda, gideon)) +
			says("Event: responses", "They look down together.", "[FILE+: story-state.md]", "One more day.", "[/FILE]") +
			says("Event: continue", "[SCENE: The weir]", "Night falls.", "[FILE+: party-knowledge.md]", "The weir is open.", "[/FILE]",
				"[ROLL: 1d20 | gm | who hears it]") +
			says("Event: rolls", "Nobody."),
	},
	next: func(p place, s standing) ([]string, error) {
		saved := slices.ContainsFunc(s.Saves, func(x story.Save) bool { return x.Name == "mark" })
		switch {
		case s.Cycle < 1:
			return []string{"table", "play", campaign, "--auto", "--max-turns", "1"}, nil
		case s.unfinished():
			return []string{"table", "resume", campaign, "--auto"}, nil
		case !saved:
			return []string{"table", "save", campaign, "mark"}, nil
		case s.Cycle < 2:
			return []string{"table", "play", campaign, "--auto", "--max-turns", "1"}, nil
		case !s.happened(story.EventRestore):
			return []string{"table", "restore", campaign, "mark"}, nil
		case s.Cycle < 3:
			return []string{"table", "play", campaign, "--auto", "--max-turns", "1", "--end"}, nil
		case !s.over():
			return []string{"table", "play", campaign, "--answers", p.answers()}, p.rest([]string{"/end"})
		case !s.happened(story.EventFork):
			return []string{"table", "fork", campaign, "other", "--from", "mark"}, nil
		}
		return auto(s), nil
	},
}

// theyFight: initiative, a hidden fighter, a concentration that is kept and a
// death, over two cycles. Bonuses are such that the dice change nothing but
// numbers.
var theyFight = scenario{
	name: "they fight",
	own: map[string]string{
		"gm.script": says("Event: continue", "[COMBAT: next]", "[COMBAT: join imp +5]", "[COMBAT: damage gideon-harrowmoor 1]") +
			says("imp · initiative", "He is gone.", "[COMBAT: reveal the-shade]", "[COMBAT: end]", "[END_SESSION]") +
			says("concentration on bless", "She stands.") +
			says("Event: session-start", "The door bursts.",
				"[COMBAT: start tilda-brannock +90, goblins +60 surprised, the-shade +30 hidden, gideon-harrowmoor]") +
			says("Event: rolls", "[COMBAT: next]", "[COMBAT: condition goblins +prone]", "[COMBAT: concentrate tilda-brannock: bless]",
				notes, prompt(tilda, "COMBAT_ACTION"), prompt(gideon, "COMBAT_ACTION"), await(tilda, gideon)) +
			says("Event: responses", "The shade strikes.", "[COMBAT: damage tilda-brannock 13 save +30]",
				"[COMBAT: down gideon-harrowmoor]", "[COMBAT: damage gideon-harrowmoor 3 crit]"),
		"tilda.script": "always on # The fight\n  say I strike.\n",
	},
	next: func(_ place, s standing) ([]string, error) { return auto(s), nil },
}

// theyTalk: two talk among themselves, one of them a person, and nobody else hears
// it; and again in a cycle in which one has nothing to add.
var theyTalk = scenario{
	name: "they talk",
	own: map[string]string{
		"conclave.yaml":                      everyTable["conclave.yaml"] + "  player.corwin-voss: {agent: human}\n",
		"campaigns/ash/party/corwin-voss.md": "# Corwin Voss\n\nIdeal: nobody is left behind.\n",
		"gm.script": says("It came from below", "They sleep.") +
			says("Event: session-start", "The fire burns down.", "[HUDDLE: tilda-brannock, corwin-voss | what to do | rounds 2]") +
			says("Event: huddle", "They nod.", notes, prompt(gideon, "QUICK_REACTION"), await(gideon)) +
			says("Event: responses", "He saw nothing.") +
			says("Event: said", "[HUDDLE: gideon-harrowmoor, tilda-brannock | the noise | rounds 1]"),
		"tilda.script":  "always on the noise\n  say -\nalways on what to do\n  say It was the bishop.\n",
		"gideon.script": "always on the noise\n  say It came from below.\nalways\n  say I look at the fire.\n",
	},
	next: func(p place, s standing) ([]string, error) {
		words := []string{"Then we need a ladder.", "And a rope.", "I wake them.", "/end"}
		if s.over() {
			return auto(s), nil
		}
		return []string{"table", "play", campaign, "--as", corwin, "--answers", p.answers()}, p.rest(words[s.said(corwin):])
	},
}
