package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/wire"
)

// seated is one person's: the program runs on a pseudo-terminal of its own.
type seated struct {
	*console
	cmd *exec.Cmd
}

// sit starts the program for one person.
func sit(t *testing.T, w *real, args ...string) *seated {
	t.Helper()
	c, inner := newConsole(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = append([]string{"conclave"}, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.dir, inner, inner, inner
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "TMPDIR=" + os.TempDir(),
		"NO_COLOR=1", "GORACE=" + os.Getenv("GORACE")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &seated{c, cmd}
}

// ends waits for the program's end.
func (p *seated) ends(code int) {
	p.t.Helper()
	err := p.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.drain()
		p.t.Errorf("%v ends with %d, not %d:\n%s", p.cmd.Args, got, code, p.all.String())
	}
}

// drain reads what is left on the screen.
func (p *seated) drain() {
	for {
		select {
		case more, ok := <-p.shown:
			if !ok {
				return
			}
			p.all.WriteString(more)
		default:
			return
		}
	}
}

func (p *seated) types(text string) {
	p.t.Helper()
	if _, err := p.outer.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

const gmAndCorwin = "  gm: {agent: human}\n  player.corwin-voss: {agent: human}\n" +
	"  player.tilda-brannock: {agent: scripted, script: tilda.script}\n"

// A game master and a player, both people, each at a terminal: the player's is the
// second. The game master leaves, and the player's goes on with the table.
func TestTwoTerminalsGMAndPlayer(t *testing.T) {
	w := rot(t, gmAndCorwin, "")
	gm := sit(t, w, "table", "play", "rot", "--as", "gm")
	gm.await("set the scene")
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	gm.await("corwin-voss came to the table")
	gm.types("It rains.\n/secret tilda: A glint on the LEDGE.\n/ask corwin: Do you go in?\n\n")
	gm.then("send it with an empty line", "\n")
	him.await("It rains.")
	him.then("Do you go in?", "I go in.\n")
	gm.await("I go in.")
	gm.types("He goes in. The night passes.\n\n")
	him.await("The night passes.")
	gm.await("Go on with the story.")
	gm.types("/quit\n")
	gm.ends(exitDone)
	him.await("it goes on in this terminal")
	him.await("somebody who is not here")
	gm = sit(t, w, "table", "play", "rot", "--as", "gm")
	him.await("gm came to the table")
	gm.types("Morning comes.\n\n")
	him.await("Morning comes.")
	gm.then("— Game master —", "/quit\n")
	him.await("gm left the table")
	gm.ends(exitDone)
	him.types("\x04")
	him.ends(exitDone)
	him.drain()
	without(t, "Corwin's screen", him.all.String(), "RING", "LEDGE", "answers", "Game master")
}

// Two players and an agent as the game master, each at their own terminal; a kill
// of the first lets the second go on, and nobody is asked again what they have
// answered.
func TestTwoTerminalsTwoPlayers(t *testing.T) {
	w := rot(t, twoPeople, asksBoth)
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.await("Do you go in?")
	her := sit(t, w, "table", "play", "rot", "--as", tildaB)
	him.await("tilda-brannock came to the table")
	again := sit(t, w, "table", "play", "rot", "--as", tildaB)
	again.await("tilda-brannock sits already, at the terminal of process")
	again.ends(exitNo)
	him.types("I go in.\n")
	her.await("Do you take it?")
	if err := him.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	him.ends(-1)
	her.await("it goes on in this terminal")
	her.await("Do you take it?")
	him = sit(t, w, "table", "play", "rot", "--as", corwin)
	her.await("corwin-voss came to the table")
	her.types("I take the RING.\n")
	her.await("It is night.")
	her.await("What do you do?")
	her.types("I wait.\n")
	him.await("It goes on.")
	her.await("It goes on.")
	him.await("What do you do?")
	him.types("/quit\n")
	him.ends(exitDone)
	her.await("corwin-voss left the table")
	her.types("/quit\n")
	her.ends(exitDone)
	without(t, "Corwin's screen", him.all.String(), "LEDGE", "RING", "COLD", "I take", "Do you go in?")
	without(t, "Tilda's screen", her.all.String(), "DOOR", "I go in.")
}

// Commands in a second terminal while one plays are done where it plays.
func TestCommandsWhileOnePlays(t *testing.T) {
	w := rot(t, twoPeople, "always\n  say It goes on.\n")
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.await("What do you do?")
	w.run(0, "table", "save", "rot", "dusk")
	inOrder(t, w.out.String(), "saved as dusk")
	w.run(1, "table", "save", "rot", "dusk")
	inOrder(t, w.out.String(), "there is a save point dusk already")
	w.run(0, "table", "roll", "--table", "rot", "--who", tildaB, "1d20")
	w.run(0, "table", "say", "rot", "I look around.")
	inOrder(t, w.out.String(), "It goes on.")
	him.await("It goes on.")
	w.run(0, "table", "seats", "rot", "--away", corwin)
	inOrder(t, w.out.String(), "corwin-voss: human, away")
	w.run(0, "table", "resume", "rot")
	inOrder(t, w.out.String(), "no cycle was open")
	him.types("/quit\n")
	him.ends(exitDone)
	if left, err := filepath.Glob(filepath.Join(w.dir, ".conclave", "locks", "table-rot.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if strings.Contains(him.all.String(), "conclave: ") {
		t.Error(him.all.String())
	}
}

// TestWireHoldsNoSecret: what is sent to a player's terminal, byte for byte, holds
// nothing that is another's: no notice, no question, no answer before its time.
func TestWireHoldsNoSecret(t *testing.T) {
	w := rot(t, gmAndCorwin, "")
	gm := sit(t, w, "table", "play", "rot", "--as", "gm")
	gm.await("set the scene")
	conn, err := wire.Dial(filepath.Join(w.dir, ".conclave", "locks", "table-rot.sock"), "conclave "+version)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	seating := map[string]any{"Table": "rot", "As": []string{corwin}}
	call := map[string]any{"verb": "PlayTable", "args": []any{seating}, "dir": w.dir, "person": true}
	if err := conn.Send("call", 0, call); err != nil {
		t.Fatal(err)
	}
	gm.await("corwin-voss came to the table")
	gm.types("It rains.\n/tell tilda: The KEY is under the mat.\n/secret tilda: A glint on the LEDGE.\n" +
		"/ask corwin: Do you go in?\n/note The reeve is a GHOST.\n\n")
	gm.then("send it with an empty line", "\n")
	var all strings.Builder
	until := func(what string) wire.Message {
		for {
			m, err := conn.Receive()
			if err != nil {
				t.Fatalf("%v, after\n%s", err, all.String())
			}
			all.WriteString(m.Kind + " " + string(m.Body) + "\n")
			if m.Kind == "withdraw" { // nothing was typed there
				_ = conn.Send("answer", m.ID, map[string]string{"none": "withdrawn"}) // they may have gone
			}
			if strings.Contains(string(m.Body), what) {
				return m
			}
		}
	}
	asked := until("Do you go in?")
	for asked.Kind != "question" {
		asked = until("Do you go in?")
	}
	if err := conn.Send("answer", asked.ID, map[string]string{"text": "I go in."}); err != nil {
		t.Fatal(err)
	}
	gm.await("RING") // what she did in secret is the game master's to read
	gm.types("He goes in.\n/tell tilda: It is COLD in your hand.\n\n")
	gm.then("send it with an empty line", "\n")
	until("He goes in.")
	gm.then("Go on with the story.", "/quit\n")
	for !strings.HasSuffix(all.String(), "over \n") {
		until("") // whoever leaves waits a while for those who still have something to answer
	}
	gm.ends(exitDone)
	inOrder(t, all.String(), "It rains.", `"Blocks":1}`, "Do you go in?", "He goes in.", `"Blocks":2}`, "over ")
	without(t, "the wire", all.String(), "KEY", "LEDGE", "RING", "COLD", "GHOST", "mat", "glint", tildaB)
}

// TestJoinFarDown: a workspace whose path is longer than a socket's name may be.
func TestJoinFarDown(t *testing.T) {
	w := rot(t, twoPeople, "always\n  say It goes on.\n")
	far := w.dir
	for range 12 {
		far = filepath.Join(far, "a-directory")
	}
	if err := os.MkdirAll(far, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"conclave.yaml", "campaigns", "gm.script", "tilda.script"} {
		if err := os.Rename(filepath.Join(w.dir, name), filepath.Join(far, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.dir, w.env.Dir = far, far
	w.run(0, "trust", "--yes")
	// What a killed process left is in nobody's way.
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.await("What do you do?")
	if err := him.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	him.ends(-1)
	if _, err := os.Lstat(filepath.Join(far, ".conclave", "locks", "table-rot.sock")); err != nil {
		t.Fatal(err)
	}
	him = sit(t, w, "table", "play", "rot", "--as", corwin)
	him.await("What do you do?")
	her := sit(t, w, "table", "play", "rot", "--as", tildaB)
	him.await("tilda-brannock came to the table")
	her.then("What do you do?", "I look.\n")
	him.await("It goes on.")
	her.types("\x03")
	her.ends(exitEnvironment)
	him.await("tilda-brannock left the table")
	him.types("/quit\n")
	him.ends(exitDone)
}
