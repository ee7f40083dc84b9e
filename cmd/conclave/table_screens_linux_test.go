package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"conclave/internal/screen"
)

var update = flag.Bool("update", false, "write the screens anew; read them")

// wide makes a terminal so many columns wide.
func wide(t *testing.T, f *os.File, columns int) {
	t.Helper()
	size := struct{ rows, columns, x, y uint16 }{50, uint16(columns), 0, 0}
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		t.Fatal(errno)
	}
}

// readable is a screen as a golden file has it: emphasis as marks, what differs
// from run to run as dots, and no signs of life, which come when a machine is slow.
func readable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\x1b[0m", "‹/›", "\x1b[1m", "‹b›", "\x1b[2m", "‹d›", "\x1b[3m", "‹i›").Replace(text)
	text = regexp.MustCompile(`commitment [0-9a-f]{8}…`).ReplaceAllString(text, "commitment ........…")
	text = regexp.MustCompile(`(?m)^\n  ‹d›(The game master thinks|The journals are being written)\.‹/›\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(text, "")
}

// golden compares a screen with the one that is kept, and looks at it by itself:
// no line of words is wider than the terminal, nothing steers it but what is ours.
func golden(t *testing.T, name, raw string, columns int) {
	t.Helper()
	if at := screen.Foreign([]byte(raw)); at != nil {
		t.Errorf("%s: a sequence that is not ours at %d", name, at[0])
	}
	got := readable(raw)
	bare := regexp.MustCompile(`‹.›`).ReplaceAllString(got, "")
	for line := range strings.SplitSeq(bare, "\n") {
		echo := strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "… ") || strings.TrimSpace(line) == longLine
		if len([]rune(line)) > columns && !echo && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%s: %d columns: %q", name, len([]rune(line)), line)
		}
	}
	for _, machine := range []string{"Event:", "Fault:", "Answer of", "QUICK_REACTION", "FULL_CONTEXT", "gm-context", "tmp/", "<<<", "*Dear"} {
		if strings.Contains(bare, machine) {
			t.Errorf("%s says %q to a person", name, machine)
		}
	}
	file := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not the screen that is kept (-update writes it):\n%s", name, got)
	}
}

// look is typed by nobody: something is waited for.
const look = "look"

// types types lines one after the other, each when the terminal asks for it: what
// is waited for, and what is typed then.
func (c *console) types(steps ...string) {
	c.t.Helper()
	for i := 0; i < len(steps); i += 2 {
		if steps[i+1] == look {
			c.await(steps[i])
		} else {
			c.then(steps[i], steps[i+1]+"\n")
		}
	}
}

// sat runs the program at a terminal, and returns what it showed.
func sat(t *testing.T, w *real, columns, code int, args []string, steps ...string) string {
	t.Helper()
	c, inner := newConsole(t)
	c.colours = true
	wide(t, inner, columns)
	wait := c.at(inner, w, args...)
	inner.Close()
	c.types(steps...)
	for more := range c.shown {
		c.all.WriteString(more)
	}
	if got := wait(); got != code {
		t.Errorf("%q ends with %d, want %d:\n%s", args, got, code, c.all.String())
	}
	return c.all.String()
}

const letterGM = `turn on Event: session-start
  say <<EOT
[SCENE: The Letter | the parlour, late]
The rain thins. On the table lies a letter in a hand that you both know, and nobody has dared to break the seal. *Dear Tam*, it says on the outside, and below it, smaller: **burn this**.
[FILE: tmp/gm-context.md]
## Expecting
x
[/FILE]
[FILE: tmp/corwin-voss-prompt.md]
---
request_type: QUICK_REACTION
---

## Scene
The parlour. The fire is low, and the dog has not stopped looking at the door since you came in.

## Just Happened
Tilda has put her hand on the letter.

## Request
Do you let her?
[/FILE]
[AWAIT_AI_PLAYERS: corwin-voss]
EOT
turn on Event: responses
  say <<EOT
The seal breaks with a *crack* that all of you will remember.
[TO: corwin-voss]
It is your own hand.
[/TO]
EOT
always
  say The rain goes on.
`

// TestPlayersScreen: a player's evening at a terminal of 60, 80 and 120 columns:
// asked, looking things up, mistyping, answering in two lines, leaving, coming back.
func TestPlayersScreen(t *testing.T) {
	for _, columns := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			w := rot(t, "  gm: {agent: scripted, script: gm.script}\n  player.corwin-voss: {agent: human}\n  player.tilda-brannock: {agent: scripted, script: tilda.script}\n", letterGM)
			first := sat(t, w, columns, 0, []string{"table", "play", "rot", "--as", "corwin"},
				"Do you let her?", look, "> ", "/help", "> ", "/sheet", "> ", "/rol 1d20", "> ", "/who",
				"> ", "I take her wrist.\\", "… ", "Gently.",
				"What do you do?", look, "> ", "/recap", "> ", "/quit")
			second := sat(t, w, columns, 0, []string{"table", "play", "rot", "--as", "corwin"}, "What do you do?", look, "> ", "/quit")
			golden(t, fmt.Sprintf("player-%d", columns), first+"\n═══ the next day ═══\n"+second, columns)
			inOrder(t, readable(second), "The Letter", "You: I take her wrist.\n  Gently.", "The seal breaks", "It is your own hand.", "What do you do?")
		})
	}
}

// longLine is typed in one line, whatever the terminal's width.
const longLine = "The rain thins. On the table lies a letter in a hand that you both know, and nobody has dared to break the seal."

// TestGameMastersScreen: the same for a person who is the game master: a typo after
// several lines, what is at hand, a preview where readers differ, answers.
func TestGameMastersScreen(t *testing.T) {
	for _, columns := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			w := rot(t, "  gm: {agent: human}\n  player: {agent: scripted, script: tilda.script}\n", "")
			for name, text := range map[string]string{
				"overview.md": "# Rot\n\nA house that *eats* its heirs.\n", "story-state.md": "# Story state\n\n- The dog is the heir.\n", "beats/one.md": "# The letter is opened\n",
			} {
				file := filepath.Join(w.dir, "campaigns", "rot", filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out := sat(t, w, columns, 0, []string{"table", "play", "rot", "--as", "gm"},
				"> ", "/help", "> ", "/overview", "> ", "/state", "> ", "/beats", "> ", "/party",
				"> ", "/scene The Letter | the parlour, late",
				"late\r\n  ", longLine,
				"seal.\r\n  ", "/tell tilda: It is your father's hand.",
				"hand.\r\n  ", "/state", // in the middle of a turn
				"> ", "/aks tilda: Do you open it?",
				"open it?\r\n  ", "",
				"Type line 4 again", look, "> ", "/ask tilda: Do you open it?",
				"open it?\r\n  ", "",
				"Go on, or send it", look, "> ", "", // the preview was read
				"What happens?", look, "> ", "/quit")
			golden(t, fmt.Sprintf("gm-%d", columns), out, columns)
			inOrder(t, readable(out), "Line 4 cannot be taken: /aks is nothing here.", "Did you mean", "Corwin Voss will read:", "Tilda Brannock will read:", "your father's", "Tilda Brannock is asked:",
				"The Letter", "Tilda Brannock answers:", "I pocket the RING.")
		})
	}
}
