package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/screen"
)

const terminalScript = `
as cat
turn on risk
  say There is one.
turn on Which
  say The rope.
turn on third
  say Still here.
as owl
always
  say Tomorrow.
as gandalf
always
  say Breathe.
as guardian
always
  say It holds.
  answer {"verdict":"Approved","summary":"it holds","gaps":[],"conditions":[]}
`

const terminalQuest = `---
campaign-mode: Ship
phase: 3
created: 2026-02-14
---

# Crossing

## Quest Narrative

Once.

## Success Criteria

1. Done

## Anticipated Dragon

Fog.

## Party Assignments

## Progress Log

- **Phase 1 complete** — Quest defined (2026-02-14)
`

// atTerminal runs one command with a person who types these lines.
func atTerminal(t *testing.T, typed string, args ...string) (*real, string) {
	t.Helper()
	w := newReal(t, "agents:\n  default: {agent: scripted, script: party.script}\n")
	for name, text := range map[string]string{"party.script": terminalScript, ".campaign/quest.md": terminalQuest, "a plan.md": "A.\n", "plans.md": "B.\n"} {
		if err := os.WriteFile(filepath.Join(w.dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "trust", "--yes")
	w.env.Stdin, w.env.StdinIsTerminal, w.env.Stdout = strings.NewReader(typed), true, screen.New(&w.out, screen.Options{Terminal: true})
	w.run(0, args...)
	return w, w.out.String()
}

// inOrder finds the parts one after the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		i := strings.Index(rest, p)
		if i < 0 {
			t.Fatalf("%q does not follow in\n%s", p, text)
		}
		rest = rest[i+len(p):]
	}
}

// TestConversationAtATerminal: many turns, then a number, part of a label, and
// free words at the boundaries.
func TestConversationAtATerminal(t *testing.T) {
	w, out := atTerminal(t, strings.Join([]string{
		"Where is the risk?", "Which?", "", // a consultation of two turns
		"another", "owl", "By when?", "", // part of a label, a menu, a consultation
		"9",           // there is no such line
		"I am afraid", // free words, for whoever spoke last
		"",
		"evaluation", "guardian", "plan", "", "plan.md",
		"1", // continue working
	}, "\n")+"\n", "consult", "cat")
	inOrder(t, out, "What do you want to say to Cat?", "There is one.", "Your answer to Cat", "The rope.", "What next?",
		"2. Hear another advisor", "3. Owl", "What do you want to say to Owl?", "Tomorrow.", "there is no line 9",
		"Owl:", "Tomorrow.", "Guardian's checkpoint first", "Which stage is it?", "The work: 1 file", "It holds.", "Approved", "The quest goes on.")
	q, err := os.ReadFile(filepath.Join(w.dir, ".campaign", "quest.md"))
	if err != nil || !strings.Contains(string(q), "\nphase: 3\n") || !strings.Contains(string(q), "Approved") {
		t.Errorf("quest.md is\n%s%v", q, err)
	}
	w.env.StdinIsTerminal = false
	w.run(0, "transcript", "verify")
	if !strings.Contains(w.out.String(), "4 conversations proved") {
		t.Error(w.out.String())
	}
}

