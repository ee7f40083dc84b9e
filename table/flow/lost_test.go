package flow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/dice"
	"conclave/engine"
	"conclave/table"
	"conclave/table/story"
)

// T10: a person edits what the game master writes, while it thinks. Neither is
// lost, the game master writes again what holds both, and the person is told.
func TestEditedWhileTheGMThinks(t *testing.T) {
	t.Parallel()
	edit := func(r *rig, name, text string) func(string) string {
		return func(said string) string {
			r.write(name, text)
			return said
		}
	}
	r := newRig(t, map[string]string{"npcs/miller.md": "Alive.\n"})
	turns := map[string]func(string) string{}
	gm := r.listening("gm", gmSays("session-start", "Rain.\n[FILE: story-state.md]\nThe GM's own.\n[/FILE]\n"+
		"[FILE: npcs/miller.md]\nDead.\n[/FILE]")+
		gmSays("Event: repair", "[FILE: story-state.md]\nThe GM's own, and the person's.\n[/FILE]"))
	reply := gm.reply
	gm.reply = func(ctx context.Context, m string) (string, error) {
		for on, do := range turns {
			if strings.Contains(m, on) {
				do("")
			}
		}
		return reply(ctx, m)
	}
	turns["session-start"] = edit(r, "story-state.md", "The person's.\n")
	res := r.say(start)
	eq(t, "messages", len(gm.heard), 2)
	has(t, "the GM", gm.heard[1], "story-state.md was not written: it is not as you were given it")
	has(t, "the GM", gm.heard[1], "story-state.md stands now as somebody else has written it:\n\nThe person's.")
	eq(t, "the file", r.read("story-state.md"), "The GM's own, and the person's.\n")
	eq(t, "what nobody else touched", r.read("npcs/miller.md"), "Dead.\n")
	told := strings.Join(res.Warnings, "\n")
	eq(t, "told", strings.Count(told, "somebody edited story-state.md"), 1)
	_, kept, _ := strings.Cut(told, "is kept as ")
	file := filepath.Join(r.dir, filepath.FromSlash(kept))
	if data, err := os.ReadFile(file); err != nil || string(data) != "The GM's own.\n" {
		t.Errorf("the GM's version in %q: %q, %v", kept, data, err)
	}
}

// An edit at the very moment of the write is not overwritten either, and one
// that only adds goes below it.
func TestEditedAtTheWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	gm := r.listening("gm", gmSays("session-start", "[FILE: story-state.md]\nThe GM's own.\n[/FILE]\n"+
		"[FILE+: party-knowledge.md]\nIt rains.\n[/FILE]")+
		gmSays("Event: repair", "Then not."))
	r.opts.Crash = func(label string) {
		if label == "recorded find files 1" {
			r.write("story-state.md", "The person's.\n")
			r.write("party-knowledge.md", "Changed.\n")
		}
	}
	r.say(start)
	eq(t, "messages", len(gm.heard), 2)
	eq(t, "written", r.read("story-state.md"), "The person's.\n")
	eq(t, "added", r.read("party-knowledge.md"), "Changed.\nIt rains.\n")
}

// T12: killed between the beginning of the session and its first cycle, the
// session is still begun when play goes on.
func TestKilledBeforeTheFirstCycle(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	gm := r.listening("gm", gmSays("", "Welcome.")+gmSays("", "Go on."))
	r.open()
	if err := r.table.beginSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.close()
	r.open()
	if err := r.table.Play(t.Context(), Play{MaxTurns: 2}); err != nil {
		t.Fatal(err)
	}
	has(t, "first", gm.heard[0], "Event: session-start")
	has(t, "second", gm.heard[1], "Event: continue")
}

