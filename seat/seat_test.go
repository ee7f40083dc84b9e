package seat

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/scripted"
	"conclave/audit"
	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/room"
	"conclave/toolbox"
	"conclave/transcript"
)

func TestMain(m *testing.M) {
	room.Init()
	os.Exit(m.Run())
}

func plan(t *testing.T, workspace, script string) Plan {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return Plan{
		Workspace: workspace, Run: "run-1", Role: "dragon", PromptName: "quest.confront",
		Agent: &scripted.Agent{Script: parsed}, InProcess: true,
		Room: room.Plan{Base: filepath.Join(t.TempDir(), "rooms"), Grants: []room.Grant{
			{Kind: "success-criteria", Name: "criteria.md", Bytes: []byte("1. one two three four five six seven eight nine\n")},
		}},
		Denied: []Denied{{Kind: "quest-narrative", Name: "narrative", Reason: "evaluators judge the work", Text: []byte("the party struggled mightily for weeks before it found the answer at last; one two three four five six seven eight nine")}},
	}
}

func open(t *testing.T, p Plan) *Seat {
	t.Helper()
	s, err := Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Leave(context.Background()) })
	return s
}

func said(id, text string) Turn {
	return Turn{ID: id, Parts: []audit.Part{{Origin: audit.FromEngine, Text: "Framing."}, {Origin: audit.FromPerson, Text: text}}}
}

