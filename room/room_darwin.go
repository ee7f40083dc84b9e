package room

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"conclave/agent"
	"conclave/internal/proc"
)

// On macOS the sealed level is a Seatbelt profile under this system's own file
// tree, with this user's rights. It is claimed only when the probe pairs pass
// on the machine at hand, in the process that becomes the program.

const sealedMounts = false

const seatbelt = "/usr/bin/sandbox-exec"

func available(l Level) error {
	switch l {
	case Advisory:
		return nil
	case Fenced:
		return errors.New("macOS has no level between sealed and advisory")
	}
	if _, err := os.Stat(seatbelt); err != nil {
		return fmt.Errorf("find Seatbelt: %w", err)
	}
	return nil
}

func hintFor(Level) string {
	return "use Linux, or lower the level of this role explicitly to advisory, which every artefact will say"
}

func newRoomUser(Level) (roomUser, error) { return roomUser{uid: os.Geteuid(), gid: os.Getegid()}, nil }

func (s *scene) describe() error { return nil }

func (r *Room) start(ctx context.Context, c agent.Command) (*process, Enforcement, error) {
	if r.plan.level() == Advisory {
		return r.startOpen(c)
	}
	run, pid, shown, err := r.confine(ctx, c, func(cmd *exec.Cmd) (running, int, error) {
		p, err := proc.Start(cmd, proc.Options{})
		if err != nil {
			return nil, 0, err
		}
		return p, p.PID(), nil
	})
	if err != nil {
		return nil, Enforcement{}, err
	}
	pipes := run.(*proc.Process)
	return &process{running: pipes, pipes: pipes, name: filepath.Base(c.Path), pid: pid}, shown, nil
}

func (r *Room) attach(ctx context.Context, c agent.Command, s Stdio) (*process, Enforcement, error) {
	set := func(cmd *exec.Cmd) (running, int, error) {
		s.set(cmd)
		run, err := startAttached(cmd, nil)
		if err != nil {
			return nil, 0, err
		}
		return run, cmd.Process.Pid, nil
	}
	if r.plan.level() == Advisory {
		run, pid, err := set(r.openCommand(c))
		return &process{running: run, name: filepath.Base(c.Path), pid: pid}, r.nothingShown(), err
	}
	run, pid, shown, err := r.confine(ctx, c, set)
	return &process{running: run, name: filepath.Base(c.Path), pid: pid}, shown, err
}

func (r *Room) check(ctx context.Context) (Enforcement, error) {
	p, shown, err := r.start(ctx, agent.Command{Path: "/usr/bin/true", Dir: "/"})
	if err != nil {
		return Enforcement{}, err
	}
	return shown, stopNow(p.running)
}

// HasTerminals: see NewTerminal.
const HasTerminals = false

// NewTerminal is not offered here: Run takes any streams.
func NewTerminal() (outer, inner *os.File, err error) {
	return nil, nil, errors.New("open a terminal: only on Linux")
}

// seatbeltOrders are those of both helpers on macOS.
type seatbeltOrders struct {
	Command agent.Command `json:"command"`
	Limits  Limits        `json:"limits"`
	Terrain terrain       `json:"terrain"`
	Try     []string      `json:"try"`
}

