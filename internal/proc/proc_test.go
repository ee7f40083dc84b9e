//go:build linux

package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/agent"
)

// The test binary plays the programs itself; PROC_TEST names the part.
func TestMain(m *testing.M) {
	switch os.Getenv("PROC_TEST") {
	case "":
		os.Exit(m.Run())
	case "echo": // ends when stdin does
		io.Copy(os.Stdout, os.Stdin)
		os.Exit(0)
	case "parent": // starts a program and is killed with it running
		p, err := Launcher{}.Launch(context.Background(), agent.Command{
			Path: "/bin/sh", Args: []string{"-c", "trap '' HUP; echo $$; exec sleep 600"}})
		if err != nil {
			os.Exit(7)
		}
		io.Copy(os.Stdout, p.Stdout())
		os.Exit(0)
	}
}

func launch(t *testing.T, o Options, path string, args ...string) agent.Process {
	t.Helper()
	p, err := Launcher{o}.Launch(t.Context(), agent.Command{Path: path, Args: args,
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func pids(t *testing.T, r *bufio.Reader, n int) []int {
	t.Helper()
	var out []int
	for range n {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("read process id: %v", err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, pid)
	}
	return out
}

func alive(pid int) bool { _, ok := stat(pid); return ok }

func TestLadder(t *testing.T) {
	fast := Options{closeWait: 50 * time.Millisecond, termWait: 50 * time.Millisecond}
	for _, c := range []struct {
		name, script string
		opts         Options
		want         string // what Err says
	}{
		{"ends when stdin is closed", `cat >/dev/null; exit 0`, Options{}, ""},
		{"ends at TERM", `trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done`, Options{closeWait: fast.closeWait}, "exit status 5"},
		{"ends at KILL", `trap '' TERM; echo ready; while :; do sleep 0.01; done`, fast, "signal: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, c.opts, "/bin/sh", "-c", "echo up; "+c.script)
			if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if err := p.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(p.Err()); !strings.HasSuffix(got, c.want) || (c.want == "" && p.Err() != nil) {
				t.Errorf("ended with %q, want %q", got, c.want)
			}
			if alive(p.PID()) {
				t.Error("the program is alive")
			}
		})
	}
}

// Children in the group, in a session of their own, and without the mark must
// all be gone, by Stop or by the program's own end.
func TestNoOrphan(t *testing.T) {
	script := `sleep 600 & echo $!
setsid sleep 600 & echo $!
setsid sh -c 'sleep 600 & echo $!; exit 0'
env -i sleep 600 & echo $!
(trap '' TERM; sleep 600) & echo $!
`
	for _, end := range []string{"wait", "exit 0", "kill -9 $$"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			p := launch(t, Options{closeWait: 20 * time.Millisecond, termWait: 20 * time.Millisecond}, "/bin/sh", "-c", script+"echo $$; "+end)
			family := pids(t, bufio.NewReader(p.Stdout()), 6)
			if end == "wait" {
				if err := p.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			<-p.Done()
			for _, pid := range family {
				if alive(pid) {
					t.Errorf("process %d of %v is alive", pid, family)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

func TestStopInAHurry(t *testing.T) {
	p := launch(t, Options{closeWait: time.Hour, termWait: time.Hour}, "/bin/sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.01; done")
	if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	patient := make(chan error, 1)
	go func() { patient <- p.Stop(context.Background()) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-patient; err != nil {
		t.Fatal(err)
	}
}

// In a hurry nobody is asked: a program that would have ended itself, with a
// status of its own, is killed.
func TestKilledAtOnce(t *testing.T) {
	p := launch(t, Options{closeWait: time.Hour, termWait: time.Hour}, "/bin/sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
	if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(gone); err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended with %v", err)
	}
}

// What the program wrote before it ended is read to the last byte, however
// late the reader comes.
func TestOutputSurvivesTheProgram(t *testing.T) {
	p := launch(t, Options{}, "/bin/sh", "-c", "printf 'last words'; printf 'and complaints' >&2; exit 3")
	<-p.Done()
	out, err := io.ReadAll(p.Stdout())
	if err != nil || string(out) != "last words" {
		t.Errorf("stdout %q, %v", out, err)
	}
	complaints, err := io.ReadAll(p.Stderr())
	if err != nil || string(complaints) != "and complaints" {
		t.Errorf("stderr %q, %v", complaints, err)
	}
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) || exit.ExitCode() != 3 {
		t.Errorf("ended with %v", p.Err())
	}
}

func TestEcho(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Launcher{}.Launch(t.Context(), agent.Command{Path: self, Env: []string{"PROC_TEST=echo"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin(), "hello"); err != nil {
		t.Fatal(err)
	}
	p.Stdin().Close()
	out, err := io.ReadAll(p.Stdout())
	if err != nil || string(out) != "hello" {
		t.Errorf("read %q, %v", out, err)
	}
	if err := p.Stop(t.Context()); err != nil || p.Err() != nil {
		t.Error(err, p.Err())
	}
}

// A program does not outlive the process that answers for it.
func TestDiesWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{"PROC_TEST=parent", "PATH=/usr/bin:/bin"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := pids(t, bufio.NewReader(out), 1)[0]
	if !alive(child) {
		t.Fatal("the program did not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(5 * time.Second); alive(child); {
		if time.Now().After(deadline) {
			_ = syscall.Kill(child, syscall.SIGKILL)
			t.Fatal("the program outlived its parent")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLaunchErrors(t *testing.T) {
	file := t.TempDir() + "/plain"
	if err := os.WriteFile(file, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		cmd  agent.Command
		want string
	}{
		{t.Context(), agent.Command{Path: "sh"}, "must be absolute"},
		{t.Context(), agent.Command{Path: "/no/such/program"}, "no such program"},
		{t.Context(), agent.Command{Path: "/bin/sh", Dir: "/no/such/dir"}, "working directory /no/such/dir does not exist"},
		{t.Context(), agent.Command{Path: file}, "may not be run"},
		{ended, agent.Command{Path: "/bin/sh"}, "context canceled"},
	} {
		_, err := Launcher{}.Launch(c.ctx, c.cmd)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cmd, err, c.want)
		}
	}
}
