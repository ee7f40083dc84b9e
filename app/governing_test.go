package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/gate"
	"conclave/quest"
)

// Whatever needs the person's yes governs a gate, or is a check, which stands in
// the criteria: a new kind of trusted file is in the list, or this fails.
func TestWhatNeedsAYesGoverns(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"conclave.yaml":    "agents:\n  dragon: {agent: scripted, script: play/dragon.json}\n  cat: {agent: scripted, script: cat.json}\n",
		"play/dragon.json": "{}", "cat.json": "{}", ".campaign/instructions/dragon.md": "Judge.", ".campaign/instructions/deep/x.MD": "x",
		".campaign/profiles/dragon.md": "x", "profile-packs/p/dragon.md": "x",
		quest.QuestFile: "---\nmode: ship\nphase: 3\n---\n\n## Success Criteria\n\n1. It runs. (check: `make`)\n",
	} {
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	a := &App{Dir: root, Root: root, Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	w, err := a.enter()
	if err != nil {
		t.Fatal(err)
	}
	places := governing(w.door.Read)
	items, refused := w.everything()
	if len(refused) > 0 || len(items) != 8 {
		t.Fatalf("%d items, %v", len(items), refused)
	}
	used := map[string]bool{}
	for _, item := range items {
		name := strings.TrimPrefix(item.Name, scriptItem(""))
		at := slices.IndexFunc(places, func(g gate.Governed) bool {
			return name == g.Path || g.Dir && strings.HasPrefix(name, g.Path+"/")
		})
		if at < 0 && !strings.HasPrefix(name, "the check of criterion") {
			t.Errorf("%q needs a yes, and a change may touch it before a gate", item.Name)
		} else if at >= 0 {
			used[places[at].Path] = true
		}
	}
	for _, g := range places {
		if !used[g.Path] {
			t.Errorf("%s governs, and nothing of it was tried", g.Path)
		}
	}
}
