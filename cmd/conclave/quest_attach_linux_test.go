package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// While a conversation goes on in one terminal, the quest can be looked at from
// another, and a line be written into its log: in the process that holds it. What
// would begin a second conversation is refused, with who has the first and where.
func TestSecondTerminalOnAQuest(t *testing.T) {
	t.Parallel()
	w := newReal(t, "agents:\n  cat: {agent: scripted, script: cat.script}\n")
	for name, text := range map[string]string{
		".campaign/quest.md": strings.Replace(familyQuest, "phase: 2", "phase: 3", 1),
		"cat.script":         "always\n  say Meow.\n",
	} {
		if err := os.WriteFile(filepath.Join(w.dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "trust", "--yes")
	talk := sit(t, w, "consult", "cat", "-m", "What do you see?")
	talk.await("Meow.")
	w.run(0, "quest", "status")
	inOrder(t, w.out.String(), "conclave consult")
	w.run(0, "quest", "log", "Bread was baked")
	inOrder(t, w.out.String(), "Bread was baked")
	w.run(0, "quest", "log")
	number := regexp.MustCompile(`(\d+)\D[^\n]*Bread was baked`).FindStringSubmatch(w.out.String())
	if number == nil {
		t.Fatal(w.out.String())
	}
	w.run(0, "quest", "log", "--withdraw", number[1])
	w.run(0, "quest", "show")
	inOrder(t, w.out.String(), "Bread was baked")
	w.run(3, "consult", "owl", "-m", "And you?")
	inOrder(t, w.out.String(), "the quest is in use", "process", "conclave consult", "go on in that terminal, or say --wait",
		"quest log TEXT` work meanwhile")
	w.run(3, "quest", "archive")
	talk.types("What else?\n")
	talk.await("Meow.")
	talk.types("\x04")
	talk.types("\x04")
	talk.ends(exitDone)
	w.run(0, "quest", "show")
	inOrder(t, w.out.String(), "Bread was baked")
	if left, err := filepath.Glob(filepath.Join(w.dir, ".conclave", "locks", "quest.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
