package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// Bounds of a command in a hostile workspace.
const (
	inTime      = 10 * time.Second // of the processor's
	hangs       = 6                // times that by the clock: on a machine that has other things to do
	afterSignal = time.Second
	patience    = 3 * time.Second // with a command that waits and shows nothing
	maxResident = 512 << 10       // kB
	keptOutput  = 8 << 20
)

// result is what a run of the program left.
type result struct {
	code     int
	signal   syscall.Signal // that ended it
	output   []byte
	resident int64 // kB
	took     time.Duration
	stuck    string // what it did not end after
	shown    bool   // what a command that waits shows when it is there
}

// run runs the program on a terminal of its own, as a user.
func (s *stage) run(dir string, l line, args ...string) (result, error) {
	outer, inner, err := openTerminal(s.uid)
	if err != nil {
		return result{}, err
	}
	defer outer.Close()
	cmd := exec.Command(s.program, args...)
	cmd.Dir, cmd.Env = dir, s.environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inner, inner, inner
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if s.uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid)}
	}
	begun := time.Now()
	err = cmd.Start()
	inner.Close()
	if err != nil {
		return result{}, err
	}
	out := &shown{shown: make(chan struct{}), waits: l.waits}
	read := make(chan struct{})
	go func() { out.read(outer); close(read) }()
	go func() { _, _ = outer.WriteString(l.keys()) }()
	r := end(cmd, out, l)
	r.took = time.Since(begun)
	_ = outer.SetReadDeadline(time.Now().Add(time.Second))
	<-read
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	r.output = out.bytes()
	return r, nil
}

// keys are what is typed, and then that nothing more comes.
func (l line) keys() string {
	if l.waits != "" {
		return l.typed
	}
	return l.typed + strings.Repeat("\x04", 20)
}

// end waits for the program within its bounds, and interrupts one that waits.
func end(cmd *exec.Cmd, out *shown, l line) result {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	memory := newMeter(cmd.Process.Pid)
	var r result
	ended := func(after time.Duration, what string) bool {
		select {
		case <-done:
			return true
		case <-time.After(after):
			r.stuck = what
			return false
		}
	}
	if l.waits != "" {
		select {
		case err := <-done:
			done <- err
		case <-out.shown:
			r.shown = true
		case <-time.After(patience):
		}
		_ = cmd.Process.Signal(os.Interrupt)
		if !ended(afterSignal, "within a second of SIGINT") {
			quit(cmd, done)
		}
	} else if limit := max(inTime, l.within); !ended(hangs*limit, fmt.Sprintf("within %s", hangs*limit)) {
		quit(cmd, done)
	} else if used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); used > limit {
		r.stuck = fmt.Sprintf("within %s of the processor's time: %s", limit, used)
	}
	r.code = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.signal = status.Signal()
	}
	r.resident = memory.most()
	// A child's own account begins with what this process had when it was
	// started: what is more than that is the child's.
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && usage.Maxrss > resident("self") {
		r.resident = usage.Maxrss
	}
	return r
}

// meter watches how much memory a process takes.
type meter struct {
	stop chan struct{}
	peak chan int64
}

func newMeter(pid int) *meter {
	m := &meter{make(chan struct{}), make(chan int64, 1)}
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		most := int64(0)
		for {
			most = max(most, resident(strconv.Itoa(pid)))
			select {
			case <-m.stop:
				m.peak <- most
				return
			case <-tick.C:
			}
		}
	}()
	return m
}

func (m *meter) most() int64 {
	close(m.stop)
	return <-m.peak
}

// resident is the most memory that a process has had, in kB.
func resident(pid string) int64 {
	data, _ := os.ReadFile("/proc/" + pid + "/status")
	_, rest, _ := bytes.Cut(data, []byte("\nVmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return n
}

// quit has a program that does not end say where it is.
func quit(cmd *exec.Cmd, done <-chan error) {
	_ = cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		_ = cmd.Process.Kill()
		<-done
	}
}

// shown is what a terminal shows.
type shown struct {
	mu    sync.Mutex
	b     []byte
	waits string
	shown chan struct{}
	once  sync.Once
}

func (s *shown) read(from *os.File) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		s.mu.Lock()
		if len(s.b) < keptOutput {
			s.b = append(s.b, chunk[:n]...)
		}
		if s.waits != "" && bytes.Contains(s.b, []byte(s.waits)) {
			s.once.Do(func() { close(s.shown) })
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *shown) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.b)
}

// openTerminal makes a terminal for a user.
func openTerminal(uid int) (outer, inner *os.File, err error) {
	outer, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var n, zero int32
	err = errors.Join(control(outer, syscall.TIOCGPTN, &n), control(outer, syscall.TIOCSPTLCK, &zero))
	if err == nil {
		inner, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err == nil && uid != os.Getuid() {
		err = inner.Chown(uid, -1)
	}
	if err != nil {
		outer.Close()
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	return outer, inner, nil
}

func control(f *os.File, request uintptr, value *int32) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var code syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, code = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value)))
	})
	if err == nil && code != 0 {
		err = code
	}
	return err
}

// quietly runs the program for its effect, in a pipe.
func (s *stage) quietly(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir, cmd.Env = dir, s.environ()
	if s.uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid)}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, tail(out))
	}
	return nil
}

func tail(b []byte) []byte {
	if len(b) > 600 {
		return b[len(b)-600:]
	}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
