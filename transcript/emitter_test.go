package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

// lineStore keeps lines in memory; it refuses those that bad says.
type lineStore struct {
	lines [][]byte
	bad   func(n int) bool
	calls int
}

var errRefused = errors.New("refused")

func (s *lineStore) AppendLog(line []byte) error {
	s.calls++
	if s.bad != nil && s.bad(s.calls) {
		return errRefused
	}
	s.lines = append(s.lines, bytes.Clone(line))
	return nil
}

var noon = time.Date(2026, 2, 18, 12, 0, 0, 123456789, time.FixedZone("far", 3600))

func newEmitter(t testing.TB, o Options) *Emitter {
	t.Helper()
	if o.PromptName == "" {
		o.PromptName = "quest.consult.cat"
	}
	if o.Adapter == "" {
		o.Adapter = AdapterScripted
	}
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	e, err := NewEmitter(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func emit(t testing.TB, e *Emitter, item Item) Entry {
	t.Helper()
	entry, err := e.Emit(item)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func TestEmitterCorrectEnvelope(t *testing.T) {
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store})
	emit(t, e, Item{Type: AssistantMessage, SessionID: "550e8400", Detail: json.RawMessage(`{"sdk_entry":{"b":1, "a":2.50}}`), Raw: []byte(`{"b":1, "a":2.50}`)})
	want := `{"timestamp":"2026-02-18T11:00:00.123456+00:00","level":"DEBUG","logger":"conclave.transcript",` +
		`"event":"transcript.entry","message":"transcript entry: assistant_message","context":{` +
		`"prompt_name":"quest.consult.cat","adapter":"scripted","entry_type":"assistant_message","sequence_number":1,` +
		`"source":"main","timestamp":"2026-02-18T11:00:00.123456+00:00","session_id":"550e8400",` +
		`"detail":{"sdk_entry":{"b":1, "a":2.50}},"raw":"{\"b\":1, \"a\":2.50}"}}`
	if got := string(store.lines[0]); got != want {
		t.Errorf("line:\n%s\nwant:\n%s", got, want)
	}
	if !json.Valid(store.lines[0]) {
		t.Error("the line is no JSON")
	}
}

func TestEmitterSequenceNumbering(t *testing.T) {
	e := newEmitter(t, Options{Store: &lineStore{}})
	var got []string
	for _, source := range []string{"", Subagent("x"), "", Subagent("x"), Subagent("y"), Main} {
		entry := emit(t, e, Item{Type: Thinking, Source: source})
		got = append(got, fmt.Sprint(entry.Source, " ", entry.Sequence))
	}
	want := []string{"main 1", "subagent:x 1", "main 2", "subagent:x 2", "subagent:y 1", "main 3"}
	if !slices.Equal(got, want) {
		t.Errorf("numbers = %v, want %v", got, want)
	}
}

func TestEmitterGivesNumbersOnSuccessOnly(t *testing.T) {
	store := &lineStore{bad: func(n int) bool { return n == 2 || n == 3 }} // the entry, and the error about it
	e := newEmitter(t, Options{Store: store})
	emit(t, e, Item{Type: UserMessage})
	if _, err := e.Emit(Item{Type: UserMessage}); !errors.Is(err, errRefused) {
		t.Fatalf("a refused entry gives %v, want the store's error", err)
	}
	if entry := emit(t, e, Item{Type: UserMessage}); entry.Sequence != 2 {
		t.Errorf("the number after a refusal is %d, want 2", entry.Sequence)
	}
	if s := e.tally.summary(); s.TotalEntries != 2 || e.errs != 1 {
		t.Errorf("entries %d, errors %d; want 2 and 1", s.TotalEntries, e.errs)
	}
}

func TestEmitterErrorSuppressionWithoutAStore(t *testing.T) {
	stream := NewStream(failing{}, StreamOptions{})
	e := newEmitter(t, Options{Stream: stream})
	for range 10 {
		emit(t, e, Item{Type: ToolUse})
	}
	if err := stream.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := stream.Stats(); s.Failed != 10 || s.Delivered != 0 {
		t.Errorf("stats = %+v, want 10 failed", s)
	}
}

func TestEmitterKeepsADetailThatIsNoJSON(t *testing.T) {
	for _, detail := range []string{`{"a":`, `nonsense`, `[1]`, `"text"`, "{\"a\":\"\xff\"} x"} {
		store := &lineStore{}
		e := newEmitter(t, Options{Store: store})
		emit(t, e, Item{Type: Unknown, Detail: json.RawMessage(detail), Raw: []byte("r")})
		if len(store.lines) != 2 || e.errs != 1 {
			t.Fatalf("%q: %d lines, %d errors; want the entry and one error", detail, len(store.lines), e.errs)
		}
		entry, err := ParseEntry(store.lines[0])
		if err != nil {
			t.Fatalf("%q: %v", detail, err)
		}
		if string(entry.Raw) != "r" || !strings.Contains(string(entry.Detail), "undecodable") {
			t.Errorf("%q: detail %s, raw %q", detail, entry.Detail, entry.Raw)
		}
		if !strings.Contains(string(store.lines[1]), eventError) || !strings.Contains(string(store.lines[1]), `"level":"WARNING"`) {
			t.Errorf("%q: the error is logged as %s", detail, store.lines[1])
		}
	}
}

func TestEmitterKeepsOneLinePerEntry(t *testing.T) {
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store, PromptName: "two\nlines"})
	emit(t, e, Item{Type: Unknown, Source: "subagent:a\nb", Detail: json.RawMessage("{\r\n \"a\" : \"x\\n\"\n}"), Raw: []byte("1\n2\r3\u2028\xff")})
	if bytes.ContainsAny(store.lines[0], "\n\r") {
		t.Fatalf("a line break in %q", store.lines[0])
	}
	entry, err := ParseEntry(store.lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if string(entry.Detail) != `{"a":"x\n"}` || string(entry.Raw) != "1\n2\r3\u2028\xff" || entry.Source != "subagent:a\nb" {
		t.Errorf("came back as %+v", entry)
	}
}

