package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const aQuest = `---
campaign-mode: Ship
phase: 3
created: 2026-01-01
---

# %s

## Narrative

A pier.

## Success criteria

1. It stands.

## Anticipated Dragon

The sea.

## Progress log

- 2026-01-01 Phase 3 begun
`

// quest puts a quest into a workspace in which the engine has worked.
func putQuest(t *testing.T, root, title string) {
	t.Helper()
	for name, text := range map[string]string{".campaign/quest.md": fmt.Sprintf(aQuest, title), ".conclave/.gitignore": "*\n"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Now shows quests and sessions of every workspace, each with its place, and changes
// by itself when one of them does.
func TestNow(t *testing.T) {
	w := world(t)
	other := filepath.Join(w.Home, "work", "other")
	putQuest(t, w.Workspace, "Build the pier")
	putQuest(t, other, "Dig the well")
	session := NewSession(7, time.Now())
	session.Dir = other
	if err := session.Prompt("Where is the water?").Say("Below.").Keep(w); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	runOf(t, tab, "Where is the water?")
	if err := s.Visit(tab, "/now"); err != nil {
		t.Fatal(err)
	}
	row := func(kind, words string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('main .now-row[data-kind=%s]')].some(r => r.textContent.includes(%q))`, kind, words)
	}
	for _, want := range []string{row("quest", "Build the pier"), row("quest", "Dig the well"), row("run", "Where is the water?"),
		row("quest", "Phase 3"), `document.querySelector('main .now-row a[href="/quest"]') !== null`} {
		if err := tab.Wait(want); err != nil {
			t.Fatalf("%v; the page says: %s", err, tab.words())
		}
	}
	putQuest(t, other, "Dig the deeper well")
	if err := tab.Wait(row("quest", "Dig the deeper well")); err != nil {
		t.Fatalf("%v; the page says: %s", err, tab.words())
	}
	if err := NewSession(8, time.Now()).Prompt("Is anybody here?").Keep(w); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(row("run", "Is anybody here?")); err != nil {
		t.Fatalf("%v; the page says: %s", err, tab.words())
	}
	if f := tab.Faults(s.Origin); len(f) > 0 {
		t.Error(f)
	}
}

// The program rebuilds the archive in another terminal while a page shows a run: the
// page goes on with what comes, and what it shows is what was said.
func TestRebuildBesideThePage(t *testing.T) {
	w := world(t)
	session := Long(1, 400, time.Now().Add(-time.Hour))
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	if err := Long(2, 90, time.Now().Add(-time.Hour)).Keep(w); err != nil { // so that rows get other numbers
		t.Fatal(err)
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	run := atRun(t, s, tab, "Question 0")
	appended(t, tab, w, session, 1)
	rebuild := w.Command(s.program, "archive", "rebuild")
	if out, err := rebuild.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	appended(t, tab, w, session, 2)
	const sound = `(async () => { const { items } = await %s.api('/api/run/%s/entries?from=0&n=300');
		return items.length > 200 && items.every(e => !e.fault) && items.some(e => e.text.includes('Question 0')); })()`
	if err := tab.Wait(fmt.Sprintf(sound, core, run.ID)); err != nil {
		t.Fatal(err)
	}
	if err := s.Visit(tab, "/run/"+run.ID+"/0"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.querySelector('[role=feed]')?.textContent.includes('Question 0')`); err != nil {
		t.Fatalf("%v; the page says: %s", err, tab.words())
	}
	if f := tab.Faults(s.Origin); len(f) > 0 {
		t.Error(f)
	}
}

// A star that is set in one tab is seen in another that shows the same run.
func TestStarInAnotherTab(t *testing.T) {
	w := world(t)
	if err := Long(1, 20, time.Now()).Keep(w); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	first := open(t, chromium(t))
	if err := s.Enter(first); err != nil {
		t.Fatal(err)
	}
	run := runOf(t, first, "Question 0")
	second, err := first.Beside()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	const star = `document.querySelector('main [data-marks=star]')`
	for _, tab := range []*Tab{first, second} {
		if err := s.Visit(tab, "/run/"+run.ID); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(star + `?.getAttribute('aria-pressed') === 'false'`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Eval[bool](first, `(`+star+`.click(), true)`); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(star + `?.getAttribute('aria-pressed') === 'true'`); err != nil {
		t.Fatal(err)
	}
}
