package room

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"conclave/agent"
)

// attach shows the level and starts c with the given streams.
func (r *Room) attach(ctx context.Context, c agent.Command, s Stdio) (*process, Enforcement, error) {
	set := func(cmd *exec.Cmd, hangUp func()) (running, error) {
		s.set(cmd)
		return startAttached(cmd, hangUp)
	}
	p := &process{name: filepath.Base(c.Path)}
	if r.plan.level() == Advisory {
		run, err := set(r.openCommand(c), nil)
		p.running = run
		return p, r.nothingShown(), err
	}
	l := &launch{room: r, command: c, starter: set, terminal: s.Terminal}
	defer l.cleanUp()
	shown, err := l.run(ctx)
	if err != nil {
		return nil, Enforcement{}, l.undo(err)
	}
	p.running, p.pid, p.roomInit, p.shut = l.started, l.pid, l.roomInit.pid, l.shut
	return p, shown, nil
}

// HasTerminals says that NewTerminal can make one.
const HasTerminals = true

// NewTerminal makes a terminal of its own for a program in a room. The outer
// end is relayed to the person's terminal; the inner one is the program's.
// The person's own terminal never enters: what is typed into it would reach
// the shell outside.
func NewTerminal() (outer, inner *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	outer = os.NewFile(uintptr(fd), "terminal")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		inner, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		outer.Close()
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	return outer, inner, nil
}
