package app

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/archive/runs"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/record"
	"conclave/table/people"
	"conclave/table/story"
	"conclave/transcript"
)

// nowWorld is somebody with several workspaces.
type nowWorld struct {
	t    *testing.T
	app  *App
	here string
	runs int
}

func newNowWorld(t *testing.T, sessions int) *nowWorld {
	a, _ := liveHome(t, sessions)
	return &nowWorld{t: t, app: a, here: a.Root}
}

func (w *nowWorld) write(text string, path ...string) {
	w.t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// quest puts a quest into a workspace, and says how records name it.
func (w *nowWorld) quest(root, title string) string {
	w.t.Helper()
	text, err := quest.New(quest.Definition{Title: title, Mode: quest.Ship, Created: "2026-01-01", Narrative: "A pier.",
		Criteria: []quest.Criterion{{Text: "It stands."}}, Dragon: "The sea."})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(string(text), root, filepath.FromSlash(quest.QuestFile))
	w.write("*\n", root, ".conclave", ".gitignore")
	return flow.QuestID(quest.Parse(text))
}

// table puts a table in session into a workspace.
func (w *nowWorld) table(root, name string) {
	w.t.Helper()
	w.write("# "+name, root, "campaigns", name, "README.md")
	e, err := json.Marshal(story.Event{V: story.Version, Seq: 1, Kind: story.EventSession, Session: 1, Time: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(string(e), story.LogPath(root, name), "000001-session.json")
}

// record puts a record with some words into a workspace and into the archive.
func (w *nowWorld) record(root string, attributes map[string]string, words string, sealed bool) string {
	w.t.Helper()
	w.runs++
	run := fmt.Sprintf("20260301T120000.%03dZ-ba9876543210", w.runs)
	path, err := record.Path(root, run)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	attributes["prompt_name"], attributes["adapter"] = "quest.consult.cat", transcript.AdapterScripted
	r, err := record.Create(path, record.Header{Run: run, Program: "conclave test", Created: time.Now(), Attributes: attributes})
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "quest.consult.cat", Adapter: transcript.AdapterScripted, Store: r})
	if err != nil {
		w.t.Fatal(err)
	}
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	must(e.Start())
	detail, err := json.Marshal(map[string]string{"text": words})
	must(err)
	_, err = e.Emit(transcript.Item{Type: transcript.AssistantMessage, Source: transcript.Main, Detail: detail, Raw: detail})
	must(err)
	if sealed {
		must(e.Stop())
		_, err = r.Seal("done")
		must(err)
	}
	must(r.Close())
	_, err = w.app.RefreshArchive(w.t.Context(), ArchiveAt{}, []string{record.Dir(root)})
	must(err)
	return run
}

func find(items []NowItem, kind, workspace, name string) *NowItem {
	i := slices.IndexFunc(items, func(it NowItem) bool { return it.Kind == kind && it.Workspace == workspace && it.Name == name })
	if i < 0 {
		return nil
	}
	return &items[i]
}

// Now has a line for each quest that is not over and each table in session, of all
// workspaces in which the engine has worked, with what was said for them, and those
// runs in no line of their own; jobs stand at what they are for.
func TestNow(t *testing.T) {
	w := newNowWorld(t, 3)
	other, clone, plain := t.TempDir(), t.TempDir(), t.TempDir()
	here, there := w.quest(w.here, "The quest here"), w.quest(other, "The quest there")
	w.table(w.here, "keep")
	w.table(other, "tower")
	w.record(w.here, map[string]string{"role": "owl", "quest": here}, "Earlier words.", true)
	talk := w.record(w.here, map[string]string{"role": "cat", "quest": here}, "Look at the pier.", false)
	alone := w.record(w.here, map[string]string{"role": "bear", "quest": "none"}, "Without a quest.", false)
	w.record(other, map[string]string{"role": "owl", "quest": there}, "It is done.", true)
	w.record(other, map[string]string{"role": "gm", "campaign": "tower", "character": "gm"}, "the hidden door", false)

	// What came with a clone, and what nobody has worked in, is not looked at.
	w.quest(clone, "Of a clone")
	w.record(clone, map[string]string{"role": "cat", "quest": "none"}, "cloned", true)
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", clone, "-c", "user.name=x", "-c", "user.email=x@x.example"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", "-f", ".")
	w.app.noteWorkspace(clone)
	w.quest(plain, "Of nobody here")
	if err := os.RemoveAll(filepath.Join(plain, ".conclave")); err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(w.app.Getenv("HOME"), ".claude", "projects", "-plain", liveSession(77)+".jsonl")
	w.write(fmt.Sprintf(`{"type":"user","uuid":"u","sessionId":%q,"cwd":%q,"timestamp":%q,"message":{"role":"user","content":"hello"}}`+"\n",
		liveSession(77), plain, time.Now().UTC().Format(time.RFC3339)), session)
	if _, err := w.app.RefreshArchive(t.Context(), ArchiveAt{}, nil); err != nil {
		t.Fatal(err)
	}

	l := openLibrary(t, w.app)
	now := func(jobs ...NowJob) []NowItem {
		t.Helper()
		items, err := l.Now(t.Context(), jobs)
		if err != nil {
			t.Fatal(err)
		}
		runs := map[string]int{}
		for _, it := range items {
			if it.Run != "" {
				runs[it.Run]++
			}
			if it.Title == "Of a clone" || it.Title == "Of nobody here" {
				t.Errorf("%+v is looked at", it)
			}
		}
		for run, n := range runs {
			if n > 1 {
				t.Errorf("run %s stands in %d lines", run, n)
			}
		}
		return items
	}
	items := now()
	q := find(items, "quest", w.here, "")
	if q == nil || q.Title != "The quest here" || !q.Here || q.State != runs.Waiting || q.Phase != 1 || q.PhaseIs == "" ||
		len(q.Next) == 0 || q.Run != talk || q.Role != "cat" || q.Last != "Look at the pier." || q.Cost == nil {
		t.Errorf("the quest here: %+v", q)
	}
	if status, err := w.app.QuestStatus(t.Context()); err != nil || strings.Join(q.Next, "; ") != labels(status.Offers) {
		t.Errorf("next: %q, and by the quest's status %q (%v)", q.Next, labels(status.Offers), err)
	}
	if q := find(items, "quest", other, ""); q == nil || q.Here || q.Last != "It is done." || q.State != runs.Waiting {
		t.Errorf("the quest there: %+v", q)
	}
	if k := find(items, "table", w.here, "keep"); k == nil || k.State != runs.Waiting || !k.Here {
		t.Errorf("the table here: %+v", k)
	}
	if k := find(items, "table", other, "tower"); k == nil || k.Last == "the hidden door" || k.Run == "" {
		t.Errorf("the table there: %+v", k)
	}
	if r := find(items, "run", w.here, ""); r == nil || r.Run != alone || r.Last != "Without a quest." {
		t.Errorf("a run without a quest: %+v", r)
	}
	sessions := 0
	for _, it := range items {
		if it.Kind == "run" && it.Agent == transcript.AdapterClaude {
			sessions++
		}
	}
	if sessions != 4 {
		t.Errorf("%d sessions of 4", sessions)
	}

	w.write("", people.AwaitedPath(w.here, "keep"), "gm")
	items = now(
		NowJob{ID: "j1", Verb: "Consult", Args: []json.RawMessage{json.RawMessage(`{}`)}, Began: time.Now(), Asked: true, Question: "Which part?"},
		NowJob{ID: "j2", Verb: "PlayTable", Args: []json.RawMessage{json.RawMessage(`{"Table":"keep"}`)}, Began: time.Now(), Asked: true,
			Question: "What do you whisper?"},
		NowJob{ID: "j3", Verb: "NewTable", Args: []json.RawMessage{json.RawMessage(`"fort"`)}, Began: time.Now()},
	)
	if q := find(items, "quest", w.here, ""); q == nil || q.Job != "j1" || !q.Asked || q.State != runs.Waiting || q.Last != "Which part?" {
		t.Errorf("a question of the quest: %+v", q)
	}
	if k := find(items, "table", w.here, "keep"); k == nil || k.Job != "j2" || !k.Asked || k.Last == "What do you whisper?" ||
		len(k.Awaited) != 1 {
		t.Errorf("a question at a table: %+v", k)
	}
	if j := find(items, "job", w.here, "fort"); j == nil || j.Job != "j3" || j.State != runs.Working {
		t.Errorf("a job of nothing that is there: %+v", j)
	}

	// A quest that is over waits for nobody; without one a job has its own runs.
	if err := os.Remove(filepath.Join(w.here, filepath.FromSlash(quest.QuestFile))); err != nil {
		t.Fatal(err)
	}
	items = now(NowJob{ID: "j4", Verb: "Council", Began: time.Now().Add(-time.Minute)})
	j := find(items, "job", w.here, "")
	if j == nil || j.Job != "j4" || j.Run != alone || find(items, "run", w.here, "") != nil {
		t.Errorf("a council without a quest: %+v", items)
	}
}

