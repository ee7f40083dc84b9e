package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"conclave/agent"
	"conclave/internal/proc"
)

// sealedMounts: a sealed room has a file system of its own.
const sealedMounts = true

// start shows the level and starts c.
func (r *Room) start(ctx context.Context, c agent.Command) (*process, Enforcement, error) {
	if r.plan.level() == Advisory {
		return r.startOpen(c)
	}
	l := &launch{room: r, command: c, starter: withPipes}
	defer l.cleanUp()
	shown, err := l.run(ctx)
	if err != nil {
		return nil, Enforcement{}, l.undo(err)
	}
	pipes := l.started.(*proc.Process)
	return &process{
		running: pipes, pipes: pipes, name: filepath.Base(c.Path), pid: l.pid, roomInit: l.roomInit.pid, shut: l.shut,
	}, shown, nil
}

// starter starts the first helper of a room, with the program's streams.
// The function it is given makes init end everybody.
type starter func(*exec.Cmd, func()) (running, error)

func withPipes(cmd *exec.Cmd, hangUp func()) (running, error) {
	p, err := proc.Start(cmd, proc.Options{HangUp: hangUp})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// check goes all the way to the program and stops there.
func (r *Room) check(ctx context.Context) (Enforcement, error) {
	if r.plan.level() == Advisory {
		return r.nothingShown(), nil
	}
	l := &launch{room: r, command: agent.Command{Path: "/nobody"}, starter: withPipes}
	defer l.cleanUp()
	shown, err := l.lock(ctx)
	return shown, l.undo(err)
}

// undo ends what was started, if anything was.
func (l *launch) undo(err error) error {
	if l.started == nil {
		return err
	}
	return errors.Join(err, stopNow(l.started))
}

// launch is one start: everything here is gone when it is over, but for the
// program and its line to this process.
type launch struct {
	room    *Room
	command agent.Command

	scene    *scene
	witness  *controlSocket
	roomInit *controlSocket
	stageTwo *controlSocket
	starter  starter
	// terminal: the program's streams are a terminal that becomes its own.
	terminal bool
	started  running
	pid      int
	shut     []io.Closer
	closers  []func()
	marks    []string // the variables by which package proc finds a family
	covered  string   // why a view is no overlay
	kept     bool     // the program runs: what belongs to it stays open
	alone    error    // why a fenced room has no namespaces; nil if it has
}

func (l *launch) cleanUp() {
	for _, f := range slices.Backward(l.closers) {
		f()
	}
	if l.kept {
		return
	}
	for _, c := range l.shut {
		c.Close()
	}
	if l.roomInit != nil { // it was started
		l.roomInit.close()
	}
}

func (l *launch) later(f func()) { l.closers = append(l.closers, f) }

// run locks the room and lets the program go.
func (l *launch) run(ctx context.Context) (Enforcement, error) {
	shown, err := l.lock(ctx)
	if err != nil {
		return shown, err
	}
	if err := l.room.unexposed(); err != nil {
		return shown, err
	}
	if err := l.stageTwo.send("go"); err != nil {
		return shown, fmt.Errorf("start %s: %w", l.command.Path, err)
	}
	// The line ends when the program has taken stage two's place.
	switch rep, err := l.stageTwo.hear(); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return shown, fmt.Errorf("start %s: %w", l.command.Path, err)
	default:
		return shown, errors.New(rep.Err)
	}
	// The room lives as long as this line does.
	l.shut = append(l.shut, l.roomInit.conn)
	_ = l.roomInit.conn.SetDeadline(time.Time{})
	l.roomInit.stop()
	l.kept = true
	return shown, nil
}

// lock starts the helpers and judges what they show.
func (l *launch) lock(ctx context.Context) (Enforcement, error) {
	r := l.room
	shown, err := l.show(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return Enforcement{}, fmt.Errorf("lock room: %w", ctx.Err())
		}
		return Enforcement{}, &levelError{r.plan.level(), r.plan.Role, err, hintFor(r.plan.level())}
	}
	return shown, nil
}

func (l *launch) show(ctx context.Context) (Enforcement, error) {
	level := l.room.plan.level()
	if level == Fenced {
		if err := l.room.fenceable(); err != nil {
			return Enforcement{}, err
		}
	}
	list := needed(allAttempts(), level)
	if err := l.ready(ctx, list); err != nil {
		return Enforcement{}, err
	}
	por, err := l.stageTwo.hear()
	if err = l.blame(por, err, "porter"); err != nil {
		return Enforcement{}, err
	}
	wit, err := l.witness.hear()
	if err = l.blame(wit, err, "witness"); err != nil {
		return Enforcement{}, err
	}
	l.pid = l.stageTwo.pid
	probes, gaps, err := claim(list, map[string]outcomes{byWitness: wit.Before, bySelf: por.Before}, por.After)
	if err != nil {
		return Enforcement{}, err
	}
	shown := Enforcement{Level: level, Mechanism: l.mechanism(por.ABI), Kernel: kernel(), UID: l.room.who.uid,
		ShownAt: time.Now().UTC(), Probes: probes, Gaps: gaps}
	if l.covered != "" {
		shown.Gaps = append(shown.Gaps, "see the names of what the workspace's view withholds ("+l.covered+")")
	}
	if l.alone != nil {
		shown.Without = "namespaces: " + l.alone.Error()
	}
	return shown, nil
}