func TestEmitterContinuesItsNumbers(t *testing.T) {
	store := &lineStore{}
	first := newEmitter(t, Options{Store: store})
	emit(t, first, Item{Type: UserMessage})
	emit(t, first, Item{Type: Thinking, Source: Subagent("x")})
	so := Summarise(Reconstruct(slices.Values(store.lines)).Entries)
	second := newEmitter(t, Options{Store: store, Continue: &so})
	emit(t, second, Item{Type: UserMessage})
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}
	if s, err := Check(slices.Values(store.lines)); err != nil || s.TotalEntries != 3 {
		t.Errorf("after continuing: %+v, %v", s, err)
	}
}

func TestEmitterEvents(t *testing.T) {
	store := &lineStore{}
	e := newEmitter(t, Options{Store: store})
	for _, err := range []error{
		e.Start(), e.PathDiscovered("/p/s.jsonl", "hook"), e.SubagentDiscovered(Subagent("a"), "/p/a.jsonl", "scan"),
		e.Event(slog.LevelInfo, "turn.message", "said", map[string]string{"text": "<hi> & bye"}), e.Stop(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Event(slog.LevelInfo, "bad", "bad", func() {}); err == nil {
		t.Error("an event that cannot be encoded gives no error")
	}
	want := []string{EventStart, EventPathDiscovered, EventSubagentDiscovered, "turn.message", EventStop}
	for i, line := range store.lines {
		var r struct {
			Event   string
			Context struct {
				PromptName string `json:"prompt_name"`
				Adapter    string
			}
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if r.Event != want[i] || r.Context.PromptName != "quest.consult.cat" || r.Context.Adapter != AdapterScripted {
			t.Errorf("line %d is %+v, want %s", i, r, want[i])
		}
	}
	if last := store.lines[4]; !bytes.Contains(last, []byte(`"total_entries":0,"entries_by_type":{},"entries_by_source":{}`)) {
		t.Errorf("the stop is %s", last)
	}
}

func TestNewEmitterWantsNames(t *testing.T) {
	for _, o := range []Options{{}, {PromptName: "p"}, {Adapter: "a"}} {
		if _, err := NewEmitter(o); err == nil {
			t.Errorf("NewEmitter(%+v) gives no error", o)
		}
	}
}

// A detail that is known to be JSON need not be on one line.
func TestCheckedDetailIsPutOnOneLine(t *testing.T) {
	var store lineStore
	e, err := NewEmitter(Options{PromptName: "p", Adapter: "a", Store: &store})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := e.Emit(Item{Type: UserMessage, Detail: []byte("{\"a\":\r\n1}"), Checked: true})
	if err != nil || string(entry.Detail) != `{"a":1}` {
		t.Fatalf("%s, %v", entry.Detail, err)
	}
}

// What must not be kept is taken out before anybody has it.
func TestClean(t *testing.T) {
	var lines []string
	store := storeFunc(func(line []byte) error { lines = append(lines, string(line)); return nil })
	e, err := NewEmitter(Options{PromptName: "p", Adapter: AdapterOffline, Store: store,
		Clean: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("SECRET"), []byte("…")) }})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := e.Emit(Item{Type: AssistantMessage, Detail: json.RawMessage(`{"text":"a SECRET"}`), Raw: []byte("raw SECRET"), Fault: "no SECRET"})
	if err = errors.Join(err, e.Event(slog.LevelInfo, "some.event", "m", map[string]string{"a": "SECRET"})); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(lines, "\n") + string(entry.Detail) + string(entry.Raw)
	if len(lines) != 3 || strings.Contains(all, "SECRET") || !strings.Contains(all, `{"text":"a …"}`) {
		t.Errorf("%s", all)
	}
}

type storeFunc func([]byte) error

func (f storeFunc) AppendLog(line []byte) error { return f(line) }
