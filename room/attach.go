package room

import (
	"context"
	"os"
	"os/exec"
	"time"

	"conclave/agent"
)

// Stdio are the streams of an attached program.
type Stdio struct {
	In, Out, Err *os.File
	// Terminal says that they are a terminal that belongs to nobody yet (see
	// NewTerminal): it becomes the program's controlling terminal.
	Terminal bool
}

// set gives cmd the streams that are there: a nil *os.File is no nil io.Reader.
func (s Stdio) set(cmd *exec.Cmd) {
	if s.In != nil {
		cmd.Stdin = s.In
	}
	if s.Out != nil {
		cmd.Stdout = s.Out
	}
	if s.Err != nil {
		cmd.Stderr = s.Err
	}
}

// Run runs a program with the given streams, shown as in Launch, and returns
// when it has ended. When ctx ends, the program is killed. The error wraps
// *exec.ExitError when the program ended with a status.
func (r *Room) Run(ctx context.Context, c agent.Command, s Stdio) error {
	c, err := r.command(c)
	if err != nil {
		return err
	}
	a, shown, err := r.attach(ctx, c, s)
	if err != nil {
		return err
	}
	r.show(shown)
	if err := r.enter(a); err != nil {
		_ = stopNow(a.running)
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = stopNow(a.running) })
	defer stop()
	r.attend(a)
	return a.Err()
}

// attached is a program that uses somebody's streams.
type attached struct {
	cmd    *exec.Cmd
	hangUp func() // see proc.Options
	done   chan struct{}
	err    error
}

// startAttached starts cmd, whose streams are set.
func startAttached(cmd *exec.Cmd, hangUp func()) (running, error) {
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	a := &attached{cmd: cmd, hangUp: hangUp, done: make(chan struct{})}
	go func() {
		a.err = cmd.Wait()
		killGroup(cmd.Process.Pid)
		close(a.done)
	}()
	return a, nil
}

// Stop kills: there is no stdin to close that would be ours.
func (a *attached) Stop(context.Context) error {
	if a.hangUp != nil && a.hungUp() {
		return nil
	}
	killGroup(a.cmd.Process.Pid)
	_ = a.cmd.Process.Kill() // it may have ended already
	<-a.done
	return nil
}

// hungUp says whether init has ended everything when it was told to.
func (a *attached) hungUp() bool {
	a.hangUp()
	select {
	case <-a.done:
		return true
	case <-time.After(hangUpWait):
		return false
	}
}

// hangUpWait is how long an init gets to end its family.
const hangUpWait = 5 * time.Second

func (a *attached) Done() <-chan struct{} { return a.done }

func (a *attached) Err() error {
	select {
	case <-a.done:
		return a.err
	default:
		return nil
	}
}
