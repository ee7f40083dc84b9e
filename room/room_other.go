//go:build !linux && !darwin

package room

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"conclave/agent"
)

const sealedMounts = false

// beHelper does nothing here: there are no helpers.
func beHelper() {}

func available(l Level) error {
	if l == Advisory {
		return nil
	}
	return errors.New("this operating system has no lock that Conclave knows")
}

func hintFor(Level) string {
	return "use Linux or macOS, or lower the level of this role explicitly to advisory, which every artefact will say"
}

func newRoomUser(Level) (roomUser, error) { return roomUser{uid: os.Geteuid(), gid: os.Getegid()}, nil }

func (r *Room) start(_ context.Context, c agent.Command) (*process, Enforcement, error) {
	return r.startOpen(c)
}

func (r *Room) attach(_ context.Context, c agent.Command, s Stdio) (*process, Enforcement, error) {
	cmd := r.openCommand(c)
	s.set(cmd)
	run, err := startAttached(cmd, nil)
	if err != nil {
		return nil, Enforcement{}, err
	}
	return &process{running: run, name: filepath.Base(c.Path), pid: cmd.Process.Pid}, r.nothingShown(), nil
}

// HasTerminals: see NewTerminal.
const HasTerminals = false

// NewTerminal is not offered here: Run takes any streams.
func NewTerminal() (outer, inner *os.File, err error) {
	return nil, nil, errors.New("open a terminal: only on Linux")
}

func (r *Room) check(context.Context) (Enforcement, error) { return r.nothingShown(), nil }
