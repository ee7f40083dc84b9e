// Package proc runs one program and answers for all of its family: whatever
// the program starts is gone when the program is, and both are gone when Stop
// returns.
//
// Start takes an exec.Cmd that someone else prepared (package room does, with
// its namespaces); Launcher is the agent.Launcher that confines nothing, for
// tests and for a person who asked for no room.
//
// A program is the leader of its own session and process group. Stop goes down
// the ladder: close stdin, wait, TERM, wait, KILL, reap. On Linux the family is
// found in /proc by group, session, descent and by a variable that Start adds
// to the environment, so that a child which made itself a daemon is found too,
// and the kernel kills the program should this process die first. Elsewhere on
// Unix the family is the process group; on Windows it is a job object.
//
// It refuses to report success while a process of the family is alive: such
// survivors are named in the error.
package proc

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"conclave/agent"
)

// marker is the environment variable by which a family is recognised. Its
// value is random, and tells nothing.
const marker = "CONCLAVE_FAMILY"

// Options configure Start. The zero value works.
type Options struct {
	closeWait time.Duration // after closing stdin; zero means 3 s
	termWait  time.Duration // after TERM; zero means 2 s
	// HangUp, if set, makes the program end its family and itself, however far
	// that has run. KILL comes only when it was of no use: it would reach the
	// program, and those whom it alone knows would be nobody's.
	HangUp func()
}

func (o Options) withDefaults() Options {
	o.closeWait = cmp.Or(o.closeWait, 3*time.Second)
	o.termWait = cmp.Or(o.termWait, 2*time.Second)
	return o
}

// killWait is how long the kernel gets to carry out a KILL.
const killWait = 5 * time.Second

// Launcher starts programs as they are, without a room.
type Launcher struct{ Options Options }

// Launch starts c.
func (l Launcher) Launch(ctx context.Context, c agent.Command) (agent.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	if !filepath.IsAbs(c.Path) {
		return nil, fmt.Errorf("start %q: the path of a program must be absolute", c.Path)
	}
	cmd := &exec.Cmd{Path: c.Path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir}
	cmd.Env = append([]string{}, c.Env...)
	return Start(cmd, l.Options)
}

// Process is a running program. It implements agent.Process.
type Process struct {
	opts   Options
	cmd    *exec.Cmd
	name   string
	stdin  *stdin
	stdout io.Reader
	stderr io.Reader
	family family

	done    chan struct{} // closed when the leader is reaped and its family gone
	err     error         // how it ended; set before done is closed
	left    []string      // those of the family who outlived KILL; set before done is closed
	killNow chan struct{}
	killing sync.Once
	stop    sync.Mutex
}

// Start starts cmd, whose standard streams must be unset, as the leader of a
// session of its own.
func Start(cmd *exec.Cmd, o Options) (*Process, error) {
	mark := marker + "=" + rand.Text()
	cmd.Env = append(cmd.Env, mark)
	p := &Process{opts: o.withDefaults(), cmd: cmd, name: filepath.Base(cmd.Path),
		done: make(chan struct{}), killNow: make(chan struct{})}
	child, err := p.pipes()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	started := make(chan error, 1)
	go p.run(mark, started)
	err = <-started
	for _, f := range child {
		f.Close()
	}
	if err != nil {
		p.stdin.Close()
		p.stdout.(*output).close()
		p.stderr.(*output).close()
		return nil, explain(cmd, err)
	}
	return p, nil
}

// pipes makes the three streams by hand: those of exec.Cmd are closed by Wait,
// even when their reader has not come to the end. It returns the child's ends.
func (p *Process) pipes() ([]*os.File, error) {
	var files []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range files {
				f.Close()
			}
			return nil, err
		}
		files = append(files, r, w)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = files[0], files[3], files[5]
	p.stdin = &stdin{f: files[1]}
	p.stdout, p.stderr = &output{f: files[2]}, &output{f: files[4]}
	return []*os.File{files[0], files[3], files[5]}, nil
}

// run starts the program and waits for it on one operating-system thread,
// because Linux ties the death signal to the thread that forked, not to the
// process.
func (p *Process) run(mark string, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	prepare(p.cmd)
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.family = newFamily(p.cmd.Process.Pid, mark)
	started <- nil
	awaitExit(p.cmd.Process.Pid)
	p.left = p.family.beforeReap(killWait)
	if err := p.cmd.Wait(); err != nil {
		p.err = fmt.Errorf("%s: %w", p.name, err)
	}
	p.left = append(p.left, p.family.afterReap(killWait)...)
	close(p.done)
}

func explain(cmd *exec.Cmd, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch {
	case errors.Is(err, os.ErrNotExist) && cmd.Dir != "" && missing(cmd.Dir):
		return fmt.Errorf("start %s: its working directory %s does not exist", cmd.Path, cmd.Dir)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("start %s: there is no such program: %w", cmd.Path, err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("start %s: it may not be run by this user: %w", cmd.Path, err)
	}
	return fmt.Errorf("start %s: %w", cmd.Path, err)
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

// Stdin is the program's standard input. Closing it twice is no error.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the program's standard output; it must be read, or the program
// waits once the pipe is full.
func (p *Process) Stdout() io.Reader { return p.stdout }

// Stderr is the program's standard error; the same holds.
func (p *Process) Stderr() io.Reader { return p.stderr }

// PID is the program's process id, and the id of its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended and its family with it.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program ended, nil when it ended with status 0. It is valid
// once Done is closed.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Stop ends the program by the ladder and returns when nothing of its family
// is left; the error names what is. When ctx ends, the rest is killed at once.
func (p *Process) Stop(ctx context.Context) error {
	finished := make(chan struct{})
	defer close(finished)
	go func() { // a second caller in a hurry hastens the first
		select {
		case <-ctx.Done():
			p.killing.Do(func() { close(p.killNow) })
		case <-finished:
		}
	}()
	p.stop.Lock()
	defer p.stop.Unlock()
	p.stdin.Close()
	if !p.ended(p.opts.closeWait) && (p.hurried() || !p.terminated()) {
		p.kill()
	}
	select {
	case <-p.done:
	default:
		return fmt.Errorf("stop %s: process %d outlived KILL", p.name, p.PID())
	}
	if len(p.left) > 0 {
		p.stdout.(*output).close() // a survivor may hold the other end
		p.stderr.(*output).close()
		return fmt.Errorf("stop %s: these processes outlived KILL: %s", p.name, strings.Join(p.left, ", "))
	}
	return nil
}

// hurried says that nobody waits for the ladder any more.
func (p *Process) hurried() bool {
	select {
	case <-p.killNow:
		return true
	default:
		return false
	}
}

// terminated asks the family to end, and says whether it has.
func (p *Process) terminated() bool {
	p.family.terminate()
	return p.ended(p.opts.termWait)
}

// ended waits up to d for the end of the program, less when in a hurry.
func (p *Process) ended(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-p.killNow:
	case <-time.After(d):
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// hungUp asks the program to end everything, and says whether it has.
func (p *Process) hungUp() bool {
	p.opts.HangUp()
	select {
	case <-p.done:
		return true
	case <-time.After(killWait):
		return false
	}
}

// kill repeats itself, because a family may fork while it is counted.
func (p *Process) kill() {
	if p.opts.HangUp != nil && p.hungUp() {
		return
	}
	deadline := time.After(2 * killWait)
	for {
		p.family.kill()
		select {
		case <-p.done:
			return
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			return
		}
	}
}
