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
	gm.await("Corwin came to the table")
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
	him.await("The game master came to the table")
	gm.types("Morning comes.\n\n")
	him.await("Morning comes.")
	gm.then("— Game master —", "/quit\n")
	him.await("The game master left the table")
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
	him.await("Tilda came to the table")
	again := sit(t, w, "table", "play", "rot", "--as", tildaB)
	again.await("Tilda sits already, at the terminal of process")
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
	her.await("Corwin came to the table")
	her.types("I take the RING.\n")
	her.await("It is night.")
	her.await("What do you do?")
	her.types("I wait.\n")
	him.await("It goes on.")
	her.await("It goes on.")
	him.await("What do you do?")
	him.types("/quit\n")
	him.ends(exitDone)
	her.await("Corwin left the table")
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
	w.run(1, "table", "dice", "seed", "rot", "herons") // a roll has fallen
	w.run(0, "table", "dice", "rotate", "rot")
	w.run(0, "table", "dice", "seed", "rot", "seven herons")
	inOrder(t, w.out.String(), "the table's words are in the dice")
	w.run(0, "table", "dice", "override", "rot", "1", "15", "--why", "the lamp was in her hand")
	inOrder(t, w.out.String(), "15 stands instead")
	w.run(0, "table", "dice", "override", "rot", "--forbid")
	w.run(1, "table", "dice", "override", "rot", "1", "16")
	w.run(1, "table", "dice", "seal", "rot") // it holds
	w.run(0, "table", "dice", "verify", "rot")
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

// Who joins reads where the story stands; who looks on at a table that nobody plays
// is told so; what the host leaves is no farewell to the others; and a session is
// ended from outside.
func TestGuestsAreTold(t *testing.T) {
	t.Parallel()
	w := rot(t, twoPeople, asksBoth)
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.then("Do you go in?", "I go in.\n")
	her := sit(t, w, "table", "play", "rot", "--as", tildaB)
	her.then("Do you take it?", "I take the RING.\n")
	her.await("COLD in your hand")
	her.then("What do you do?", "/quit\n")
	her.ends(exitDone)
	her = sit(t, w, "table", "play", "rot", "--as", tildaB)
	her.await("You: I take the RING.")
	her.await("It is night.")
	her.await("COLD in your hand")
	her.await("What do you do?")
	if n := strings.Count(her.all.String(), "It is night."); n != 1 {
		t.Errorf("who comes back reads the last round %d times:\n%s", n, her.all.String())
	}
	him.await("Tilda came to the table")
	him.then("What do you do?", "/quit\n")
	him.ends(exitDone)
	her.await("it goes on in this terminal")
	w.run(0, "table", "end", "rot")
	inOrder(t, w.out.String(), "the session of rot is over")
	w.run(0, "table", "status", "rot")
	without(t, "the state", w.out.String(), "in session")
	her.await("The session is over.")
	her.ends(exitDone)
	without(t, "her screen", her.all.String(), "waits where you left it", tildaB, corwin, "I go in.")
	if n := strings.Count(her.all.String(), "It is night."); n != 1 {
		t.Errorf("who goes on with the table reads the last round %d times:\n%s", n, her.all.String())
	}
	him.drain()
	without(t, "his screen", him.all.String(), tildaB, "RING")
	if n := strings.Count(him.all.String(), "left the table"); n != 1 {
		t.Errorf("he reads %d times that she left:\n%s", n, him.all.String())
	}
	w.run(0, "table", "end", "rot")
	inOrder(t, w.out.String(), "no session was under way")
}

// A game master who leaves in the middle of a turn, at a terminal that had joined:
// the table stays with who holds it, and the lines with who typed them.
func TestAGuestLeavesInTheMiddle(t *testing.T) {
	t.Parallel()
	w := rot(t, gmAndCorwin, "")
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.await("somebody who is not here")
	gm := sit(t, w, "table", "play", "rot", "--as", "gm")
	w.run(0, "table", "status", "rot")
	inOrder(t, w.out.String(), "awaited: the game master (conclave table play rot --as gm)")
	gm.then("set the scene", "It rains.\nThe night passes.\n/quit\n")
	gm.await("What you had typed and not sent is kept")
	gm.ends(exitDone)
	him.await("The game master left the table")
	gm = sit(t, w, "table", "play", "rot", "--as", "gm")
	gm.await("You had typed, and not sent:")
	gm.await("The night passes.")
	gm.types("Morning comes.\n\n")
	him.await("It rains.")
	him.await("The night passes.")
	him.await("Morning comes.")
	gm.then("— Game master —", "/quit\n")
	gm.ends(exitDone)
	him.types("\x04")
	him.ends(exitDone)
}

// In a campaign of one's own, whoever opens the table in another seat is told that
// its game master is to come, once; who joins one where they are is not. The title
// of the scene is read by who comes in the middle of its first round, too.
func TestGuestsOfAGameMaster(t *testing.T) {
	t.Parallel()
	w := rot(t, "  player: {agent: human}\n", "")
	const is = "The game master of rot is a person"
	him := sit(t, w, "table", "play", "rot", "--as", corwin)
	him.await("somebody who is not here")
	if n := strings.Count(him.all.String(), is); n != 1 {
		t.Errorf("he is told %d times:\n%s", n, him.all.String())
	}
	gm := sit(t, w, "table", "play", "rot", "--as", "gm")
	gm.then("set the scene", "/scene The Mill | at dusk\nAsh falls.\n/ask corwin, tilda: Do you go in?\n\n")
	him.await("The Mill")
	him.await("Do you go in?")
	her := sit(t, w, "table", "play", "rot", "--as", tildaB)
	her.await("── The Mill ──")
	him.types("I wait.\n")
	her.then("Do you go in?", "I go in.\n")
	without(t, "her screen", her.all.String(), is)
	gm.await("Tilda Brannock answers:")
	gm.then("What happens?", "/quit\n")
	gm.ends(exitDone)
	her.types("\x03")
	her.ends(exitEnvironment)
	him.types("\x03")
	him.ends(exitEnvironment)
	// The end of a session is said from outside as well.
	w.run(0, "table", "say", "rot", "--as", "gm", "The night passes.\n/end")
	w.run(0, "table", "resume", "rot", "--as", "gm")
	w.run(0, "table", "status", "rot")
	inOrder(t, w.out.String(), "rot: session 1, cycle 1, at rest")
}

// Who joins a table at which agents play every seat looks on, and is told so.
func TestAGuestAtATableOfAgents(t *testing.T) {
	t.Parallel()
	w := rot(t, "  gm: {agent: scripted, script: gm.script}\n  player: {agent: scripted, script: tilda.script}\n",
		"turn on Event: session-start\n  say It begins.\nturn\n  wait 1m\n  say It goes on.\n")
	host := sit(t, w, "table", "play", "rot", "--auto", "--max-turns", "2")
	host.await("It begins.")
	her := sit(t, w, "table", "play", "rot", "--as", tildaB)
	her.await("Agents play every seat at this table (--auto), and nobody is asked: you look on.")
	her.await("It begins.")
	her.types("\x03")
	her.ends(exitEnvironment)
	host.types("\x03")
	host.ends(exitEnvironment)
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
	gm.await("Corwin came to the table")
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
	him.await("Tilda came to the table")
	her.then("What do you do?", "I look.\n")
	him.await("It goes on.")
	her.types("\x03")
	her.ends(exitEnvironment)
	him.await("Tilda left the table")
	him.types("/quit\n")
	him.ends(exitDone)
}
