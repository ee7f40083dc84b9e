package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/internal/proc"
)

// running is a program and its family, as long as one of them lives.
type running interface {
	Stop(context.Context) error
	Done() <-chan struct{}
	Err() error
}

// process is a program in a room. With pipes it implements agent.Process.
type process struct {
	running
	pipes *proc.Process // nil for an attached program
	name  string
	pid   int
	// roomInit is above everybody in the room; 0 where there is none.
	roomInit int
	shut     []io.Closer // with the program's end

	mu   sync.Mutex
	over string // the limit that ended it
	why  error  // ended by its room
}

func (p *process) Stdin() io.WriteCloser { return p.pipes.Stdin() }
func (p *process) Stdout() io.Reader     { return p.pipes.Stdout() }
func (p *process) Stderr() io.Reader     { return p.pipes.Stderr() }

// PID is the program's process id on this system.
func (p *process) PID() int { return p.pid }

// Err says how the program ended.
func (p *process) Err() error {
	err := p.running.Err()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		return p.why
	}
	var exit *exec.ExitError // the process that was started is a helper, whose name says nothing
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w", p.name, exit)
	}
	switch {
	case p.why != nil:
		return fmt.Errorf("%w (%w)", p.why, err)
	case p.over != "":
		return fmt.Errorf("%s than its room allows: %w", p.over, err)
	}
	return err
}

// Launch starts a program in the room. It returns once the room's level was
// shown in the very process that has become the program; otherwise nothing
// has run, and the error wraps ErrLevel. Ending ctx afterwards does not end
// the program.
func (r *Room) Launch(ctx context.Context, c agent.Command) (agent.Process, error) {
	c, err := r.command(c)
	if err != nil {
		return nil, err
	}
	p, shown, err := r.start(ctx, c)
	if err != nil {
		return nil, err
	}
	r.show(shown)
	if err := r.enter(p); err != nil {
		return nil, errors.Join(err, stopNow(p.running))
	}
	go r.attend(p)
	return p, nil
}

// Check shows the room's level without starting anything in it.
func (r *Room) Check(ctx context.Context) error {
	shown, err := r.check(ctx)
	if err != nil {
		return err
	}
	r.show(shown)
	return nil
}

// command checks c and fills in what it leaves open.
func (r *Room) command(c agent.Command) (agent.Command, error) {
	r.mu.Lock()
	closed, exposed := r.closed, r.exposed
	r.mu.Unlock()
	if closed {
		return c, ErrClosed
	}
	if exposed != nil {
		return c, exposed
	}
	if !filepath.IsAbs(c.Path) {
		return c, fmt.Errorf("start %q: the path of a program must be absolute", c.Path)
	}
	if strings.ContainsRune(c.Path+strings.Join(c.Args, "")+strings.Join(c.Env, ""), 0) {
		return c, fmt.Errorf("start %s: an argument or variable holds a zero byte", c.Path)
	}
	if c.Dir == "" {
		c.Dir = r.place.InGuest(agent.WorkDir)
	}
	return c, nil
}

// attend waits for a program's end, or brings it about when it is over a limit
// that no system call keeps. Close waits for it by stopping the program.
func (r *Room) attend(p *process) {
	var up <-chan time.Time
	if r.plan.Limits.Wall > 0 {
		t := time.NewTimer(r.plan.Limits.Wall)
		defer t.Stop()
		up = t.C
	}
	look := time.NewTicker(lookAfter)
	defer look.Stop()
	m := newMeter(r, p)
	over := ""
	for over == "" {
		select {
		case <-p.Done():
			over = "ended"
		case <-up:
			over = "ran longer"
		case <-look.C:
			over = m.over()
		}
	}
	if over != "ended" {
		p.mu.Lock()
		p.over = over
		p.mu.Unlock()
		_ = stopNow(p.running) // whoever calls Stop gets the error
		<-p.Done()
	}
	for _, c := range p.shut {
		c.Close()
	}
	r.leave(p)
}

// end kills the program, which then says why.
func (p *process) end(why error) {
	p.mu.Lock()
	p.why = why
	p.mu.Unlock()
	if p.pipes != nil { // at once; Stop would look for the family first
		if roomInit, err := os.FindProcess(p.pipes.PID()); err == nil {
			_ = roomInit.Kill() // it may have ended
		}
	}
	_ = stopNow(p.running) // whoever calls Stop gets the error
}

// stopNow kills without a ladder.
func stopNow(p running) error {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return p.Stop(now)
}

// startOpen starts a program with no restriction at all.
func (r *Room) startOpen(c agent.Command) (*process, Enforcement, error) {
	pp, err := proc.Start(r.openCommand(c), proc.Options{})
	if err != nil {
		return nil, Enforcement{}, err
	}
	return &process{running: pp, pipes: pp, name: filepath.Base(c.Path), pid: pp.PID()}, r.nothingShown(), nil
}

func (r *Room) openCommand(c agent.Command) *exec.Cmd {
	return &exec.Cmd{Path: c.Path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: append([]string{}, c.Env...)}
}

// nothingShown is what an advisory room claims.
func (r *Room) nothingShown() Enforcement {
	return Enforcement{Level: Advisory, UID: os.Getuid(), ShownAt: time.Now().UTC(),
		Gaps: []string{"everything that this user can do"}}
}
