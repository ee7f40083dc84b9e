package runs

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/archivetest"
	"conclave/transcript"
)

// fixtures is an archive of everything that was captured.
func fixtures(t *testing.T) (*archive.Archive, *Shelf) {
	t.Helper()
	a := archivetest.Open(t)
	if rep := archivetest.Refresh(t, a, filepath.Join("..", "..", "testdata", "fixtures")); rep.Changed == 0 {
		t.Fatal("there are no captures")
	}
	return a, shelf(t, a)
}

func shelf(t *testing.T, a *archive.Archive) *Shelf {
	t.Helper()
	s := New(a)
	if _, err := s.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Shelf) all(t *testing.T) []Run {
	t.Helper()
	l, err := s.List(t.Context(), Filter{N: MaxListed}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != l.Total {
		t.Fatalf("%d of %d runs", len(l.Items), l.Total)
	}
	return l.Items
}

func (s *Shelf) sheet(t *testing.T, run string) *Sheet {
	t.Helper()
	h, err := s.Sheet(t.Context(), run)
	if err != nil || h == nil {
		t.Fatalf("%s: %v", run, err)
	}
	return h
}

// Of every capture a page has the entries that an export has, no more, no fewer.
func TestEveryCapture(t *testing.T) {
	a, s := fixtures(t)
	list := s.all(t)
	if len(list) < 20 {
		t.Fatalf("only %d runs", len(list))
	}
	for _, r := range list {
		h := s.sheet(t, r.ID)
		want := map[transcript.Type]int{}
		n := 0
		for e, err := range a.Entries(context.Background(), r.ID) {
			if err != nil {
				t.Fatal(err)
			}
			want[e.Type]++
			n++
		}
		head, err := s.Head(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		for typ, k := range head.Types {
			if want[typ] != k {
				t.Errorf("%s: %d %s, an export has %d", r.ID, k, typ, want[typ])
			}
		}
		if h.Total() != n || r.Entries != n {
			t.Errorf("%s: %d places, %d in the list, an export has %d", r.ID, h.Total(), r.Entries, n)
		}
		lanes := 0
		for _, l := range head.Lanes {
			lanes += l.Entries
			if l.Parent != "" && !slices.ContainsFunc(head.Lanes, func(o Lane) bool { return o.Name == l.Parent }) {
				t.Errorf("%s: %s hangs from %s, which is not there", r.ID, l.Name, l.Parent)
			}
		}
		if lanes != n {
			t.Errorf("%s: %d entries in lanes, want %d", r.ID, lanes, n)
		}
		if r.Entries > 3 && r.Title == "" && want[transcript.UserMessage] > 0 {
			t.Errorf("%s: no title", r.ID)
		}
	}
}