// confine runs the witness, then stage two under the profile, and compares.
func (r *Room) confine(ctx context.Context, c agent.Command,
	start func(*exec.Cmd) (running, int, error)) (running, int, Enforcement, error) {
	fail := func(run running, err error) (running, int, Enforcement, error) {
		if run != nil {
			err = errors.Join(err, stopNow(run))
		}
		return nil, 0, Enforcement{}, &levelError{r.plan.level(), r.plan.Role, err, hintFor(Sealed)}
	}
	s, err := setScene(r)
	if err != nil {
		return fail(nil, err)
	}
	defer s.close()
	list := needed(allAttempts(), Sealed)
	var names []string
	for _, w := range list {
		names = append(names, w.name)
	}
	wit, err := r.askWitness(ctx, s, names)
	if err != nil {
		return fail(nil, err)
	}
	defer wit.close()
	first, err := wit.hear()
	if err != nil {
		return fail(nil, err)
	}
	s.Decoy = first.Decoy
	control, err := wit.hear()
	if err != nil {
		return fail(nil, err)
	}
	self, err := os.Executable()
	if err != nil {
		return fail(nil, err)
	}
	profile, err := r.writeProfile(self)
	if err != nil {
		return fail(nil, err)
	}
	por, cmd, err := newSeatbeltLine(exec.Command(seatbelt, append([]string{"-f", profile, self}, partStageTwo)...))
	if err != nil {
		return fail(nil, err)
	}
	defer por.close()
	cmd.Env = []string{seatbeltMark + "=" + partStageTwo}
	run, pid, err := start(cmd)
	por.started()
	if err != nil {
		return fail(nil, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = stopNow(run) })
	defer stop()
	if err := give(por.orders, seatbeltOrders{Command: c, Limits: r.plan.Limits, Terrain: s.terrain, Try: names}); err != nil {
		return fail(run, err)
	}
	after, err := por.hear()
	if err != nil {
		return fail(run, err)
	}
	probes, gaps, err := claim(list, map[string]outcomes{byWitness: control.Before}, after.After)
	if err != nil {
		return fail(run, err)
	}
	if _, err := por.word.WriteString("go"); err != nil {
		return fail(run, err)
	}
	if rep, err := por.hear(); !errors.Is(err, io.EOF) {
		return nil, 0, Enforcement{}, errors.Join(errors.New(rep.Err), err, stopNow(run))
	}
	return run, pid, Enforcement{Level: Sealed, Mechanism: "seatbelt", Kernel: kernel(), UID: os.Geteuid(),
		ShownAt: time.Now().UTC(), Probes: probes, Gaps: gaps}, nil
}

// askWitness starts the witness, which ends when the line is closed.
func (r *Room) askWitness(_ context.Context, s *scene, names []string) (*seatbeltLine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line, cmd, err := newSeatbeltLine(&exec.Cmd{Path: self, Args: helperArgs(partWitness, "")})
	if err != nil {
		return nil, err
	}
	cmd.Env = []string{seatbeltMark + "=" + partWitness}
	err = cmd.Start()
	line.started()
	if err != nil {
		line.close()
		return nil, err
	}
	line.ended = func() { _ = cmd.Wait() }
	return line, give(line.orders, seatbeltOrders{Terrain: s.terrain, Try: names})
}

// seatbeltLine is three pipes to a helper: orders, its reports, and a word.
type seatbeltLine struct {
	orders, word *os.File
	reports      *os.File
	in           *bufio.Reader
	theirs       []*os.File
	ended        func()
}

func newSeatbeltLine(cmd *exec.Cmd) (*seatbeltLine, *exec.Cmd, error) {
	l := &seatbeltLine{}
	for i, ours := range []**os.File{&l.orders, &l.reports, &l.word} {
		rd, wr, err := os.Pipe()
		if err != nil {
			l.close()
			return nil, nil, err
		}
		theirs := rd
		*ours = wr
		if i == 1 {
			*ours, theirs = rd, wr
		}
		l.theirs = append(l.theirs, theirs)
	}
	l.in = bufio.NewReader(l.reports)
	cmd.ExtraFiles = l.theirs
	return l, cmd, nil
}

func (l *seatbeltLine) started() {
	for _, f := range l.theirs {
		f.Close()
	}
	l.theirs = nil
}

func (l *seatbeltLine) hear() (report, error) {
	_ = l.reports.SetReadDeadline(time.Now().Add(patience))
	b, err := l.in.ReadBytes('\n')
	if err != nil {
		return report{}, err
	}
	var rep report
	if err := json.Unmarshal(b, &rep); err != nil {
		return report{}, err
	}
	if rep.Err != "" {
		return rep, errors.New(rep.Err)
	}
	return rep, nil
}

func (l *seatbeltLine) close() {
	l.started()
	for _, f := range []*os.File{l.orders, l.reports, l.word} {
		if f != nil {
			f.Close() // give has closed the first already
		}
	}
	if l.ended != nil {
		l.ended()
	}
}

func kernel() string {
	v, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return "Darwin"
	}
	return "macOS " + v
}
