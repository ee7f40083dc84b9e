package flow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"conclave/internal/sample"
	"conclave/table"
	"conclave/table/story"
)

// A player is told the scene that it is asked in, and not the one before: also where
// it begins in this very cycle, and where none was named.
func TestPlayersAreToldTheirScene(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{"[SCENE: The Mill Loft | at night]\n": "Scene: The Mill Loft\n", "": "Scene: Opening\n"} {
		r := newRig(t, nil)
		r.listening("gm", gmSays("session-start", said+"Rain.\n"+gmContext+prompt(tilda, "QUICK_REACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock]")+
			gmSays("Event: responses", "It passes."))
		k := r.listening(tilda, "always\n  say I wait.\n")
		r.say(start)
		has(t, "the player's message", strings.Join(k.heard, "\n"), want)
		r.end()
	}
}

// TestASilentGM: a game master who says nothing has given no answer. The table
// asks three times, waits, and asks again when it is resumed; nothing is
// committed.
func TestASilentGM(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	gm, words := &talker{}, ""
	gm.reply = func(context.Context, string) (string, error) { return words, nil }
	r.agents["gm"] = gm
	r.open()
	err := r.table.Play(t.Context(), Play{})
	if err == nil {
		t.Fatal("it went on")
	}
	has(t, "message", err.Error(), "the table waits: empty: the GM said nothing")
	eq(t, "asked", len(gm.heard), gmTries)
	eq(t, "the same", gm.heard[0], gm.heard[1])
	if !r.table.InSession() || r.table.snapshot().Cycle != 0 {
		t.Error("something was committed, or the session was ended")
	}
	words = "Here I am."
	results, err := r.table.Recover(t.Context())
	if err != nil || len(results) != 1 || story.TextOf(results[0].Blocks, table.SeatTable, table.Roster{}.Called) != words {
		t.Errorf("%+v, %v", results, err)
	}
}

// TestAGMWhoOnlyWrites: a table that nobody watches does not go on for ever with
// a game master who tells nobody anything.
func TestAGMWhoOnlyWrites(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.agents["gm"] = &talker{reply: says("[FILE+: story-state.md]\nHm.\n[/FILE]")}
	r.open()
	if err := r.table.Play(t.Context(), Play{}); !errors.Is(err, errSilent) {
		t.Error(err)
	}
}

// TestOwnSavePoints: the table keeps the last ten of its own, and all of a
// person's.
func TestOwnSavePoints(t *testing.T) {
	t.Parallel()
	sample.Long(t)
	r := newRig(t, nil)
	scenes := 0
	r.agents["gm"] = &talker{reply: func(context.Context, string) (string, error) {
		scenes++
		return fmt.Sprintf("[SCENE: Room %d]\n\nA room.\n", scenes), nil
	}}
	r.opts.Keep = true
	r.open()
	if err := r.table.Play(t.Context(), Play{MaxTurns: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.table.Save(t.Context(), "auto-mine"); err != nil {
		t.Fatal(err)
	}
	if err := r.table.Play(t.Context(), Play{MaxTurns: 12, EndAt: true}); err != nil {
		t.Fatal(err)
	}
	saves, err := story.Saves(r.dir, "ash")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range saves {
		names = append(names, s.Scene)
	}
	eqs(t, "kept", names, "Room 1", "Room 5", "Room 6", "Room 7", "Room 8", "Room 9", "Room 10", "Room 11", "Room 12", "Room 13", "Room 13")
	if _, err := r.table.Restore(t.Context(), saves[3].Name); err != nil {
		t.Fatal(err)
	}
	if s := r.table.snapshot(); s.Scene.Title != "Room 7" {
		t.Errorf("back at %+v", s.Scene)
	}
}
