package runs

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"conclave/archive/archivetest"
)

// Somebody else rebuilds the archive that is open here: whoever reads on reads the
// same entries under the same numbers, and what comes then comes behind them.
func TestRebuiltBesideAReader(t *testing.T) {
	l := &lanesOfRun{root: t.TempDir()}
	at := time.Now().Add(-time.Hour)
	for agent := range 3 {
		for n := range 40 {
			at = at.Add(time.Second)
			appendTo(t, l.path(agent), l.line(agent, at, n%3))
		}
	}
	file := filepath.Join(t.TempDir(), "archive.db")
	a, other := archivetest.OpenAt(t, file), archivetest.OpenAt(t, file)
	archivetest.Refresh(t, a, l.root)
	s := shelf(t, a)
	h := s.sheet(t, captured)
	window := func(h *Sheet) []Entry {
		t.Helper()
		w, err := s.Window(t.Context(), h, 0, MaxWindow)
		if err != nil {
			t.Fatal(err)
		}
		return w.Items
	}
	before := window(h)
	list := s.all(t)
	for range 2 {
		if _, err := other.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := window(h); !reflect.DeepEqual(before, after) { // nobody has told the shelf
			t.Fatalf("%d entries after the rebuild, %d before, or others: %+v", len(after), len(before), after[0])
		}
		if _, _, _, err := s.Whole(t.Context(), h, 7); err != nil {
			t.Error(err)
		}
		names, err := s.Update(t.Context())
		if err != nil || !slices.Contains(names, captured) {
			t.Errorf("changed: %v %v", names, err)
		}
		if names, err := s.Update(t.Context()); err != nil || len(names) != 0 {
			t.Errorf("told twice: %v %v", names, err)
		}
		h = s.sheet(t, captured)
		if h.Epoch != 0 || !reflect.DeepEqual(window(h), before) {
			t.Errorf("numbers are others: epoch %d", h.Epoch)
		}
		if again := s.all(t); !reflect.DeepEqual(titlesOf(again), titlesOf(list)) {
			t.Errorf("%v in the list, before %v", titlesOf(again), titlesOf(list))
		}
	}
	appendTo(t, l.path(0), l.line(0, time.Now(), 0))
	archivetest.Refresh(t, other, l.root)
	names, err := s.Update(t.Context())
	if err != nil || !slices.Contains(names, captured) {
		t.Fatalf("changed: %v %v", names, err)
	}
	after := window(s.sheet(t, captured))
	if len(after) != len(before)+1 || !slices.ContainsFunc(after, func(e Entry) bool {
		return e.Text == fmt.Sprintf("line %d", l.lines)
	}) {
		t.Errorf("%d entries and then %d", len(before), len(after))
	}
}

func titlesOf(list []Run) (all []string) {
	for _, r := range list {
		all = append(all, r.ID, r.Title, r.Last, r.Project)
	}
	return all
}
