package rolls

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"conclave/dice"
	"conclave/table/gm"
)

// What a player was told has fallen, also when the log lost it before its answer
// was taken: it is neither read as another number nor made again with the rest.
func TestLostRollsOfAPlayer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := dice.Options{Path: filepath.Join(dir, "dice-log.jsonl"), SeedPath: filepath.Join(dir, "seed"), Head: filepath.Join(dir, "head")}
	open := func() *dice.Log {
		log, err := dice.OpenLog(opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { log.Close() })
		return log
	}
	log := open()
	player := NewPlayer("tilda", []gm.Roll{{Expr: "1d20+3"}}, func(req gm.Roll, what string, fallen bool) (dice.Line, error) {
		line, err := log.Roll(dice.Request{ID: what, Fallen: fallen, Who: req.Who, Expr: req.Expr, Visibility: req.Visibility})
		if err != nil {
			line.Event, line.Note = dice.EventVoid, err.Error()
		}
		return line, nil
	})
	calls := []gm.Call{{Tool: "roll", Input: json.RawMessage(`{"expr":"1d20+3"}`)},
		{Tool: "roll", Input: json.RawMessage(`{"expr":"1d6","purpose":"do I dare"}`)}}
	for _, c := range calls {
		if _, err := player.roll(c.Input, false); err != nil {
			t.Fatal(err)
		}
	}
	if fell, lost := player.Fallen(calls); len(fell) != 2 || len(lost) != 0 || fell[0].N != 1 || fell[1].N != 2 {
		t.Fatalf("fell %+v, lost %+v", fell, lost)
	}
	log.Close()
	if err := os.Remove(opt.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := dice.Seal(opt, dir, "a test"); err != nil {
		t.Fatal(err)
	}
	log = open()
	for range 2 {
		if fell, lost := player.Fallen(calls); len(fell) != 0 || len(lost) != 2 {
			t.Errorf("fell %+v, lost %+v", fell, lost)
		}
		if rest, err := player.Rest(); len(rest) != 0 || err != nil {
			t.Errorf("made again: %+v, %v", rest, err)
		}
	}
	if m := log.Mark(); m.N != 4 {
		t.Errorf("the last number is %d: two fell, and two say that they are lost", m.N)
	}
	if _, err := log.Reveal(1); err == nil {
		t.Error("what is lost was shown")
	}
}
