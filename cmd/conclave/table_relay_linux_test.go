package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const relayed = "  gm: {agent: scripted, script: gm.script}\n  player.tilda-brannock: {agent: scripted, script: tilda.script}\n" +
	"  player.corwin-voss: {agent: human}\n  relay.corwin-voss: {agent: scripted, script: voice.script}\n"

const asksTwice = `turn on Event: session-start
  say <<EOT
[FILE: tmp/gm-context.md]
## Expecting
x
[/FILE]
[FILE: tmp/corwin-voss-prompt.md]
---
request_type: COMBAT_ACTION
---

## Scene
The mill.

## Just Happened
A goblin drops from the beam.

## Request
What do you do to it?
[/FILE]
[AWAIT_AI_PLAYERS: corwin-voss]
EOT
always
  say It goes on.
`

// withVoice is a table with an agent that finds words for Corwin's person.
func withVoice(t *testing.T, script string) *real {
	t.Helper()
	w := newReal(t, "agents:\n"+relayed)
	for name, text := range map[string]string{
		"campaigns/rot/party/corwin-voss.md":    "# Corwin Voss\n\nA duellist. SHEET-OF-CORWIN\n",
		"campaigns/rot/party/tilda-brannock.md": "# Tilda Brannock\n\nSHEET-OF-TILDA\n",
		"campaigns/rot/story-state.md":          "# Story state\n\nSECRET-OF-THE-MASTER\n",
		"tilda.script":                          "always\n  say I wait.\n",
		"gm.script":                             asksTwice,
		"voice.script":                          script,
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

const duellist = `always on Event: options
  say <<EOT
- Strike at once
- Step back into the light
EOT
always on step back
  say Corwin gives ground, one pace, into the light.
always on Step back
  say Corwin gives ground, one pace, into the light.
always
  expect attack the goblin
  expect SHEET-OF-CORWIN
  say Corwin's blade is out before the thought is. Tilda strikes as well.
`

// T10 of the table: a person types a few words, reads how their character says
// them, and only then is it said; their own words are at hand, options can be had,
// and nothing is said that they did not agree to.
func TestRelay(t *testing.T) {
	t.Parallel()
	w := withVoice(t, duellist)
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.await("What do you do to it?")
	him.types("/help\n")
	him.await("/options")
	him.await("What do you do to it?")
	him.types("attack the goblin\n")
	him.await("Corwin's blade is out before the thought is.")
	him.await("somebody else acts in it")
	him.await("Shall it be said like that?")
	him.types("/options\n")
	him.await("2. Step back into the light")
	him.await("Shall it be said like that?")
	him.types("2\n")
	him.await("Corwin gives ground")
	him.await("Enter sends it")
	him.types("\n")
	him.await("It goes on.")
	him.await("What do you do?")
	// What is said of one's own accord is put as well.
	him.types("step back\n")
	him.await("Corwin gives ground")
	him.await("Shall it be said like that?")
	him.types("/mine\n")
	him.await("What do you do?")
	him.types("/quit\n")
	him.ends(exitDone)
	w.run(0, "table", "export", "rot", "--format", "log", "--as", "gm")
	inOrder(t, w.out.String(), "**corwin-voss** (COMBAT_ACTION, answer): Corwin gives ground, one pace, into the light.", "step back")
	without(t, "what was said", w.out.String(), "blade is out", "Tilda strikes")
	// What the person typed is the journal's, and on the record of the voice.
	heard := ""
	files, err := filepath.Glob(filepath.Join(w.dir, ".conclave", "records", "*.voice.record"))
	if err != nil || len(files) == 0 {
		t.Fatalf("records of the voice: %v %v", files, err)
	}
	for _, f := range files {
		w.run(0, "transcript", "check", f)
		w.run(0, "record", "show", strings.TrimSuffix(filepath.Base(f), ".record"))
		heard += w.out.String()
	}
	inOrder(t, heard, "Step back into the light")
	without(t, "the voice", heard, "SECRET-OF-THE-MASTER", "SHEET-OF-TILDA")
	w.run(0, "table", "audit", "rot")
}

// A voice that fails takes nobody's turn: what was typed is said.
func TestRelayGivesNoWords(t *testing.T) {
	t.Parallel()
	w := withVoice(t, "always\n  say [VETO - need more input]\n")
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.then("What do you do to it?", "attack the goblin\n")
	him.await("No other words were found")
	him.await("Enter sends what you typed")
	him.types("\n")
	him.await("It goes on.")
	him.then("What do you do?", "\x04")
	him.ends(exitDone)
	w.run(0, "table", "export", "rot", "--format", "log", "--as", "gm")
	inOrder(t, w.out.String(), "(COMBAT_ACTION, answer): attack the goblin")
}

// Where nobody reads the words before they are said, nobody finds any: a file, and
// what is left with say.
func TestRelayNeedsAReader(t *testing.T) {
	t.Parallel()
	w := withVoice(t, "always\n  say NOT-READ\n")
	answers := filepath.Join(t.TempDir(), "answers.txt")
	if err := os.WriteFile(answers, []byte("attack the goblin\nI wait.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(0, "table", "play", "rot", "--as", corwin, "--answers", answers)
	w.run(0, "table", "export", "rot", "--format", "log", "--as", "gm")
	inOrder(t, w.out.String(), "(COMBAT_ACTION, answer): attack the goblin", "I wait.")
	without(t, "what was said", w.out.String(), "NOT-READ")
	for _, none := range []string{"human", "offline"} {
		yaml := strings.Replace("agents:\n"+relayed, "{agent: scripted, script: voice.script}", "{agent: "+none+"}", 1)
		if err := os.WriteFile(filepath.Join(w.dir, "conclave.yaml"), []byte(yaml), 0o644); err != nil {
			t.Fatal(err)
		}
		w.run(0, "trust", "--yes")
		w.run(3, "table", "play", "rot", "--as", corwin, "--answers", answers)
		inOrder(t, w.out.String(), "agents: relay.corwin-voss: who lends a character a voice is an agent with a model")
	}
}
