package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/screen"
)

const beginningScript = `
as gandalf
turn on begin a quest
  say What will be there?
turn on A bridge
  say Then build it.
turn on structured form
  answer {"title":"Bridge","narrative":"A bridge.","criteria":[{"text":"A bridge stands","sort":"deliverable"}],"dragon":"The flood."}
`

// TestStartAndContinueOffer: what a person is offered who begins, and who comes
// back.
func TestStartAndContinueOffer(t *testing.T) {
	w := newReal(t, "agents:\n  default: {agent: scripted, script: party.script}\n")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(w.dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("party.script", beginningScript)
	w.run(0, "trust", "--yes")
	w.env.Stdout = screen.New(&w.out, screen.Options{Terminal: true})
	typing := func(typed string, args ...string) string {
		t.Helper()
		w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader(typed), true
		w.run(0, args...)
		return w.out.String()
	}

	// Nobody has begun: continue offers, and not now is an answer.
	out := typing("not now\n", "quest", "continue")
	inOrder(t, out, "There is no quest here yet.", "1. Start a quest", "2. Hold a council first", "3. Not now")

	// The first quest introduces the party.
	out = typing("ship\nA bridge\n\n\nyes\n\n", "quest", "start", "-m", "I want to cross.")
	inOrder(t, out, "Your party", "🐻 Bear", "🐉 Dragon", "What will be there?", "Bridge", "What next?")
	quest := filepath.Join(w.dir, ".campaign", "quest.md")
	first, err := os.ReadFile(quest)
	if err != nil || !strings.Contains(string(first), "\n# Bridge\n") {
		t.Fatalf("%s%v", first, err)
	}

	// Another one: leaving, and going on with the first, change nothing.
	for typed, want := range map[string]string{"\n": "3. Not now", "not now\n": "3. Not now", "continue\n\n": "Lately"} {
		out = typing(typed, "quest", "start", "-m", "Something else.")
		inOrder(t, out, "A quest is under way: Bridge (Ship, phase 3).", "1. Continue the quest under way",
			"2. Begin a new one – the old one is kept in the archive", want)
		if strings.Contains(out, "Your party") || strings.Contains(out, "What will be there?") {
			t.Errorf("%q began a quest:\n%s", typed, out)
		}
	}
	if now, err := os.ReadFile(quest); err != nil || string(now) != string(first) {
		t.Errorf("the quest became %s%v", now, err)
	}

	// Beginning anew keeps the first byte for byte.
	out = typing("9\nbegin\nship\nA bridge\n\n\nyes\n\n", "quest", "start", "-m", "Something else.")
	inOrder(t, out, "there is no line 9", "What will be there?", "the quest before it is kept in .campaign/archive/")
	kept, err := filepath.Glob(filepath.Join(w.dir, ".campaign", "archive", "*.md"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v", kept, err)
	}
	if old, err := os.ReadFile(kept[0]); err != nil || string(old) != string(first) {
		t.Errorf("the archive holds %s%v", old, err)
	}
	out = typing("\n", "quest", "continue")
	inOrder(t, out, "Bridge", "Ship, phase 3", "Lately", "Phase 1 complete", "Conversations", "Quest definition", "What next?")
}

// TestTheEndOfTheInputLeavesADefinition: a question that nobody can answer any
// more is not asked for ever; what was said stays open.
func TestTheEndOfTheInputLeavesADefinition(t *testing.T) {
	w := newReal(t, "agents:\n  default: {agent: scripted, script: party.script}\n")
	if err := os.WriteFile(filepath.Join(w.dir, "party.script"), []byte(beginningScript), 0o644); err != nil {
		t.Fatal(err)
	}
	w.run(0, "trust", "--yes")
	w.env.Stdout = screen.New(&w.out, screen.Options{Terminal: true})
	for _, typed := range []string{"ship\nA bridge\n\n\n", "myself\nBridge\n"} { // before the agreement, and in the midst of writing it down
		w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader(typed), true
		args := []string{"quest", "continue"}
		if strings.HasPrefix(typed, "ship") {
			args = []string{"quest", "start", "-m", "I want to cross."}
		}
		w.run(3, args...)
		if out := w.out.String(); strings.Count(out, "Do you agree?") > 2 || !strings.Contains(out, "nothing is lost") {
			t.Errorf("%s", out)
		}
	}
}
