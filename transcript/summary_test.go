package transcript

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestSummaryOfARun: what the stop of a run says of it, member by member.
func TestSummaryOfARun(t *testing.T) {
	t.Parallel()
	store := &lineStore{}
	clock := noon
	e := newEmitter(t, Options{Store: store, Now: func() time.Time { clock = clock.Add(time.Second); return clock }})
	emit(t, e, Item{Type: UserMessage})
	emit(t, e, Item{Type: Thinking, Source: Subagent("a")})
	emit(t, e, Item{Type: Thinking})
	last := emit(t, e, Item{Type: AssistantMessage, Source: Subagent("a")})
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	var stop struct {
		Event   string
		Context map[string]any
	}
	if err := json.Unmarshal(store.lines[4], &stop); err != nil || stop.Event != EventStop {
		t.Fatalf("%s: %v", store.lines[4], err)
	}
	for name, want := range map[string]any{
		"total_entries":     4.0,
		"entries_by_type":   map[string]any{"user_message": 1.0, "thinking": 2.0, "assistant_message": 1.0},
		"entries_by_source": map[string]any{"main": 2.0, "subagent:a": 2.0},
		"sources":           []any{"main", "subagent:a"},
		"first_timestamp":   noon.Add(time.Second).UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano),
		"last_timestamp":    last.Timestamp.Format(time.RFC3339Nano),
		"errors":            0.0,
	} {
		if got := stop.Context[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	summary, err := Check(func(yield func([]byte) bool) {
		for _, line := range store.lines {
			if !yield(line) {
				return
			}
		}
	})
	if err != nil || summary.TotalEntries != 4 || summary.EntriesBySource["main"] != 2 || len(summary.Sources) != 2 {
		t.Errorf("read back: %+v, %v", summary, err)
	}
}
