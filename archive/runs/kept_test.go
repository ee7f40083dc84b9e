package runs

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/archive/archivetest"
	"conclave/internal/sample"
)

// figures are everything that a shelf knows of its sources and responses.
func (s *Shelf) figures() map[string]any {
	sources := map[int64]source{}
	for id, src := range s.sources {
		one := *src
		one.spent = nil
		for model, spent := range src.spent {
			sum := *spent
			sum.cost = rounded(sum.cost)
			if one.spent == nil {
				one.spent = map[string]*spending{}
			}
			one.spent[model] = &sum
		}
		if len(one.attributes) == 0 {
			one.attributes = nil
		}
		sources[id] = one
	}
	held := map[digest]entryCost{}
	for d, e := range s.ledger.held {
		one := *e
		one.source = nil
		held[d] = one
	}
	return map[string]any{"sources": sources, "held": held, "parents": s.ledger.parents, "origins": s.origins,
		"rest": len(s.ledger.rest)}
}

// rounded is a sum whatever the order in which it was added up.
func rounded(cost float64) float64 { return math.Round(cost*1e9) / 1e9 }

// alike holds that two shelves know the same.
func alike(t *testing.T, what string, got, want *Shelf) {
	t.Helper()
	a, b := got.figures(), want.figures()
	for name := range b {
		if !reflect.DeepEqual(a[name], b[name]) {
			t.Errorf("%s: %s is another", what, name)
		}
	}
	x, y := got.all(t), want.all(t)
	for _, list := range [][]Run{x, y} {
		for i, r := range list {
			if r.Cost != nil {
				cost := rounded(*r.Cost)
				list[i].Cost = &cost
			}
		}
	}
	if len(x) != len(y) {
		t.Fatalf("%s: %d runs and not %d", what, len(x), len(y))
	}
	for i := range x {
		if !reflect.DeepEqual(x[i], y[i]) {
			t.Errorf("%s: a run is\n%+v\nand not\n%+v", what, x[i], y[i])
		}
	}
}

// recalled is a new shelf, which must have come from what was kept, or must not.
func recalled(t *testing.T, a *archive.Archive, kept bool) *Shelf {
	t.Helper()
	s := shelf(t, a)
	if s.unkept == kept {
		t.Errorf("taken from what was kept: %v, want %v", !s.unkept, kept)
	}
	return s
}

// What was kept is what was counted: of everything that was captured.
func TestKept(t *testing.T) {
	a, s := fixtures(t)
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	alike(t, "kept", recalled(t, a, true), s)
	before, err := os.Stat(s.keptFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(s.keptFile()); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was written again though nothing has changed: %v", err)
	}
	if _, err := a.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	alike(t, "rebuilt", recalled(t, a, false), shelf(t, a))
}

// Who takes up what was kept, and then what has come since, has what somebody has who
// counts everything: after every step of sessions that grow, come, and share entries.
func TestKeptAndGrown(t *testing.T) {
	root := t.TempDir()
	a := archivetest.Open(t)
	draw := sample.Rand(t)
	var sessions [][]string
	for seed := range uint64(3) {
		sessions = append(sessions, strings.SplitAfter(string(archivetest.Session(t, seed+17, 150<<10)), "\n"))
	}
	at := make([]int, len(sessions))
	for step := range sample.Count(4, 8, 60) {
		i := draw.IntN(len(sessions))
		to := min(len(sessions[i]), at[i]+1+draw.IntN(len(sessions[i])/4))
		for _, name := range []string{"a", "fork"}[:1+draw.IntN(2)] { // some of it stands in two files
			path := filepath.Join(root, "projects", "-p", name+string(rune('0'+i))+".jsonl")
			appendTo(t, path, strings.Join(sessions[i][at[i]:to], ""))
		}
		at[i] = to
		archivetest.Refresh(t, a, root)
		got := shelf(t, a)
		if draw.IntN(3) > 0 {
			if err := got.Keep(); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(got.keptFile())
		if err == nil {
			if err := os.Remove(got.keptFile()); err != nil {
				t.Fatal(err)
			}
		}
		alike(t, "step "+string(rune('0'+step%10)), got, recalled(t, a, false))
		if err == nil {
			if err := os.WriteFile(got.keptFile(), kept, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A file that is cut, changed, of another form or of another archive is as none.
func TestKeptIsChecked(t *testing.T) {
	root := t.TempDir()
	a := archivetest.Open(t)
	appendTo(t, filepath.Join(root, "projects", "-p", "a.jsonl"), string(archivetest.Session(t, 5, 40<<10)))
	archivetest.Refresh(t, a, root)
	s := recalled(t, a, false)
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(s.keptFile())
	if err != nil {
		t.Fatal(err)
	}
	draw := sample.Rand(t)
	for n := range sample.Count(20, 60, 2000) {
		bad := append([]byte{}, kept...)
		if at := draw.IntN(len(bad)); n%2 == 0 {
			bad = bad[:at]
		} else {
			bad[at] ^= byte(1 + draw.IntN(255))
		}
		if New(a).unfold(bad, s.rebuilt) {
			t.Fatal("what was damaged is taken up")
		}
	}
	other := archivetest.Open(t)
	archivetest.Refresh(t, other, root)
	if err := os.WriteFile(New(other).keptFile(), kept, 0o600); err != nil {
		t.Fatal(err)
	}
	alike(t, "of another archive", recalled(t, other, false), shelf(t, other))
	if err := os.WriteFile(s.keptFile(), kept, 0o600); err != nil {
		t.Fatal(err)
	}
	alike(t, "whole", recalled(t, a, true), s)
}