// Every verb that a face may call is for the quest or for a table.
func TestJobsHaveAPlace(t *testing.T) {
	for _, verb := range byName {
		kind, _ := jobFor(verb, nil)
		want := "table"
		if slices.Contains(questVerbs, verb) {
			want = "quest"
		}
		if kind != want {
			t.Errorf("%s is for the %s", verb, kind)
		}
	}
	for args, name := range map[string]string{`{"Table":"keep"}`: "keep", `"keep"`: "keep", `{}`: "", `7`: ""} {
		for _, verb := range []string{"SayAtTable", "NewTable"} {
			if kind, got := jobFor(verb, []json.RawMessage{json.RawMessage(args), json.RawMessage(`"words"`)}); kind != "table" ||
				got != name && !(verb == "NewTable" && args[0] == '{') && !(verb == "SayAtTable" && args[0] == '"') {
				t.Errorf("%s %s is for the %s %q", verb, args, kind, got)
			}
		}
	}
}

// A workspace is looked at from the first word that is spoken there, before the archive
// has anything of it, and its records are taken up.
func TestNowKnowsWhereSomebodyBegan(t *testing.T) {
	w := newNowWorld(t, 0)
	w.quest(w.here, "The quest here")
	l := openLibrary(t, w.app)
	told := make(chan struct{}, 100)
	if _, err := l.Now(t.Context(), nil); err != nil || l.Workspaces() != 1 {
		t.Fatalf("%d workspaces, %v", l.Workspaces(), err)
	}
	live(t, l, Hearing{func(Change) {}, func() { told <- struct{}{} }, func() {}})
	other := t.TempDir()
	w.quest(other, "The quest there")
	there := *w.app
	there.Root = other
	words := "Well?"
	if _, err := there.Consult(t.Context(), Consultation{Who: "cat", Talk: Talk{Message: &words, Once: true}}); err != nil {
		t.Fatal(err)
	}
	<-told
	items, err := l.Now(t.Context(), nil)
	if find(items, "quest", other, "") == nil || err != nil || l.Workspaces() != 2 {
		t.Errorf("%d workspaces, %v: %+v", l.Workspaces(), err, items)
	}
	roots, err := l.liveRoots()
	if err != nil || !slices.Contains(roots, record.Dir(other)) {
		t.Errorf("records are looked for in %q, %v", roots, err)
	}
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	w.app.noteWorkspace(t.TempDir())
	for _, n := range w.app.noted() {
		if n.root == other {
			t.Error("a workspace that is gone is noted still")
		}
	}
}

