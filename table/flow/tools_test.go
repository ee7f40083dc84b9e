package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/dice"
	"conclave/engine/enginetest"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/look"
	"conclave/table/rolls"
	"conclave/table/story"
)

// needs is a prompt that asks for dice.
func needs(who, kind, rolls string) string {
	return strings.Replace(prompt(who, kind), "[/FILE]", "\n## Roll Required\n"+rolls+"\n[/FILE]", 1)
}

// diceLines reads a campaign's dice.
func diceLines(t *testing.T, r *rig, event string) []dice.Line {
	t.Helper()
	if _, err := r.table.dice.Log(); err != nil {
		t.Fatal(err)
	}
	all, err := dice.ViewFile(rolls.File(r.table.dice.Workspace, r.table.dice.Campaign), dice.Viewer{GM: true})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(l dice.Line) bool { return l.Event != event })
}

// A player rolls for its own character: openly what the GM asks for, privately
// what it wants to know of itself. What it was asked for and did not roll falls
// by itself. Before the last answer is in, nobody else sees a number.
func TestPlayersRoll(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	gm := r.listening("gm", gmSays("session-start", "Now.\n"+gmContext+
		needs(tilda, "QUICK_REACTION", "Roll if you try to be quiet:\n- 1d20 + 3 | Stealth | dc 10")+needs(gideon, "SECRET_ACTION", "1d6 | Sleight of hand")+prompt(sera, "QUICK_REACTION")+
		"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor, seraphine-dawnwhisper]")+gmSays("Event: responses", "So it is."))
	r.scripts[tilda] = `turn
  tool roll {"expr":"1d20+3","purpose":"my own words"}
  tool roll {"expr":"1d20","who":"gideon-harrowmoor"}
  tool roll {"expr":"2d"}
  say I creep, as roll #1 says.
`
	r.scripts[sera] = "turn\n  tool roll {\"expr\":\"1d20\",\"purpose\":\"my temper\"}\n  say I hold back.\n"
	r.opts.Caps.Parallel = 1 // so that the numbers are in order
	res := r.say(start)
	byWho := map[string]dice.Line{}
	for _, l := range diceLines(t, r, dice.EventRoll) {
		byWho[l.Who] = l
		eq(t, "before the barrier", l.Visibility, dice.Private)
	}
	if len(byWho) != 3 || byWho[tilda].Purpose != "Stealth" || byWho[tilda].DC == nil || *byWho[tilda].DC != 10 || byWho[sera].Purpose != "my temper" {
		t.Fatalf("rolls %+v", byWho)
	}
	opened := diceLines(t, r, dice.EventReveal)
	if len(opened) != 1 || opened[0].Of != byWho[tilda].N {
		t.Errorf("opened %+v", opened)
	}
	eq(t, "rolls of the cycle", len(r.lastCommit().Rolls), 3)
	said := gm.heard[1]
	for who, l := range byWho {
		has(t, "the GM", said, "\n"+l.Told(dice.Viewer{GM: true})+"\n")
		for _, reader := range []string{tilda, gideon, sera, table.SeatTable} {
			knows := strings.Contains(story.TextOf(res.Blocks, reader, table.Roster{}.Called), fmt.Sprintf("Roll #%d ", l.N))
			if want := who == tilda || who == reader; knows != want {
				t.Errorf("%s knows of the roll of %s: %v", reader, who, knows)
			}
		}
	}
	hasNot(t, "the GM", said, "unverified-roll")
	eq(t, "the answer", outcome(r.lastCommit(), tilda).Response, "I creep, as roll #1 says.\n")
	if report, err := dice.VerifyFile(r.path(table.DiceLogFile)); err != nil || !report.OK() || report.Rolls != 3 {
		t.Errorf("dice: %+v, %v", report, err)
	}
	r.close()
}

// A further attempt, because the answer could not stand, rolls no other dice;
// and there is an end to them.
func TestPlayersRollOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	master := r.listening("gm", gmSays("session-start", gmContext+needs(tilda, "QUICK_REACTION", "1d20 | Luck")+"[AWAIT_AI_PLAYERS: tilda-brannock]")+gmSays("Event: responses", "So it is."))
	r.scripts[tilda] = "turn on Request:\n  tool roll {\"expr\":\"1d20\"}\n  tool roll {\"expr\":\"1d4\"}\n  say \nturn on Event: retry\n" +
		strings.Repeat("  tool roll {\"expr\":\"1d4\",\"purpose\":\"better\"}\n", 20) + "  say I try.\n"
	r.say(start)
	rolls := diceLines(t, r, dice.EventRoll)
	eq(t, "rolls", len(rolls), gm.MaxPlayerRolls)
	eq(t, "the GM is told of", strings.Count(master.heard[1], "\nRoll #"), gm.MaxPlayerRolls)
	eq(t, "first", rolls[0].Purpose, "Luck")
	eq(t, "the same again", rolls[1].Purpose, "")
	r.close()
}