// events returns the contexts of all events of a name on a record.
func events(t *testing.T, workspace, run, name string) []json.RawMessage {
	t.Helper()
	path, err := record.Path(workspace, run)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []json.RawMessage
	for r.Next() {
		if f := r.Frame(); f.Kind == record.KindLog {
			if event, _ := jsontext.String(jsontext.Get(f.Payload, "event")); event == name {
				out = append(out, append([]byte(nil), jsontext.Get(f.Payload, "context")...))
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestATurnLeavesItsReceipt(t *testing.T) {
	ws := t.TempDir()
	p := plan(t, ws, "turn on work\n read criteria.md\n read ../../secret\n tool submit {\"verdict\":\"slain\"}\n usage 3 4\n say Slain.")
	got := ""
	p.Tools = []toolbox.Tool{{Name: "submit", Description: "hand in", Schema: json.RawMessage(`{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`),
		Handle: func(_ context.Context, in json.RawMessage) (string, error) { got = string(in); return "thanks", nil }}}
	s := open(t, p)
	reply, err := s.Take(t.Context(), said("t1", "here is the work"))
	if err != nil || reply.Text != "Slain." {
		t.Fatalf("%q, %v", reply.Text, err)
	}
	if got != `{"verdict":"slain"}` {
		t.Errorf("the tool got %q", got)
	}
	seal, err := s.Close(t.Context(), "done")
	if err != nil {
		t.Fatal(err)
	}
	path, _ := record.Path(ws, "run-1")
	if report, err := record.VerifyAgainst(path, seal.Head); err != nil || report.Sound() != nil || !report.Sealed {
		t.Errorf("the record: %+v, %v", report, err)
	}
	receipts := events(t, ws, "run-1", audit.EventReceipt)
	if len(receipts) != 1 {
		t.Fatalf("%d receipts, want 1", len(receipts))
	}
	var r audit.Receipt
	if err := json.Unmarshal(receipts[0], &r); err != nil {
		t.Fatal(err)
	}
	if !r.InProcess || r.Role != "dragon" || r.ModelInput != audit.InputNone || r.Attempts != 1 || len(r.Given) != 1 ||
		r.Given[0].Kind != "success-criteria" || len(r.Given[0].SHA256) != 64 || len(r.Tools) != 1 || r.Usage.Output != 4 {
		t.Errorf("receipt = %+v", r)
	}
	var opened audit.Room
	if err := json.Unmarshal(events(t, ws, "run-1", audit.EventRoom)[0], &opened); err != nil {
		t.Fatal(err)
	}
	if len(opened.Denied) != 1 || opened.Denied[0].Windows == 0 || opened.Denied[0].Windows > 13 || len(opened.Canaries) != 0 {
		t.Errorf("room = %+v; the shared phrase must not be fingerprinted", opened)
	}
	if left, _ := filepath.Glob(filepath.Join(ws, ".conclave", "canaries", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestADurableReplyIsNeverAskedForAgain(t *testing.T) {
	ws := t.TempDir()
	script := "turn on first\n say One.\nturn on second\n say Two.\n"
	s := open(t, plan(t, ws, script))
	if _, err := s.Take(t.Context(), said("t1", "first")); err != nil {
		t.Fatal(err)
	}
	if err := s.Leave(t.Context()); err != nil { // as if the plug had been pulled
		t.Fatal(err)
	}

	again := open(t, plan(t, ws, script))
	if past := again.History().Turn("t1"); !past.Finished || past.Reply.Text != "One." {
		t.Errorf("on the record: %+v", past)
	}
	if r, err := again.Take(t.Context(), said("t1", "first")); err != nil || r.Text != "One." {
		t.Errorf("the same turn again: %q, %v", r.Text, err)
	}
	if r, err := again.Take(t.Context(), said("t2", "second")); err != nil || r.Text != "Two." {
		t.Errorf("the next turn: %q, %v", r.Text, err)
	}
	if n := len(events(t, ws, "run-1", audit.EventMessage)); n != 2 {
		t.Errorf("%d messages were sent, want 2", n)
	}
	if _, err := again.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}

	over := open(t, plan(t, ws, script))
	if r, err := over.Take(t.Context(), said("t2", "second")); err != nil || r.Text != "Two." {
		t.Errorf("a run that is over still says what was said: %q, %v", r.Text, err)
	}
	if _, err := over.Take(t.Context(), said("t3", "third")); err == nil {
		t.Error("a run that is over takes a new turn")
	}
}

func TestAnUnfinishedTurnIsAskedAgainAndCounted(t *testing.T) {
	ws := t.TempDir()
	s := open(t, plan(t, ws, "turn\n say half\n die of it"))
	if _, err := s.Take(t.Context(), said("t1", "x")); !errors.Is(err, agent.ErrStopped) {
		t.Fatalf("a dying agent gives %v", err)
	}
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := open(t, plan(t, ws, "turn\n say whole"))
	if r, err := again.Take(t.Context(), said("t1", "x")); err != nil || r.Text != "whole" {
		t.Fatalf("%q, %v", r.Text, err)
	}
	receipts := events(t, ws, "run-1", audit.EventReceipt)
	if len(receipts) != 2 || !strings.Contains(string(receipts[1]), `"attempts":2`) {
		t.Errorf("receipts = %s", receipts)
	}
}

func TestHistoryForASessionThatWasLost(t *testing.T) {
	h := &History{}
	if told := h.retold(); told != "" {
		t.Errorf("who has said nothing is told %q", told)
	}
	h.add(audit.Message{Turn: "t1", Attempt: 1, Parts: []audit.Part{{Origin: audit.FromPerson, Text: "What now?"}}})
	h.add(audit.Reply{Turn: "t1", Attempt: 1, Text: "Wait."})
	if told := h.retold(); !strings.Contains(told, "What now?") || !strings.Contains(told, "Wait.") {
		t.Errorf("history = %q", told)
	}
	// Lost a second time: everything is told, and nothing of it twice.
	h.add(audit.Message{Turn: "t2", Attempt: 1, Parts: []audit.Part{
		{Origin: audit.FromEngine, Text: h.retold()}, {Origin: audit.FromPerson, Text: "And then?"},
	}})
	h.add(audit.Reply{Turn: "t2", Attempt: 1, Text: "Go."})
	told := h.retold()
	for _, once := range []string{beginsAnew, "What now?", "Wait.", "And then?", "Go."} {
		if n := strings.Count(told, once); n != 1 {
			t.Errorf("%q is told %d times: %q", once, n, told)
		}
	}
}

// TestARecordKilledAtBirth: a process that died before the header was whole
// must not block the run for ever; a record that has begun is never removed.
func TestARecordKilledAtBirth(t *testing.T) {
	ws := t.TempDir()
	s := open(t, plan(t, ws, "turn\n say One."))
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	path, err := record.Path(ws, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 3, 8, 30} {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(t, plan(t, ws, "turn\n say One."))
		if r, err := again.Take(t.Context(), said("t1", "x")); err != nil || r.Text != "One." {
			t.Errorf("cut at byte %d: %q, %v", n, r.Text, err)
		}
		if err := again.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	bad := append([]byte("XXXXXXXX"), whole[8:]...)
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), plan(t, ws, "turn\n say One.")); err == nil {
		t.Error("a damaged record was opened")
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("a damaged record was removed: %v", err)
	}
}

// TestTheTranscriptOfAFailedRunIsStopped: a run that failed and was left has its
// summary on the record at once, and when it goes on one of everything; a seat
// that was opened and left says no more than that it began.
func TestTheTranscriptOfAFailedRunIsStopped(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	s := open(t, plan(t, ws, "turn\n say half\n die of it"))
	if _, err := s.Take(t.Context(), said("t1", "x")); err == nil {
		t.Fatal("the agent did not die")
	}
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	stops := events(t, ws, "run-1", transcript.EventStop)
	if len(stops) != 1 || !strings.Contains(string(stops[0]), `"total_entries":`) {
		t.Fatalf("stops after the failure: %s", stops)
	}
	if err := open(t, plan(t, ws, "turn\n say whole")).Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(events(t, ws, "run-1", transcript.EventStop)); n != 1 {
		t.Errorf("%d stops, though nothing was emitted since the first", n)
	}
	again := open(t, plan(t, ws, "turn\n say whole"))
	if _, err := again.Take(t.Context(), said("t1", "x")); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	if starts := events(t, ws, "run-1", transcript.EventStart); len(starts) != 1 {
		t.Errorf("%d starts", len(starts))
	}
	path, err := record.Path(ws, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := transcript.Check(func(yield func([]byte) bool) {
		for r.Next() {
			if f := r.Frame(); f.Kind == record.KindLog && !yield(f.Payload) {
				return
			}
		}
	}); err != nil {
		t.Errorf("the log of a run with two stops: %v", err)
	}
}