func (l *launch) mechanism(abi int) string {
	mech := fmt.Sprintf("landlock %d, seccomp", abi)
	switch {
	case l.alone != nil:
		return mech
	case l.room.plan.level() == Fenced:
		return "namespaces without mounts, " + mech
	}
	return "namespaces, " + mech
}

// ready starts the helpers. A fenced room is first tried with namespaces, and
// does without where this system has none to give.
func (l *launch) ready(ctx context.Context, list []wanted) error {
	err := l.prepare(ctx, list)
	var none *noSpaces
	if l.room.plan.level() != Fenced || !errors.As(err, &none) || ctx.Err() != nil {
		return err
	}
	if err := l.undo(nil); err != nil {
		return err
	}
	l.roomInit.close()
	l.started, l.alone = nil, none.why
	return l.prepare(ctx, list)
}

// blame makes one error of what a helper said and of its silence.
func (l *launch) blame(rep report, err error, who string) error {
	if err == nil && rep.Err == "" {
		return nil
	}
	if err == nil {
		return errors.New(rep.Err)
	}
	return fmt.Errorf("the %s fell silent: %w", who, err)
}

// prepare sets the scene, starts witness and room at the same time, and waits
// until the room is built.
func (l *launch) prepare(ctx context.Context, list []wanted) error {
	r := l.room
	var err error
	if l.scene, err = setScene(r); err != nil {
		return err
	}
	l.later(l.scene.close)
	if err := r.handOver(); err != nil {
		return err
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	l.later(func() { self.Close() })
	if err := l.startWitness(ctx, self, list); err != nil {
		return err
	}
	stageTwoOrders, err := l.startRoom(ctx, self)
	if err != nil {
		return err
	}
	rep, err := l.witness.hear()
	if err = l.blame(rep, err, "witness"); err != nil {
		stageTwoOrders.Close()
		return err
	}
	l.scene.Decoy = rep.Decoy
	if err := l.brief(stageTwoOrders, list); err != nil {
		return err
	}
	return l.meetInit()
}

// personsProcesses are left to the person where theirs count as the room's: one
// user has one limit, and only a namespace or a user of its own sets a room
// apart.
const personsProcesses = 3072

// brief gives stage two its orders.
func (l *launch) brief(to *os.File, list []wanted) error {
	r := l.room
	o := stageTwoOrders{
		Level: r.plan.level(), Command: l.command, Limits: r.plan.Limits, Terrain: l.scene.terrain,
		Rules: r.rules(), Terminal: l.terminal,
	}
	o.Terrain.Kept = true
	if l.alone != nil && !r.who.separate {
		o.Limits.Processes += personsProcesses
	}
	for _, w := range list {
		if w.where == bySelf {
			o.Before = append(o.Before, w.name)
		}
		o.After = append(o.After, w.name)
	}
	if l.alone != nil { // should init be killed, what runs away is found again
		o.Command.Env = append(slices.Clone(o.Command.Env), l.marks...)
	}
	return give(to, o)
}

func (l *launch) startWitness(ctx context.Context, self *os.File, list []wanted) error {
	r := l.room
	var names []string
	for _, w := range list {
		if w.where == byWitness && w.name != r.plan.test.skipWitness {
			names = append(names, w.name)
		}
	}
	talk, theirs, err := newControlSocket(ctx)
	if err != nil {
		return err
	}
	l.later(talk.close)
	in, out, err := os.Pipe()
	if err != nil {
		theirs.Close()
		return fmt.Errorf("start the witness: %w", err)
	}
	cmd := &exec.Cmd{Path: selfPath(), Args: helperArgs(partWitness, r.plan.test.mark), Dir: "/", Env: []string{},
		ExtraFiles: []*os.File{self, in, theirs}, SysProcAttr: &syscall.SysProcAttr{Setsid: true, Credential: r.credential()}}
	err = cmd.Start()
	in.Close()
	theirs.Close()
	if err != nil {
		out.Close()
		return explainStart(err)
	}
	l.later(func() {
		talk.close() // it ends when nobody listens
		_ = cmd.Wait()
	})
	l.witness = talk
	return give(out, witnessOrders{Terrain: l.scene.terrain, Try: names})
}

// meetInit waits until the room is built, and opens its door.
func (l *launch) meetInit() error {
	for {
		rep, err := l.roomInit.hear()
		if err = l.blame(rep, err, "builder"); err != nil && l.alone == nil {
			return &noSpaces{err}
		}
		if err != nil {
			return err
		}
		if l.covered = cmp.Or(l.covered, rep.Covered); rep.Covered != "" {
			l.room.watch.cover()
		}
		if fd := l.roomInit.takeFD(); fd >= 0 && rep.View {
			l.shut = append(l.shut, l.room.watch.keepFresh(fd))
		} else if fd >= 0 {
			ln, err := listenerFrom(fd)
			if err != nil {
				return fmt.Errorf("open the door: %w", err)
			}
			l.shut = append(l.shut, ln)
			if err := l.room.gatewayServer.serve(ln); err != nil {
				return err
			}
		}
		if rep.Ready {
			return nil
		}
	}
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return strings.Join([]string{unix.ByteSliceToString(u.Sysname[:]), unix.ByteSliceToString(u.Release[:])}, " ")
}
