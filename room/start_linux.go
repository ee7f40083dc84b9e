package room

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// noSpaces: this system does not give the namespaces, or not their use.
type noSpaces struct{ why error }

func (e *noSpaces) Error() string { return e.why.Error() }
func (e *noSpaces) Unwrap() error { return e.why }

// lines are the ends of pipes and sockets that a start needs.
type lines struct {
	theirs, ours []*os.File
}

func (s *lines) close() {
	for _, f := range append(s.theirs, s.ours...) {
		f.Close()
	}
}

// pipe is for orders.
func (s *lines) pipe() error {
	in, out, err := os.Pipe()
	if err == nil {
		s.theirs, s.ours = append(s.theirs, in), append(s.ours, out)
	}
	return err
}

// talk is for reports.
func (s *lines) talk(ctx context.Context, t **controlSocket) error {
	talk, theirs, err := newControlSocket(ctx)
	if err == nil {
		*t, s.theirs = talk, append(s.theirs, theirs)
	}
	return err
}

// startRoom starts the builder, and returns where stage two's orders go.
func (l *launch) startRoom(ctx context.Context, self *os.File) (*os.File, error) {
	var s lines
	if err := errors.Join(s.pipe(), s.talk(ctx, &l.roomInit), s.pipe(), s.talk(ctx, &l.stageTwo)); err != nil {
		s.close()
		return nil, fmt.Errorf("start the room: %w", err)
	}
	l.later(l.stageTwo.close)
	o, attr, trees, err := l.ground()
	if err != nil {
		s.close()
		return nil, err
	}
	cmd := &exec.Cmd{Path: selfPath(), Args: helperArgs(partBuilder, l.room.plan.test.mark), Dir: "/", Env: []string{}, SysProcAttr: attr,
		ExtraFiles: slices.Concat([]*os.File{self}, s.theirs, trees)}
	roomInit := l.roomInit
	l.started, err = l.starter(cmd, roomInit.close)
	for _, f := range append(s.theirs, trees...) {
		f.Close()
	}
	s.theirs = nil
	if err != nil {
		l.started = nil
		s.close()
		return nil, explainStart(err)
	}
	l.marks = cmd.Env
	return s.ours[1], give(s.ours[0], o)
}

// ground says on what the builder stands: namespaces with a file tree of their
// own, namespaces without one, or nothing but another user.
func (l *launch) ground() (builderOrders, *syscall.SysProcAttr, []*os.File, error) {
	r := l.room
	if r.plan.level() == Sealed {
		o, trees, err := r.layout(l.scene.terrain)
		return o, r.newSpaces(newSpaces, insideUID, insideUID), trees, err
	}
	o := builderOrders{Level: Fenced, Terrain: l.scene.terrain, Separate: r.who.separate, User: r.who.uid, Group: r.who.gid}
	if l.alone != nil {
		return o, &syscall.SysProcAttr{Credential: r.credential()}, nil, nil
	}
	o.Spaces = true
	if r.gatewayServer != nil {
		o.Port = r.gatewayServer.port
	}
	return o, r.newSpaces(newSpaces&^unix.CLONE_NEWNS, r.who.uid, r.who.gid), nil, nil
}

// credential is the room's user's, for helpers without a user namespace.
func (r *Room) credential() *syscall.Credential {
	if !r.who.separate {
		return nil
	}
	return &syscall.Credential{Uid: uint32(r.who.uid), Gid: uint32(r.who.gid)}
}

// newSpaces are namespaces in which the room's user is the only user, by the number
// given. The builder's capabilities are over them alone, and have to be ambient
// because no user there is root.
func (r *Room) newSpaces(flags uintptr, uid, gid int) *syscall.SysProcAttr {
	flags &^= r.plan.test.dropFlags
	attr := &syscall.SysProcAttr{Cloneflags: flags,
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN}}
	if flags&unix.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: r.who.uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: r.who.gid, Size: 1}}
		attr.GidMappingsEnableSetgroups = r.who.separate
	}
	return attr
}

// explainStart adds what is known about the ways a start fails.
func explainStart(err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err
	}
	switch errno {
	case syscall.EPERM, syscall.ENOSPC, syscall.EINVAL, syscall.ENOSYS:
		return &noSpaces{fmt.Errorf("this system does not give namespaces to this user: %w", errno)}
	case syscall.EACCES:
		return fmt.Errorf("this program may not be run by the room's user (chmod 0755 its file): %w", errno)
	}
	return fmt.Errorf("start a helper: %w", errno)
}