// That a quest stands otherwise, in whatever workspace, is told, and so are marks
// that another process has made.
func TestLiveTellsOfWorkspacesAndMarks(t *testing.T) {
	w := newNowWorld(t, 1)
	other := t.TempDir()
	w.quest(other, "The quest there")
	w.record(other, map[string]string{"role": "cat", "quest": "none"}, "hello", true)
	l := openLibrary(t, w.app)
	if items, err := l.Now(t.Context(), nil); err != nil || find(items, "quest", other, "") == nil {
		t.Fatalf("%+v %v", items, err)
	}
	told, marked := make(chan struct{}, 100), make(chan struct{}, 100)
	live(t, l, Hearing{func(Change) {}, func() { told <- struct{}{} }, func() { marked <- struct{}{} }})
	w.quest(other, "The quest there, by another name")
	<-told
	items, err := l.Now(t.Context(), nil)
	if q := find(items, "quest", other, ""); err != nil || q == nil || q.Title != "The quest there, by another name" {
		t.Errorf("%+v %v", q, err)
	}
	yes := true
	if _, err := openLibrary(t, w.app).Mark(t.Context(), Mark{Run: "x", Star: &yes}); err != nil {
		t.Fatal(err)
	}
	<-marked
}

// What is said for a quest costs at least what is known of it, and has no cost when
// nothing is.
func TestCostOfALine(t *testing.T) {
	known, none := func(usd float64) runs.Run { return runs.Run{Cost: &usd} }, runs.Run{}
	part := known(2)
	part.AtLeast = true
	for _, c := range []struct {
		runs    []runs.Run
		cost    float64 // negative: none is known
		atLeast bool
	}{
		{nil, 0, false},
		{[]runs.Run{known(1), known(2)}, 3, false},
		{[]runs.Run{known(1), none}, 1, true},
		{[]runs.Run{none, known(1)}, 1, true},
		{[]runs.Run{known(1), part}, 3, true},
		{[]runs.Run{none, known(0)}, -1, false},
	} {
		l := (&nowBoard{}).add(&NowItem{Kind: "quest"})
		for i := range c.runs {
			l.take(&c.runs[i])
		}
		got := -1.0
		if l.Cost != nil {
			got = *l.Cost
		}
		if got != c.cost || l.AtLeast != c.atLeast {
			t.Errorf("%d runs: %g, at least: %v; want %g, %v", len(c.runs), got, l.AtLeast, c.cost, c.atLeast)
		}
	}
}