// Calls stand where they were made: between the words, and nothing behind
// await_players counts.
func TestToolsAndWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	body := `---\nrequest_type: QUICK_REACTION\n---\n\n## Scene\nA mill.\n\n## Just Happened\nA splash.\n\n## Request\nReact.\n`
	r.scripts["gm"] = `turn on session-start
  say First, rain.
  tool roll {"who":"gm","expr":"1d20","purpose":"luck"}
  say <<E
[TO: tilda-brannock]
Finn calls.
E
  tool narrate {"to":["gideon-harrowmoor"],"text":"A key glints."}
  say <<E
He calls again.
[/TO]
Then thunder.
E
  tool narrate {"to":["nobody-here"],"text":"x"}
  tool narrate {"text":" "}
  tool update_state {"path":"../outside.md","text":"x"}
  tool write_prompt {"character":"tilda-brannock","text":"no sections"}
  tool write_prompt {"character":"tilda-brannock","text":"` + body + `"}
  tool await_players {"names":["tilda"]}
  say Last, silence.
  tool await_players {"names":["tilda-brannock"]}
  tool narrate {"text":"Tilda jumps in."}
  tool await_players {"names":["gideon-harrowmoor"]}
  say Tilda swims. [AWAIT_AI_PLAYERS: gideon-harrowmoor]
turn on after await_players were withheld from everyone
  say Done.
`
	res := r.say(start)
	e := r.lastCommit()
	eq(t, "asked", len(e.Asked), 1)
	const before, behind = "First, rain.\n\nRoll #1 · gm · luck: 1d20 = [16] = 16\n\n", "Then thunder.\n\nLast, silence.\n\nDone."
	for who, secret := range map[string]string{tilda: "Finn calls.\n\nHe calls again.\n\n", gideon: "A key glints.\n\n", sera: ""} {
		eq(t, who+" reads", story.TextOf(res.Blocks, who, table.Roster{}.Called), before+secret+behind)
	}
	eq(t, "withheld", e.Withheld, "Tilda swims. [AWAIT_AI_PLAYERS: gideon-harrowmoor]")
}

// A signal in words beside tools counts; the words themselves are told to nobody
// when the party hears its narrative by the tool, and to everybody when not.
func TestSignalBesideTools(t *testing.T) {
	t.Parallel()
	body := `---\nrequest_type: QUICK_REACTION\n---\n\n## Scene\nA mill.\n\n## Just Happened\nA splash.\n\n## Request\nReact.\n`
	for to, want := range map[string]string{"": "Rain.\n\nDone.", `,"to":["gideon-harrowmoor"]`: "I ask her.\n\nDone."} {
		r := newRig(t, nil)
		r.scripts["gm"] = `turn on session-start
  tool narrate {"text":"Rain."` + to + `}
  say <<E
I ask her.
[AWAIT_AI_PLAYERS: tilda-brannock]
She jumps.
E
  tool write_prompt {"character":"tilda-brannock","text":"` + body + `"}
turn on Event: responses
  say Done.
`
		res := r.say(start)
		eq(t, "tilda", outcome(r.lastCommit(), tilda).Outcome, story.OutcomeAnswer)
		eq(t, "tilda reads", story.TextOf(res.Blocks, tilda, table.Roster{}.Called), want)
		has(t, "withheld", r.lastCommit().Withheld, "She jumps.")
	}
}

// Killed in the middle of a turn, between a roll and the end of the words, GM
// and player get the numbers that had fallen.
func TestKilledAtTheDice(t *testing.T) {
	t.Parallel()
	labels := enginetest.KillEverywhere(t, enginetest.Program{
		Scopes:  []string{look.Scope("ash")},
		Prepare: prepareAsh,
		Run: func(ctx context.Context, dir string, crash func(string)) error {
			r := killRig(dir, func(label string) {
				if strings.HasPrefix(label, "rolled") || strings.HasPrefix(label, "answered") || strings.HasPrefix(label, "asking") {
					crash(label)
				}
			})
			body := `---\nrequest_type: QUICK_REACTION\n---\n\n## Scene\nA mill.\n\n## Just Happened\nA splash.\n\n## Request\nReact.\n\n## Roll Required\n1d20 | Luck\n1d8 | Might\n`
			r.scripts["gm"] = `turn on session-start
  say It rains.
  tool roll {"expr":"1d20","who":"gm","purpose":"the thing below","visibility":"sealed"}
  tool roll {"expr":"1d20","who":"gm","purpose":"the thing below","visibility":"sealed"}
  tool write_prompt {"character":"tilda-brannock","text":"` + body + `"}
  tool await_players {"names":["tilda-brannock"]}
  say Well?
turn on Event: responses
  say Done.
`
			r.scripts[tilda] = "turn\n  tool roll {\"expr\":\"1d20\"}\n  tool roll {\"expr\":\"1d6\",\"purpose\":\"my heart\"}\n  say I jump.\n"
			return playOnce(ctx, r.opts)
		},
		Check: func(t *testing.T, dir string) {
			r := &rig{t: t, dir: dir}
			report, err := dice.VerifyFile(r.path(table.DiceLogFile))
			if err != nil || !report.OK() || report.Rolls != 5 {
				t.Errorf("dice: %+v, %v", report, err)
			}
			eq(t, "rolls of the cycle", fmt.Sprint(r.lastCommit().Rolls), "[1 2 3 4 5]")
			eq(t, "withheld", r.lastCommit().Withheld, "Well?")
			checkRecords(t, dir)
		},
		Normalise: func(path string, data []byte) []byte {
			if strings.HasSuffix(path, table.DiceLogFile) {
				return salts.ReplaceAll(data, []byte(`"$1":""`))
			}
			return data
		},
	})
	for n := range 5 {
		if !slices.Contains(labels, fmt.Sprintf("rolled %d", n+1)) {
			t.Errorf("nothing was killed at roll %d of %q", n+1, labels)
		}
	}
}

// playOnce plays one cycle from wherever it stands.
func playOnce(ctx context.Context, o Options) error {
	t, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer t.Close()
	if _, err := t.Recover(ctx); err != nil {
		return err
	}
	if t.snapshot().Cycle == 0 {
		if _, err := t.Say(ctx, start); err != nil {
			return err
		}
	}
	return t.Drain(ctx)
}
