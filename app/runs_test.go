package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/archive/runs"
)

func openLibrary(t *testing.T, a *App) *Library {
	t.Helper()
	l, err := a.OpenLibrary(t.Context(), ArchiveAt{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Two processes mark at the same time, and neither loses what the other noted.
func TestMarksOfTwoProcesses(t *testing.T) {
	a, _ := liveHome(t, 1)
	libraries := []*Library{openLibrary(t, a), openLibrary(t, a)}
	yes := true
	var all sync.WaitGroup
	for i, l := range libraries {
		for n := range 20 {
			all.Go(func() {
				if _, err := l.Mark(context.Background(), Mark{Run: fmt.Sprintf("run-%d-%d", i, n), Star: &yes}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for _, l := range libraries {
		if m, err := l.Marks(); err != nil || len(m.Stars) != 40 {
			t.Errorf("%d stars of 40 %v", len(m.Stars), err)
		}
	}
}

func TestMarks(t *testing.T) {
	a, _ := liveHome(t, 3)
	if _, err := a.RefreshArchive(t.Context(), ArchiveAt{}, nil); err != nil {
		t.Fatal(err)
	}
	l := openLibrary(t, a)
	yes, no, seen := true, false, 7
	mark := func(m Mark) Marks {
		t.Helper()
		all, err := l.Mark(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	run := liveSession(1)
	mark(Mark{Run: run, Star: &yes})
	mark(Mark{Run: run, Pin: &yes, Entry: 0, Note: "here"})
	mark(Mark{Run: run, Seen: &seen})
	mark(Mark{Query: &SavedQuery{"all", "SELECT 1"}})
	r, err := l.Run(t.Context(), run)
	if err != nil || !r.Starred || len(r.Pins) != 1 || r.Pins[0].Note != "here" || r.Seen == nil || *r.Seen != 7 {
		t.Errorf("%+v %v", r, err)
	}
	if r.Resume != "cd /work/0 && claude --resume "+run {
		t.Errorf("resumed by %s", r.Resume)
	}
	list, err := l.Runs(t.Context(), RunFilter{Starred: true})
	if err != nil || list.Total != 1 || list.Items[0].ID != run || list.Items[0].Pins != 1 {
		t.Errorf("%+v %v", list, err)
	}
	mark(Mark{Run: run, Star: &no})
	mark(Mark{Run: run, Pin: &no})
	if m := mark(Mark{Query: &SavedQuery{Name: "all"}}); len(m.Stars)+len(m.Pins)+len(m.Queries) != 0 {
		t.Errorf("left: %+v", m)
	}
	for _, bad := range []Mark{{}, {Run: run}, {Star: &yes}, {Run: run, Pin: &yes, Entry: -1}, {Query: &SavedQuery{}},
		{Run: run, Pin: &yes, Note: strings.Repeat("x", maxNote+1)}} {
		if _, err := l.Mark(t.Context(), bad); err == nil || KindOf(err) != Usage {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	newer := []byte(`{"version": 99}`)
	if err := os.WriteFile(l.marks.path, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Mark(t.Context(), Mark{Run: run, Star: &yes}); err == nil || KindOf(err) != Environment {
		t.Errorf("marks of a newer program: %v", err)
	}
	if text, err := os.ReadFile(l.marks.path); err != nil || !bytes.Equal(text, newer) {
		t.Errorf("they were changed: %s %v", text, err)
	}
}

// A bundle that is handed over stands among the runs until the library is closed,
// and lies in no workspace.
func TestUpload(t *testing.T) {
	a, _ := liveHome(t, 2)
	l := openLibrary(t, a)
	bundles, err := filepath.Glob("../testdata/fixtures/bundles/*.zip")
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	for _, b := range bundles {
		f, err := os.Open(b)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := l.Upload(t.Context(), "../../etc/"+filepath.Base(b), f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		for _, id := range ids {
			r, err := l.Run(t.Context(), id)
			if err != nil || !r.Uploaded || r.Entries == 0 || r.ID != id {
				t.Fatalf("%s: %+v %v", id, r.ListedRun, err)
			}
			w, err := l.RunEntries(t.Context(), id, 0, 5)
			if err != nil || len(w.Items) == 0 {
				t.Errorf("%s: %+v %v", id, w, err)
			}
			if _, err := l.FindInRun(t.Context(), id, "the"); err != nil {
				t.Error(err)
			}
		}
	}
	list, err := l.Runs(t.Context(), RunFilter{})
	if err != nil || list.Total < len(bundles) || !slices.ContainsFunc(list.Items, func(r ListedRun) bool {
		return strings.HasPrefix(r.ID, "bundle-1:")
	}) {
		t.Errorf("%d runs %v", list.Total, err)
	}
	for _, text := range []string{"", "no zip at all", "PK\x03\x04 broken"} {
		if _, err := l.Upload(t.Context(), "x.zip", strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken for a bundle", text)
		}
	}
	var dirs []string
	for _, u := range l.uploads {
		dirs = append(dirs, u.dir)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
	if left, err := os.ReadDir(a.Root); err != nil || len(left) != 0 {
		t.Errorf("in the workspace: %v %v", left, err)
	}
}

// All pages of a list together are the list, each run once and in one order, those
// of bundles among the others, whatever the filter, the order and the size of a page.
func TestPagesOfRunsAreTheList(t *testing.T) {
	a, path := liveHome(t, 25)
	for n := range 25 {
		appendLine(t, path(n), liveLine(n, 1, "assistant", strings.Repeat("word ", n%4+1)))
	}
	if _, err := a.RefreshArchive(t.Context(), ArchiveAt{}, nil); err != nil {
		t.Fatal(err)
	}
	l := openLibrary(t, a)
	bundles, err := filepath.Glob("../testdata/fixtures/bundles/*.zip")
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	uploaded := 0
	for _, b := range bundles {
		f, err := os.Open(b)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := l.Upload(t.Context(), filepath.Base(b), f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		uploaded += len(ids)
	}
	yes := true
	for _, run := range []string{liveSession(3), "bundle-1:" + strings.TrimSuffix(filepath.Base(bundles[0]), ".zip")} {
		if _, err := l.Mark(t.Context(), Mark{Run: run, Star: &yes}); err != nil {
			t.Fatal(err)
		}
	}
	facets, err := l.RunFacets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []RunFilter{{}, {Text: "word"}, {State: "idle"}, {State: "waiting"}, {Starred: true}, {Since: "1d"}} {
		for _, sort := range []string{"", "last", "-last", "began", "entries", "tokens", "cost", "title", "-title", "project"} {
			f.Sort, f.From, f.N = sort, 0, runs.MaxListed
			whole, err := l.Runs(t.Context(), f)
			if err != nil || len(whole.Items) != whole.Total {
				t.Fatalf("%+v: %d of %d %v", f, len(whole.Items), whole.Total, err)
			}
			if f == (RunFilter{Sort: sort, N: runs.MaxListed}) && (whole.Total != 25+uploaded || facets.Total != whole.Total) {
				t.Errorf("%d runs, by kinds %d, want %d", whole.Total, facets.Total, 25+uploaded)
			}
			for _, f.N = range []int{1, 2, 7, 26} {
				var ids []string
				for f.From = 0; f.From < whole.Total; f.From += f.N {
					page, err := l.Runs(t.Context(), f)
					if err != nil || page.Total != whole.Total || page.From != f.From {
						t.Fatalf("%+v: %d of %d %v", f, page.From, page.Total, err)
					}
					for _, r := range page.Items {
						ids = append(ids, r.ID)
					}
				}
				for i, r := range whole.Items {
					if i >= len(ids) || ids[i] != r.ID {
						t.Fatalf("%+v: number %d of the pages is not %s", f, i, r.ID)
					}
				}
				if len(ids) != whole.Total {
					t.Errorf("%+v: %d runs in pages, %d in all", f, len(ids), whole.Total)
				}
			}
		}
	}
}
