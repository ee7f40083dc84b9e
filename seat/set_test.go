package seat

import (
	"context"
	"errors"
	"os"
	"testing"

	"conclave/audit"
	"conclave/engine"
	"conclave/record"
)

var _ engine.AgentTurn = (*EngineTurn)(nil)

// turnIn is a turn at a seat of a set, and how often the seat was opened.
func turnIn(t *testing.T, set *Set, ws, script, id string, opened *int) *EngineTurn {
	t.Helper()
	return &EngineTurn{Set: set, Run: "run-1", Turn: said(id, id), Plan: func(context.Context) (Plan, error) {
		*opened++
		return plan(t, ws, script), nil
	}}
}

func sealedAs(t *testing.T, ws, run string) string {
	t.Helper()
	path, err := record.Path(ws, run)
	if err != nil {
		t.Fatal(err)
	}
	report, err := record.Verify(path)
	if err != nil || report.Sound() != nil {
		t.Fatalf("%+v, %v", report, err)
	}
	return report.Seal.Reason
}

// A seat is opened by the first turn that is not on the record, and once.
func TestASetOpensWhatItNeeds(t *testing.T) {
	ws, opened := t.TempDir(), 0
	const script = "turn\n say One.\nturn\n say Two.\n"
	set := NewSet(ws)
	if set.Begun("run-1") {
		t.Error("a run has begun that nobody began")
	}
	for i, id := range []string{"t1", "t2"} {
		got, err := engine.TakeTurn(t.Context(), turnIn(t, set, ws, script, id, &opened))
		if err != nil || got.Asked != 1 || opened != 1 {
			t.Fatalf("turn %d: %+v, %v; opened %d times", i+1, got, err, opened)
		}
	}
	if got := set.Runs(); len(got) != 1 || !set.Begun("run-1") {
		t.Errorf("open are %v", got)
	}
	if err := set.LeaveAll(); err != nil {
		t.Fatal(err)
	}
	got, err := engine.TakeTurn(t.Context(), turnIn(t, NewSet(ws), ws, script, "t2", &opened))
	if err != nil || got.Asked != 0 || got.Reply.Text != "Two." || opened != 1 {
		t.Errorf("from the record: %+v, %v; opened %d times", got, err, opened)
	}
}

// A turn that failed leaves its seat: the next attempt gets a new session.
func TestASetLeavesASeatWhoseTurnFailed(t *testing.T) {
	ws, opened := t.TempDir(), 0
	set := NewSet(ws)
	if _, err := engine.TakeTurn(t.Context(), turnIn(t, set, ws, "turn\n die of it", "t1", &opened)); err == nil {
		t.Fatal("nobody died")
	}
	if got := set.Runs(); len(got) > 0 {
		t.Errorf("open are %v", got)
	}
	got, err := engine.TakeTurn(t.Context(), turnIn(t, set, ws, "turn\n say One.", "t1", &opened))
	if err != nil || got.Attempts != 2 || got.Reply.Text != "One." {
		t.Errorf("again: %+v, %v", got, err)
	}
	if err := set.LeaveAll(); err != nil {
		t.Fatal(err)
	}
}

// A run is sealed whether its seat is open or was left, by another process
// too; once, and with a last word.
func TestASetSealsRuns(t *testing.T) {
	for _, open := range []bool{true, false} {
		ws, opened, told := t.TempDir(), 0, 0
		set := NewSet(ws)
		if _, err := engine.TakeTurn(t.Context(), turnIn(t, set, ws, "turn\n say One.", "t1", &opened)); err != nil {
			t.Fatal(err)
		}
		if !open {
			if err := set.LeaveAll(); err != nil {
				t.Fatal(err)
			}
			set = NewSet(ws)
		}
		last := func(s *Seat) error { told++; return s.Event("test.last", "last", map[string]int{"n": told}) }
		for range 2 {
			if err := set.Seal("run-1", "done", last); err != nil {
				t.Fatal(err)
			}
		}
		path, _ := record.Path(ws, "run-1")
		seen := 0
		h, err := ReadHistory(path, func(event string, _ []byte) error {
			if event == "test.last" {
				seen++
			}
			return nil
		})
		if err != nil || !h.Sealed() || told != 1 || seen != 1 || sealedAs(t, ws, "run-1") != "done" {
			t.Errorf("open %v: told %d, seen %d, sealed as %q, %v", open, told, seen, sealedAs(t, ws, "run-1"), err)
		}
		if got := h.Receipts(); len(got) != 1 || got[0].Turn != "t1" || len(h.Given()) != 1 || h.Header.Attributes["role"] != "dragon" {
			t.Errorf("the history: %+v, %+v, %+v", got, h.Given(), h.Header)
		}
	}
	set := NewSet(t.TempDir())
	if err := set.Seal("run-1", "done", nil); err != nil {
		t.Errorf("a run that never began: %v", err)
	}
	if _, err := set.History("run-1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has a history: %v", err)
	}
}

// TestSealOfADamagedRecord: what cannot be read is no run that never began.
func TestSealOfADamagedRecord(t *testing.T) {
	ws := t.TempDir()
	s := open(t, plan(t, ws, "turn\n say Yes."))
	if _, err := s.Take(t.Context(), said("t1", "x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	path, err := record.Path(ws, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 0xff
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	set := NewSet(ws)
	if err := set.Seal("run-1", "done", nil); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("sealed: %v", err)
	}
	if _, err := (&EngineTurn{Set: set, Run: "run-1", Turn: said("t1", "x")}).Find(t.Context()); err == nil {
		t.Error("the turn was not found, and nobody was told why")
	}
}

// The calls of a turn are those of its last attempt, and what is called after
// the reply is none of it: so the history of an open seat is the record's.
func TestCallsOfATurn(t *testing.T) {
	ws := t.TempDir()
	p := plan(t, ws, "turn\n tool submit {\"n\":1}\n die of it")
	p.Tools = submitTool()
	s := open(t, p)
	if _, err := s.Take(t.Context(), said("t1", "x")); err == nil {
		t.Fatal("nobody died")
	}
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	p = plan(t, ws, "turn\n tool submit {\"n\":2}\n tool submit {\"n\":\"no\"}\n say Done.")
	p.Tools = submitTool()
	s = open(t, p)
	if _, err := s.Take(t.Context(), said("t1", "x")); err != nil {
		t.Fatal(err)
	}
	live := s.History().Turn("t1")
	if _, err := s.toolbox.CallTool(t.Context(), "submit", []byte(`{"n":3}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	path, _ := record.Path(ws, "run-1")
	h, err := ReadHistory(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range []PastTurn{live, s.History().Turn("t1"), h.Turn("t1")} {
		c := turn.Calls
		if turn.Attempts != 2 || !turn.Finished || turn.Words() != "x" || len(c) != 2 || c[0].Failed || c[0].Input != `{"n":2}` ||
			c[0].Result != "thanks" || !c[1].Failed || !c[1].Ended {
			t.Errorf("the turn is %+v", turn)
		}
	}
	if turn := h.Turn("t2"); turn.Attempts != 0 || turn.Finished || turn.Words() != "" {
		t.Errorf("a turn that was never asked: %+v", turn)
	}
	if got := h.Turn("t1").Asked; len(got) != 2 || got[0].Origin != audit.FromEngine {
		t.Errorf("asked %+v", got)
	}
}