// T9: a clock that was set back prunes nothing that is new.
func TestSavesOfAClockSetBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.listening("gm", "always on Event\n  say It rains.\n")
	r.say(start)
	for i := range 14 {
		if i == 3 { // every save so far is of the future
			saves, err := story.Saves(r.dir, "ash")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range saves {
				file := filepath.Join(r.dir, ".conclave/tables/ash/saves", s.Name, "save.json")
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				year := s.Time.Format("2006")
				late := s.Time.AddDate(1, 0, 0).Format("2006")
				later := strings.ReplaceAll(string(data), `"time":"`+year, `"time":"`+late)
				if err := os.WriteFile(file, []byte(later), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := r.table.save(t.Context(), story.OwnSave(r.table.snapshot().Seq), true); err != nil {
			t.Fatal(err)
		}
		if err := r.table.note(t.Context(), story.Event{Kind: story.EventSeat}); err != nil {
			t.Fatal(err)
		}
	}
	saves, err := story.Saves(r.dir, "ash")
	if err != nil {
		t.Fatal(err)
	}
	eq(t, "saves", len(saves), 10)
	for i := 1; i < len(saves); i++ {
		if saves[i].Seq <= saves[i-1].Seq {
			t.Errorf("%s at %d comes after %s at %d", saves[i].Name, saves[i].Seq, saves[i-1].Name, saves[i-1].Seq)
		}
	}
	if last := saves[len(saves)-1]; last.Time.After(time.Now().AddDate(0, 6, 0)) {
		t.Errorf("the newest is %+v", last)
	}
}

// T6: dice that do not hold keep nothing from being restored but themselves,
// and what fails leaves nothing open.
func TestDamagedDice(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(string) error{
		"removed": os.Remove,
		"changed": func(p string) error {
			data, err := os.ReadFile(p)
			return errors.Join(err, os.WriteFile(p, []byte(strings.Replace(string(data), `"n":1,`, `"n":2,`, 1)), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			gm := r.listening("gm", "always on Event: rolls\n  say Ah.\nalways on Event\n"+
				"  say <<EOT\nIt rains.\n[ROLL: 1d20 | gm | luck]\nEOT\n")
			r.say(start)
			if _, err := r.table.Save(t.Context(), "here"); err != nil {
				t.Fatal(err)
			}
			r.close()
			if err := os.Remove(filepath.Join(r.dir, ".conclave/tables/ash/dice-head")); err != nil {
				t.Fatal(err) // the story knows as well
			}
			if err := harm(r.path(table.DiceLogFile)); err != nil {
				t.Fatal(err)
			}
			r.open()
			_, restored := r.table.Restore(t.Context(), "here")
			_, rolled := r.table.Roll(dice.Request{Expr: "1d20"})
			for what, err := range map[string]error{
				"restore": restored, "fork": r.table.Fork(t.Context(), "elm", ""), "roll": rolled,
			} {
				if !errors.As(err, new(*dice.DamageError)) || !strings.Contains(err.Error(), "conclave table dice seal ash") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if err := r.table.ready(t.Context()); err != nil {
				t.Errorf("something is open: %v", err)
			}
			if saves, err := story.Saves(r.dir, "ash"); err != nil || len(saves) != 1 {
				t.Errorf("saves: %v, %v", saves, err)
			}
			// A cycle waits, with what was said, and nobody has been asked.
			before := len(gm.heard)
			_, err := r.table.Say(t.Context(), said("We go on."))
			var cut *engine.CutError
			if !errors.As(err, &cut) || len(gm.heard) != before {
				t.Fatalf("%v, asked %d times", err, len(gm.heard)-before)
			}
			if _, err := r.table.dice.Seal("a test"); err != nil {
				t.Fatal(err)
			}
			if _, err := r.table.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			has(t, "the GM", gm.heard[before], "> We go on.")
			eq(t, "the next roll", r.lastCommit().Rolls[0], 2)
			if _, err := r.table.Restore(t.Context(), "here"); err != nil {
				t.Error(err)
			}
			r.close()
			r.open() // what was kept of the old log asks for nothing more
			if _, err := r.table.dice.Log(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A die that somebody was told of has fallen. When its line is lost before the
// cycle is committed, nobody gets another number for it: the log says that it is
// void, and so does the story.
func TestLostRollsAreNotMadeAgain(t *testing.T) {
	for name, x := range map[string]struct {
		at, gm, tilda string
		rolls         int
		warns         string
	}{
		"the game master's": {at: "gm 1 try 1", warns: "is void: it had fallen, and its line was lost", gm: "turn on session-start\n  tool roll {\"expr\": \"1d20\", \"who\": \"gm\"}\n  say It rains.\n"},
		"a player's, whose answer was taken": {at: "players 1 false 1", rolls: 1, gm: gmSays("session-start", gmContext+
			strings.Replace(prompt(tilda, "COMBAT_ACTION"), "## Request", "## Roll Required\n- 1d20+3 | Athletics | dc 10\n\n## Request", 1)+
			"[AWAIT_AI_PLAYERS: tilda-brannock]") + gmSays("Event: responses", "Hm."),
			tilda: "always\n  tool roll {\"expr\": \"1d20+3\"}\n  say I jump.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.scripts["gm"] = x.gm
			r.scripts[tilda] = x.tilda
			r.cutAfter(x.at)
			if err := os.Remove(r.path(table.DiceLogFile)); err != nil {
				t.Fatal(err)
			}
			r.open()
			if _, err := r.table.dice.Seal("a test"); err != nil {
				t.Fatal(err)
			}
			if _, err := r.table.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			report, err := dice.VerifyFile(r.path(table.DiceLogFile))
			if err != nil || report.Rolls != 0 || !report.OK() {
				t.Errorf("rolled again: %+v, %v", report, err)
			}
			e := r.lastCommit()
			eq(t, "rolls of the cycle", len(e.Rolls), x.rolls)
			has(t, "the log", strings.Join(e.Warnings, "\n"), x.warns)
		})
	}
}
