package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/screen"
)

const (
	corwin = "corwin-voss"
	tildaB = "tilda-brannock"
)

// rot is a table with two characters, and whoever the configuration seats.
func rot(t *testing.T, config, gmScript string) *real {
	t.Helper()
	w := newReal(t, "agents:\n"+config)
	for name, text := range map[string]string{
		"campaigns/rot/party/corwin-voss.md":    "# Corwin Voss\n",
		"campaigns/rot/party/tilda-brannock.md": "# Tilda Brannock\n",
		"tilda.script":                          "always\n  say I pocket the RING.\n",
		"gm.script":                             gmScript,
	} {
		file := filepath.Join(w.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "trust", "--yes")
	return w
}

// types runs a command with a person at the terminal, and returns the screen.
func (w *real) types(code int, typed string, args ...string) string {
	w.t.Helper()
	w.env.Stdin, w.env.StdinIsTerminal = strings.NewReader(typed), true
	w.env.Stdout, w.env.Stderr = screen.New(&w.out, screen.Options{Terminal: true}), screen.New(&w.out, screen.Options{Terminal: true})
	w.run(code, args...)
	out := w.out.String()
	if at := screen.Foreign([]byte(out)); at != nil {
		w.t.Errorf("a sequence that is not ours at %d of\n%q", at[0], out)
	}
	return out
}

func without(t *testing.T, what, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("%s holds %q:\n%s", what, s, text)
		}
	}
}

// T1: the game master and Corwin are people, Tilda is an agent that acts in
// secret. Corwin's screen never shows what is the game master's or Tilda's,
// although it is his process that goes on.
func TestScreenOfASeat(t *testing.T) {
	w := rot(t, "  gm: {agent: human}\n  player.corwin-voss: {agent: human}\n  player.tilda-brannock: {agent: scripted, script: tilda.script}\n", "")
	secrets := []string{"RING", "LEDGE", "answers", "Game master", "/ask"}
	out := w.types(0, "It rains.\n/secret tilda: A glint on the LEDGE.\n/ask corwin: Do you go in?\n\n\n", "table", "play", "rot", "--as", "gm")
	inOrder(t, out, "Game master", "Tilda Brannock is asked, and nobody else learns of it", "The table pauses.", "somebody who is not here", "play rot --as corwin-voss", "The table waits")
	out = w.types(0, "I go in.\n", "table", "resume", "rot", "--as", "corwin")
	inOrder(t, out, "— Corwin Voss —", "Do you go in?", "the game master is to answer", "play rot --as gm")
	without(t, "Corwin's screen", out, secrets...)
	out = w.types(0, "I go in.\n", "table", "play", "rot", "--as", corwin)
	inOrder(t, out, "table play rot --as NAME", "This was not said: I go in.")
	without(t, "Corwin's screen, again", out, secrets...)
	out = w.types(0, "Nothing.\n", "table", "resume", "rot")
	without(t, "the table's screen", out, secrets...)
	out = w.types(0, "He goes in. The night passes.\n/tell tilda: It is cold in your hand.\n\n\n", "table", "resume", "rot", "--as", "gm")
	inOrder(t, out, "Tilda Brannock answers, in secret:", "RING", "Corwin Voss answers:", "I go in.", "The night passes.")
	w.run(0, "table", "export", "rot", "--format", "log", "--as", corwin)
	without(t, "Corwin's export", w.out.String(), "RING", "LEDGE", "cold in your hand")
}

const asksBoth = `turn on Event: session-start
  say <<EOT
[FILE: tmp/gm-context.md]
## Expecting
x
[/FILE]
[FILE: tmp/tilda-brannock-prompt.md]
---
request_type: SECRET_ACTION
---

## Scene
The LEDGE.

## Just Happened
A glint.

## Request
Do you take it?
[/FILE]
[FILE: tmp/corwin-voss-prompt.md]
---
request_type: QUICK_REACTION
---

## Scene
The DOOR.

## Just Happened
It creaks.

## Request
Do you go in?
[/FILE]
[AWAIT_AI_PLAYERS: corwin-voss, tilda-brannock]
EOT
turn on Event: responses
  say <<EOT
It is night.
[TO: tilda-brannock]
It is COLD in your hand.
[/TO]
EOT
always
  say It goes on.
`

const twoPeople = "  gm: {agent: scripted, script: gm.script}\n  player: {agent: human}\n"

// T1, with two people: the screen of one never prints what the other is asked.
func TestScreenOfOneOfTwoPeople(t *testing.T) {
	w := rot(t, twoPeople, asksBoth)
	out := w.types(0, "I go in.\n", "table", "play", "rot", "--as", corwin)
	inOrder(t, out, "— Corwin Voss —", "The DOOR", "somebody who is not here", "--as NAME", "The table waits where you left it")
	without(t, "Corwin's screen", out, "LEDGE", "Do you take it?", tildaB, "Tilda")
	out = w.types(0, "I take it.\n", "table", "resume", "rot", "--as", tildaB)
	inOrder(t, out, "— Tilda Brannock —", "The LEDGE", "It is night.", "COLD")
	without(t, "Tilda's screen", out, "DOOR", "I go in.")
}

// T2: two people at one terminal are asked one after the other, by name, when the
// keyboard is theirs; what one of them read is gone before the other looks.
func TestTwoPeopleAtOneTerminal(t *testing.T) {
	const cleared = "\x1b[H\x1b[2J\x1b[3J"
	w := rot(t, twoPeople, asksBoth)
	out := w.types(0, "\nI go in.\n\nI take the RING.\n\n\ntilda: I wait.\n/quit\n", "table", "play", "rot", "--as", corwin, "--as", tildaB)
	inOrder(t, out, "This is for Corwin alone", "— Corwin Voss —", "The DOOR", "> ", cleared, "This is for Tilda alone", "— Tilda Brannock —", "The LEDGE", "> ",
		cleared, "It is night.", "This is for Tilda alone", "COLD", cleared, "What do you do? (NAME: what you say", "It goes on.")
	if n := strings.Count(out, "COLD"); n != 1 {
		t.Errorf("what Tilda was told alone is shown %d times", n)
	}
	answers(t, w, "I go in.", "I take the RING.")
}

// A line that is typed before one was asked is nobody's answer.
func TestTypedTooSoon(t *testing.T) {
	w := rot(t, twoPeople, asksBoth)
	out := w.types(0, "I take the RING.\nI go in.\n\nI take it, I say.\n\n\n/quit\n", "table", "play", "rot", "--as", corwin, "--as", tildaB)
	inOrder(t, out, "This is for Corwin alone", "What was typed was not taken", "— Corwin Voss —")
	answers(t, w, "I go in.", "I take it, I say.")
	w.run(2, "table", "play", "rot", "--as", corwin, "--as", corwin)
	w.run(2, "table", "resume", "rot", "--as", "nobody-here")
}

func answers(t *testing.T, w *real, his, hers string) {
	t.Helper()
	w.run(0, "table", "export", "rot", "--format", "log", "--as", "gm")
	inOrder(t, w.out.String(), "**corwin-voss** (QUICK_REACTION, answer): "+his, "**tilda-brannock** (SECRET_ACTION, answer): "+hers)
}
