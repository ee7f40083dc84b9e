package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// pasted is a quest in twelve lines, as somebody copies it from their notes.
const pasted = "Publish the counter so that strangers can use it.\n" +
	"\n" +
	"Done means:\n" +
	"- `README.md` exists\n" +
	"- `README.md` contains `Counts lines`\n" +
	"- a stranger can install it\n" +
	"\n" +
	"It matters because three groups copy it by hand today.\n" +
	"Mara asks for it.\n" +
	"\n" +
	"What could go wrong: nobody reads the README.\n" +
	"That would be the dragon.\n"

// at starts the program on the console and returns how it ended.
func (c *console) at(inner *os.File, w *real, args ...string) (wait func() int) {
	c.t.Helper()
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), self)
	cmd.Args = append([]string{"conclave"}, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.dir, inner, inner, inner
	cmd.Env = []string{"HOME=" + w.env.Getenv("HOME"), "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "TMPDIR=" + os.TempDir(), "NO_COLOR=1",
		"GORACE=" + os.Getenv("GORACE")}
	if c.colours {
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return v == "NO_COLOR=1" })
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return func() int {
		err := cmd.Wait()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			c.t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}
}

// TestAQuestInTalk: a quest defined by pasting twelve lines, interrupted,
// resumed, and confronted by saying so; with the embedded party, on a terminal
// that puts no marks around a paste.
func TestAQuestInTalk(t *testing.T) {
	w := newReal(t, "")
	if err := os.WriteFile(filepath.Join(w.dir, "README.md"), []byte("# Counter\n\nCounts lines.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(pasted, "\n"); n != 12 {
		t.Fatalf("%d lines are pasted", n)
	}
	w.run(0, "trust", "--yes")
	const answer = "Your answer to Gandalf (empty, or your agreement"

	c, inner := newConsole(t)
	wait := c.at(inner, w, "quest", "start", "--mode", "ship")
	c.await("What do you want to say to Gandalf?")
	c.then("an empty line ends the answer)\r\n> ", pasted)
	c.then("That would be the dragon.\r\n  ", "\n")
	c.await("1. `README.md` exists")
	c.await("3. a stranger can install it")
	c.await("nobody reads the README")
	c.then(answer, "\x03")
	c.await("nothing is lost: `conclave quest continue` goes on from here")
	if code := wait(); code != exitEnvironment {
		t.Errorf("interrupted, it ends with %d", code)
	}

	w.run(0, "quest", "status")
	inOrder(t, w.out.String(), "There is no quest here yet.", "Interrupted: the definition of a quest with Gandalf")
	w.run(1, "consult", "cat", "-m", "Is it safe?") // nothing else ends it
	if !strings.Contains(w.out.String(), "was interrupted") {
		t.Error(w.out.String())
	}

	c, inner = newConsole(t)
	wait = c.at(inner, w, "quest", "continue")
	c.await("Publish the counter so that strangers can use it") // what was said last is said again
	c.await(answer)
	c.then("> ", "drop 3\n")
	c.then("drop 3\r\n  ", "\n")
	c.await("Publish the counter so that strangers can use it")
	c.await(answer)
	c.then("> ", "it is right\n")
	c.await("Do you agree?")
	c.then("> ", "ok, agreed\n")
	c.await("What next?")
	c.then("> ", "I'm ready to face the dragon\n")
	c.await("Which files or directories are the work?")
	c.then("> ", "READEM.md\n")
	c.await("Is it README.md?")
	c.then("> ", "README.md\n")
	c.await("Dragon Slain")
	c.await("What next?")
	c.then("> ", "bye\n")
	if code := wait(); code != exitDone {
		t.Errorf("it ends with %d:\n%s", code, c.all.String())
	}

	q, err := os.ReadFile(filepath.Join(w.dir, ".campaign", "quest.md"))
	if err != nil {
		t.Fatal(err)
	}
	inOrder(t, string(q), "phase: 6", "# Publish the counter", "1. `README.md` exists", "2. `README.md` contains `Counts lines`", "nobody reads the README", "Dragon Slain")
	if strings.Contains(string(q), "install it") {
		t.Errorf("what was dropped is there:\n%s", q)
	}
	w.run(0, "transcript", "verify")
	if !strings.Contains(w.out.String(), "2 conversations proved") {
		t.Error(w.out.String())
	}
	found, err := filepath.Glob(filepath.Join(w.dir, ".campaign", "conversations", "*-gandalf.md"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	inOrder(t, string(text), "**User:** "+strings.TrimSuffix(pasted, "\n")+"\n\n**🧙 Gandalf:**", "**User:** drop 3", "**User:** it is right", "**🧙 Gandalf:** Publish the counter", "**User:** ok, agreed")
}