// TestMenuWords: what is typed in menus opens the next conversation and stands
// there, and nothing else does (S1); a path with a space, a typo, a way back (Q12).
func TestMenuWords(t *testing.T) {
	w, out := atTerminal(t, strings.Join([]string{
		"Where is the risk?", "",
		"evaluation", "guardian", "", // the stage is empty: back
		"I'm ready for a checkpoint", "plan", "", // a wish, a stage, no expectation
		"palns.md", "'a plan.md", "a plan.md", // a typo, an open quote, the file
		"what does the owl think?", "I'm done", // a wish that is said to the Owl; the end of the talk
		"let's debrief", // which cannot be done yet: the menu stays
		"bye",
	}, "\n")+"\n", "consult", "cat")
	inOrder(t, out, "What next?", "checkpoint first", "Which stage is it?", "checkpoint first", "Which stage is it?",
		"Which files or directories", "palns.md", "Is it plans.md?", "Which files", "a quote is not closed", "Which files",
		"The work: 1 file", "It holds.", "Tomorrow.", "What next?", "no verdict to look back on", "What next?")
	// What was said in a talk in place of an answer is done at once, without a menu.
	_, talk := atTerminal(t, "Where is the risk?\nI'm ready to face the dragon\n\n\n", "consult", "cat")
	if _, after, ok := strings.Cut(talk, "Your answer to Cat"); !ok || strings.Index(after, "What next?") < strings.Index(after, "Which files") {
		t.Errorf("a wish has to wait for a menu:\n%s", talk)
	}
	if strings.Contains(out, "What do you want to say to Owl?") {
		t.Errorf("what the Owl was asked was asked for again:\n%s", out)
	}
	for name, want := range map[string]string{
		"guardian": "**User:** I'm ready for a checkpoint\n\n**User:** plan\n\n**User:** a plan.md\n\n**🛡️ Guardian:** It holds.\n",
		"owl":      "**User:** what does the owl think?\n\n**🦉 Owl:** Tomorrow.\n\n**User:** I'm done\n",
	} {
		found, err := filepath.Glob(filepath.Join(w.dir, ".campaign", "conversations", "*-"+name+".md"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", name, found, err)
		}
		text, err := os.ReadFile(found[0])
		if _, exchange, _ := strings.Cut(string(text), "### Exchange\n\n"); err != nil || !strings.HasPrefix(exchange, want) {
			t.Errorf("%s: the conversation is\n%s%v", name, text, err)
		}
	}
	w.env.StdinIsTerminal = false
	w.run(0, "transcript", "verify")
}

// TestStartAgain: who goes on with an interrupted definition when they start a
// quest again has that quest, and is not told that one is under way (Q5).
func TestStartAgain(t *testing.T) {
	w, _ := atTerminal(t, "", "version")
	for name, text := range map[string]string{".campaign/quest.md": "", "party.script": `
as gandalf
turn on begin a quest
  say Who waits there?
turn on village
  say Then it is settled.
always
  answer {"title":"Cross","narrative":"Bread.","criteria":[{"text":"A bridge stands","sort":"deliverable"}],"dragon":"The flood."}
`} {
		if err := os.WriteFile(filepath.Join(w.dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.env.StdinIsTerminal = false
	w.run(0, "trust", "--yes")
	w.env.Stdin = strings.NewReader("A bridge.")
	w.run(3, "quest", "start", "--mode", "ship") // nobody is there to answer
	out := w.types(0, "go on\nThe village.\nit is right\n\n", "quest", "start")
	inOrder(t, out, "was interrupted", "1. Go on with it", "Who waits there?", "Do you agree?", "Then it is settled.", "Do you agree?", "What next?")
	if strings.Contains(out, "under way") {
		t.Errorf("the quest is in its own way:\n%s", out)
	}
	w.env.StdinIsTerminal = false
	w.run(0, "quest", "status")
	inOrder(t, w.out.String(), "Cross", "phase 3")

	// Where there is no quest, free words are what one is about.
	w.run(0, "quest", "archive")
	out = w.types(0, "I want a bridge.\nship\n\nyes\n\n", "quest", "continue")
	inOrder(t, out, "There is no quest here yet.", "What is this quest for?", "Who waits there?", "Do you agree?", "What next?")
}

// TestInterruptedAtATerminal: the person is asked whether to go on.
func TestInterruptedAtATerminal(t *testing.T) {
	for answer, want := range map[string]string{"1": "Still here.", "put it away": "is put away: the conversation with Cat"} {
		w, _ := atTerminal(t, "Where is the risk?\n\n\n", "consult", "cat")
		script := filepath.Join(w.dir, "party.script")
		if err := os.WriteFile(script, []byte("as cat\nturn\n  error no network\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader(""), false
		w.run(0, "trust", "--yes")
		w.run(3, "consult", "cat", "-m", "a third time")
		if err := os.WriteFile(script, []byte(terminalScript), 0o644); err != nil {
			t.Fatal(err)
		}
		w.run(0, "trust", "--yes")
		w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader(answer+"\n\n\n\n"), true
		w.run(0, "consult", "owl", "-m", "When?")
		inOrder(t, w.out.String(), "The conversation with Cat was interrupted", "1. Go on with it", want, "Tomorrow.")
	}
}

// atTable plays a table with a person who types these lines, and then nothing.
func atTable(t *testing.T, typed, seat string) string {
	t.Helper()
	w := newReal(t, "")
	w.run(0, "trust", "--yes")
	w.run(0, "table", "new", "weir", "--adventure")
	w.env.Stdin, w.env.StdinIsTerminal, w.env.Stdout = strings.NewReader(typed), true, screen.New(&w.out, screen.Options{Terminal: true})
	w.run(0, "table", "play", "weir", "--as", seat)
	out := w.out.String()
	w.env.StdinIsTerminal = false
	w.run(0, "table", "status", "weir")
	return out + w.out.String()
}

// TestTheEndOfTheInputLeavesATable: nobody plays on for a person who has gone.
func TestTheEndOfTheInputLeavesATable(t *testing.T) {
	out := atTable(t, "I look at the letter.\n", "bram-oatley")
	inOrder(t, out, "The rain thins", "What do you do?", "Bram Oatley: I look at the letter.", "What do you do?", "session 1, cycle 2, in session")
	out = atTable(t, "/help\nIt rains.\n/ask bram: Do you go in?\n\n", "gm")
	inOrder(t, out, "/help says", "/secret WHO", "Waiting for Bram Oatley.", "Bram Oatley answers:", "The table waits where you left it.", "a cycle is open")
}

// TestCommandsAtATable: what a command cannot do is said, and play goes on.
func TestCommandsAtATable(t *testing.T) {
	out := atTable(t, "/save dusk\n/save dusk\n/roll 1d20+\n/nonsense\n/save\n/quit\n", "bram-oatley")
	inOrder(t, out, "Saved as dusk", "there is a save point dusk already", "column 6", "/nonsense is nothing here", "needs something behind it", "cycle 1, in session", "save point: dusk")
}
