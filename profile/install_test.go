package profile

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func builtin(t *testing.T, name string) *Pack {
	t.Helper()
	p, err := Library{}.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func live(t *testing.T, p Project) map[string]string {
	t.Helper()
	list, err := listing(p.live())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func write(t *testing.T, p Project, name, text string) {
	t.Helper()
	file := filepath.Join(p.live(), name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, p Project, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.live(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func status(t *testing.T, p Project, id string) Status {
	t.Helper()
	s, err := p.Status(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInstall(t *testing.T) {
	p := Project{Dir: t.TempDir()}
	c, err := p.Install(builtin(t, "fantasy"), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Written) != 9 || c.Kept != "" {
		t.Errorf("change %+v", c)
	}
	party, faults, err := p.Party()
	if err != nil || len(faults) > 0 || len(party) != 9 {
		t.Fatalf("party %v %v %v", party, faults, err)
	}
	if f, _ := party.Face("cat"); f.Tag() != "**🗡️ The Rogue:**" {
		t.Errorf("cat speaks as %s", f.Tag())
	}
	if f, _ := party.Face("simon"); f.MenuName() != "Simon" {
		t.Errorf("simon is %s", f.MenuName())
	}
	if _, ok := party.Face("lynx"); ok {
		t.Error("a lynx is in the cast")
	}
	// The same again is no change; another pack replaces what nobody edited.
	if c, err := p.Install(builtin(t, "fantasy"), nil, false); err != nil || len(c.Written) != 0 {
		t.Errorf("again: %+v %v", c, err)
	}
	if c, err := p.Install(builtin(t, "neutral"), nil, false); err != nil || len(c.Written) != 9 || c.Kept == "" {
		t.Errorf("another: %+v %v", c, err)
	}
	if status(t, p, "cat") != statusInstalled || status(t, p, "simon") != statusNone {
		t.Errorf("status %s %s", status(t, p, "cat"), status(t, p, "simon"))
	}
}

func TestInstallKeepsWhatIsNotOurs(t *testing.T) {
	p := Project{Dir: t.TempDir()}
	simon := "---\narchetype: simon\nskin-name: The Don\ntheme: T\n---\n## Character Concept\nx\n## Tone and Voice\ny\n"
	write(t, p, "simon.md", simon)
	write(t, p, "notes.txt", "mine")
	write(t, p, "drafts/old.md", "mine too")
	if err := os.Symlink("notes.txt", filepath.Join(p.live(), "link")); err != nil {
		t.Fatal(err)
	}
	before := live(t, p)
	if _, err := p.Install(builtin(t, "fantasy"), nil, false); err != nil {
		t.Fatal(err)
	}
	after := live(t, p)
	for name, hash := range before {
		if after[name] != hash {
			t.Errorf("%s did not survive", name)
		}
	}
	if info, err := os.Stat(filepath.Join(p.live(), "simon.md")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("simon.md: %v %v", info, err)
	}
	if party, _, _ := p.Party(); party["simon"] == nil || len(party) != 10 {
		t.Errorf("party of %d", len(party))
	}
	if _, err := p.Undo(false); err != nil {
		t.Fatal(err)
	}
	if got := live(t, p); !maps.Equal(got, before) {
		t.Errorf("after undo %v, want %v", got, before)
	}
}

func TestInstallAsksBeforeItReplaces(t *testing.T) {
	p := Project{Dir: t.TempDir()}
	if _, err := p.Install(builtin(t, "fantasy"), nil, false); err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(read(t, p, "cat.md"), "The Rogue", "The Locksmith", 1)
	write(t, p, "cat.md", edited)
	if status(t, p, "cat") != statusEdited {
		t.Errorf("status %s", status(t, p, "cat"))
	}
	before := live(t, p)
	_, err := p.Install(builtin(t, "neutral"), nil, false)
	if e := (*EditedError)(nil); !errors.As(err, &e) || !slices.Equal(e.Files, []string{"cat.md"}) {
		t.Fatalf("got %v, want the edited cat named", err)
	}
	if !maps.Equal(live(t, p), before) {
		t.Error("a refused installation changed something")
	}
	if _, err := p.Install(builtin(t, "neutral"), []string{"owl", "bear"}, false); err != nil {
		t.Errorf("the others were refused too: %v", err)
	}
	c, err := p.Install(builtin(t, "neutral"), nil, true)
	if err != nil || !slices.Equal(c.Replaced, []string{"cat.md"}) {
		t.Fatalf("by force: %+v %v", c, err)
	}
	if kept, err := os.ReadFile(filepath.Join(c.Kept, "cat.md")); err != nil || string(kept) != edited {
		t.Errorf("the edited cat was not kept: %v", err)
	}
	if _, err := p.Undo(false); err != nil || read(t, p, "cat.md") != edited {
		t.Errorf("undo did not bring the edited cat back: %v", err)
	}
	if status(t, p, "cat") != statusEdited {
		t.Errorf("status after undo %s", status(t, p, "cat"))
	}
}

func TestUndo(t *testing.T) {
	p := Project{Dir: t.TempDir()}
	if _, err := p.Undo(false); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("undo of nothing: %v", err)
	}
	var states []map[string]string
	for _, name := range []string{"fantasy", "neutral", "family-parenting"} {
		states = append(states, live(t, p))
		if _, err := p.Install(builtin(t, name), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	write(t, p, "new.txt", "made after the installation")
	write(t, p, "cat.md", "edited after the installation")
	if _, err := p.Undo(false); err == nil {
		t.Error("undo destroyed an edit")
	}
	if c, err := p.Undo(true); err != nil || len(c.Replaced) != 1 {
		t.Errorf("undo by force: %+v %v", c, err)
	}
	for i := len(states) - 1; i >= 0; i-- {
		got := live(t, p)
		delete(got, "new.txt")
		if !maps.Equal(got, states[i]) && len(got)+len(states[i]) > 0 {
			t.Errorf("step %d back: %v, want %v", i, got, states[i])
		}
		if i > 0 {
			if _, err := p.Undo(false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if read(t, p, "new.txt") == "" {
		t.Error("a foreign file went with an undo")
	}
	if _, err := p.Undo(false); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("one undo too many: %v", err)
	}
}

func TestSetAndRemove(t *testing.T) {
	p := Project{Dir: t.TempDir()}
	simon, _ := Lookup("simon")
	data := Plain(simon, "The Don", "Custom", "")
	if _, err := p.Set("simon", data, false); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Set("simon", []byte("---\narchetype: cat\n---\n"), true); err == nil {
		t.Error("a faulty profile was set")
	}
	if _, err := p.Remove("simon", false); err != nil || len(live(t, p)) != 0 {
		t.Errorf("remove: %v %v", err, live(t, p))
	}
	if _, err := p.Undo(false); err != nil || read(t, p, "simon.md") != string(data) {
		t.Errorf("undo of remove: %v", err)
	}
	if c, err := p.Remove("owl", false); err != nil || len(c.Removed) != 0 {
		t.Errorf("remove of nothing: %+v %v", c, err)
	}
	write(t, p, "simon.md", "mine")
	if _, err := p.Remove("simon", false); err == nil {
		t.Error("an edited profile was removed without being asked for")
	}
}

// TestConcurrentChanges: of changes at the same time each is whole.
func TestConcurrentChanges(t *testing.T) {
	p := Project{Dir: t.TempDir(), noSync: true}
	packs := []*Pack{builtin(t, "fantasy"), builtin(t, "neutral"), builtin(t, "hundred-acre-wood")}
	errs := make(chan error)
	for _, pack := range packs {
		go func() {
			_, err := p.Install(pack, nil, false)
			errs <- err
		}()
	}
	for range packs {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	party, faults, err := p.Party()
	if err != nil || len(faults) > 0 || len(party) != 9 {
		t.Fatalf("%d profiles, %v, %v", len(party), faults, err)
	}
	for id, q := range party {
		if q.Theme != party["cat"].Theme {
			t.Errorf("%s is of %s, the cat of %s", id, q.Theme, party["cat"].Theme)
		}
	}
	for range packs {
		if _, err := p.Undo(false); err != nil {
			t.Error(err)
		}
	}
	if left := live(t, p); len(left) != 0 {
		t.Errorf("after undoing all: %v", left)
	}
}

func TestRefusesLinkedDirectories(t *testing.T) {
	p := Project{Dir: t.TempDir()}
	elsewhere := t.TempDir()
	if err := os.Mkdir(filepath.Join(p.Dir, ".campaign"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, p.live()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(builtin(t, "fantasy"), nil, true); err == nil {
		t.Error("profiles were written through a link")
	}
	if entries, _ := os.ReadDir(elsewhere); len(entries) != 0 {
		t.Errorf("%d files were written elsewhere", len(entries))
	}
}

func TestFaultyProfileIsNotWorn(t *testing.T) {
	p := Project{Dir: t.TempDir()}
	write(t, p, "cat.md", "---\narchetype: cat\nskin-name: \"a/b\"\ntheme: T\n---\n## Character Concept\nx\n## Tone and Voice\ny\n")
	party, faults, err := p.Party()
	if err != nil || party["cat"] != nil || len(faults) != 1 || faults[0].File != ".campaign/profiles/cat.md" || faults[0].Line != 3 {
		t.Errorf("%v %v %v", party, faults, err)
	}
}

func TestTwoRenames(t *testing.T) {
	// Where directories cannot be exchanged, a kill between two renames leaves
	// no live set; the journal brings the new one.
	p := Project{Dir: t.TempDir()}
	if _, err := p.Install(builtin(t, "fantasy"), nil, false); err != nil {
		t.Fatal(err)
	}
	type dead struct{}
	var j journal
	killed := Project{Dir: p.Dir, step: func(what string) {
		if what == "make directories" {
			panic(dead{})
		}
	}}
	func() {
		defer func() {
			if r := recover(); r != (dead{}) {
				t.Fatalf("stopped by %v", r)
			}
		}()
		_, _ = killed.Install(builtin(t, "neutral"), nil, false)
	}()
	if _, err := readJSON(p.journalPath(), &j); err != nil || j.ID == "" {
		t.Fatalf("no journal: %v", err)
	}
	if err := os.Rename(p.live(), p.old(j.ID)); err != nil {
		t.Fatal(err)
	}
	if err := p.Recover(); err != nil {
		t.Fatal(err)
	}
	if party, faults, err := p.Party(); err != nil || len(faults) > 0 || len(party) != 9 || party["cat"].SkinName != "Risk Analyst" {
		t.Errorf("after recovery: %v %v %v", party, faults, err)
	}
	if _, err := p.Undo(false); err != nil || !strings.Contains(read(t, p, "cat.md"), "The Rogue") {
		t.Errorf("undo after recovery: %v", err)
	}
}

func TestExportAndNew(t *testing.T) {
	dir := t.TempDir()
	pack := builtin(t, "fantasy")
	for _, name := range []string{"fantasy", "x.zip", "x.tar.gz"} {
		to := filepath.Join(dir, name)
		if err := pack.Export(to); err != nil {
			t.Fatal(err)
		}
		q, err := Load(to)
		if err != nil || len(q.Faults) > 0 || len(q.Profiles) != 9 || q.Name != "fantasy" {
			t.Errorf("%s: %v %+v", name, err, q)
		}
		for i, was := range pack.Profiles {
			if string(q.Profiles[i].Bytes()) != string(was.Bytes()) {
				t.Errorf("%s: %s changed on the way", name, was.Archetype)
			}
		}
		if err := pack.Export(to); err == nil {
			t.Errorf("%s was overwritten", name)
		}
	}
	if err := NewPack(filepath.Join(dir, "deep-sea"), ""); err != nil {
		t.Fatal(err)
	}
	if p, err := Load(filepath.Join(dir, "deep-sea")); err != nil || len(p.Profiles) != 9 || p.Theme != "Deep Sea" {
		t.Errorf("templates: %v %+v", err, p)
	}
	for name, theme := range map[string]string{"Deep Sea": "", "high-sea": "Low Sea", "..": ""} {
		if err := NewPack(filepath.Join(dir, "sub")+"/"+name, theme); err == nil {
			t.Errorf("pack %q of theme %q was made", name, theme)
		}
	}
}
