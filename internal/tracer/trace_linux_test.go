package tracer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// command is a program to be run, and where.
type command struct {
	program  string
	args     []string
	dir      string
	env      []string
	output   string // the file that takes what it prints
	deadline time.Duration
}

// change is a system call that has changed the disk.
type change struct{ call, path string }

func (c change) String() string { return c.call + " " + c.path }

// ending is how a traced program ended.
type ending struct {
	changes []change // below the directory that is watched, in order
	killed  bool     // by the tracer, after the last of them
	code    int      // what it exited with; -1 when a signal ended it
}

// errTrace says that nothing was shown, because nothing could be traced.
var errTrace = errors.New("this process may not trace its children (ptrace): the kill matrix was not run")

// trace runs a program and every thread of it under the tracer. Threads change the
// disk one after the other: met is called right after each change, while no other
// can be made, and says whether the program is killed there, with SIGKILL.
func trace(c command, w watch, met func(change) (kill bool)) (ending, error) {
	type result struct {
		ending
		err error
	}
	done := make(chan result, 1)
	go func() {
		// To the kernel the tracer is a thread. It ends with this goroutine, and
		// whatever it still traces dies with it.
		runtime.LockOSThread()
		t := &tracer{watch: w, met: met, threads: map[int]*thread{}}
		e, err := t.run(c)
		done <- result{e, err}
	}()
	r := <-done
	return r.ending, r.err
}

// watch is what is watched: everything below some directories of one.
type watch struct {
	dir  string
	tops []string
}

// holds says whether a path is watched, and what it is called there.
func (w watch) holds(path string) (string, bool) {
	rel, ok := strings.CutPrefix(path, w.dir+"/")
	top, _, below := strings.Cut(rel, "/")
	return rel, ok && below && slices.Contains(w.tops, top)
}

// after kills a program at its n-th change.
func after(n int) func(change) bool {
	return func(change) bool { n--; return n == 0 }
}

// live runs a program that nobody traces.
func live(c command) (ending, error) {
	out, err := os.OpenFile(c.output, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return ending{}, err
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, c.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, out, out
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		err = nil
	}
	return ending{code: cmd.ProcessState.ExitCode()}, errors.Join(err, ctx.Err())
}

// tracer follows one program.
type tracer struct {
	watch
	met     func(change) bool
	pid     int
	threads map[int]*thread
	inside  int   // the thread that is changing the disk; 0 for none
	waiting []int // those that are about to
	ending
}

// thread is one that is traced.
type thread struct {
	stopped bool        // the stop that it begins with was seen
	call    syscallInfo // that it is in
	pending *change     // what that will have changed
}

// Events of ptrace that x/sys does not name, and the wait for our own alone: other
// goroutines have children too.
const (
	getSyscallInfo  = 0x420e
	infoEntry       = 1
	infoExit        = 2
	wallNotOthers   = unix.WALL | unix.WNOTHREAD
	syscallStop     = unix.SIGTRAP | 0x80
	traceOptions    = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACECLONE
	syscallInfoSize = int(unsafe.Sizeof(syscallInfo{}))
)

// syscallInfo is the system's struct ptrace_syscall_info.
type syscallInfo struct {
	op     uint8
	_      [3]uint8
	arch   uint32
	_, _   uint64 // instruction and stack pointer
	values [7]uint64
}

func (t *tracer) run(c command) (ending, error) {
	out, err := os.OpenFile(c.output, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return t.ending, err
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return t.ending, err
	}
	defer null.Close()
	t.pid, err = syscall.ForkExec(c.program, append([]string{filepath.Base(c.program)}, c.args...), &syscall.ProcAttr{
		Dir: c.dir, Env: c.env, Files: []uintptr{null.Fd(), out.Fd(), out.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err != nil {
		return t.ending, fmt.Errorf("%w: start %s: %w", errTrace, c.program, err)
	}
	var late atomic.Bool
	watch := time.AfterFunc(c.deadline, func() {
		late.Store(true)
		_ = unix.Kill(t.pid, unix.SIGKILL)
	})
	defer watch.Stop()
	err = t.follow()
	if late.Load() {
		err = errors.Join(err, fmt.Errorf("it had not ended after %s", c.deadline))
	}
	return t.ending, err
}

// follow waits for stops until the program is gone.
func (t *tracer) follow() error {
	var status unix.WaitStatus
	if _, err := wait(t.pid, &status); err != nil || !status.Stopped() {
		return fmt.Errorf("%w: %v", errTrace, err)
	}
	if err := unix.PtraceSetOptions(t.pid, traceOptions); err != nil {
		return errors.Join(errTrace, err, unix.Kill(t.pid, unix.SIGKILL))
	}
	t.threads[t.pid] = &thread{stopped: true}
	resume(t.pid, 0)
	for {
		tid, err := wait(-t.pid, &status) // all threads are of one group
		if err != nil {
			return fmt.Errorf("wait for %d: %w", t.pid, err)
		}
		switch {
		case !status.Stopped():
			delete(t.threads, tid)
			if tid == t.pid {
				t.code = status.ExitStatus()
				return nil
			}
			t.leave(tid)
		default:
			signal, err := t.stop(tid, status)
			if err != nil {
				return errors.Join(err, unix.Kill(t.pid, unix.SIGKILL))
			}
			if !slices.Contains(t.waiting, tid) {
				resume(tid, signal)
			}
		}
	}
}

func wait(pid int, status *unix.WaitStatus) (int, error) {
	for {
		got, err := unix.Wait4(pid, status, wallNotOthers, nil)
		if err != unix.EINTR {
			return got, err
		}
	}
}

// resume lets a thread run to its next stop. One that was killed meanwhile is
// heard of by wait.
func resume(tid int, signal int) { _ = unix.PtraceSyscall(tid, signal) }

// stop looks why a thread has stopped, and returns the signal that it is to get.
func (t *tracer) stop(tid int, status unix.WaitStatus) (signal int, err error) {
	at := t.threads[tid]
	if at == nil {
		at = &thread{}
		t.threads[tid] = at
	}
	switch s := status.StopSignal(); {
	case s == syscallStop:
		return 0, t.syscall(tid, at)
	case s == unix.SIGTRAP && status.TrapCause() > 0:
		return 0, nil // a thread or another program was begun
	case s == unix.SIGSTOP && !at.stopped:
		at.stopped = true // how each of them begins
		return 0, nil
	default:
		return int(s), nil
	}
}

// syscall looks at a thread that goes into the system or comes out of it.
func (t *tracer) syscall(tid int, at *thread) error {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(tid), uintptr(syscallInfoSize),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno == unix.ESRCH {
		return nil // it was killed
	}
	if errno != 0 {
		return fmt.Errorf("%w: what a thread asks of the system: %w", errTrace, errno)
	}
	switch info.op {
	case infoEntry:
		at.call = info
		t.enter(tid, at)
	case infoExit:
		if at.pending != nil && int64(info.values[0]) >= 0 && !t.killed {
			t.changed(*at.pending)
		}
		at.pending = nil
		t.leave(tid)
	}
	return nil
}

// enter lets a thread that is about to change the disk wait until no other does.
func (t *tracer) enter(tid int, at *thread) {
	at.pending = t.planned(tid, at.call.values[0], at.call.values[1:])
	switch {
	case at.pending == nil:
	case t.inside == 0:
		t.inside = tid
	default:
		t.waiting = append(t.waiting, tid)
	}
}

// leave lets the next in, when a thread has changed the disk or is gone.
func (t *tracer) leave(tid int) {
	if t.inside != tid {
		return
	}
	t.inside = 0
	for t.inside == 0 && len(t.waiting) > 0 {
		next := t.waiting[0]
		t.waiting = t.waiting[1:]
		if at := t.threads[next]; at != nil {
			t.enter(next, at) // what it was about to do may be done by now
			resume(next, 0)
		}
	}
}

func (t *tracer) changed(c change) {
	t.changes = append(t.changes, c)
	if t.met(c) {
		t.killed = true
		_ = unix.Kill(t.pid, unix.SIGKILL)
	}
}

// planned is what a system call is about to change below the watched directory;
// nil for nothing.
func (t *tracer) planned(tid int, number uint64, args []uint64) *change {
	call, ok := calls[number]
	if !ok {
		return nil
	}
	var path string
	switch {
	case call.fd >= 0:
		path, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(args[call.fd])))
	default:
		path = t.path(tid, call.dir, args, call.name)
	}
	rel, ok := t.holds(path)
	if !ok || call.flags != nil && !opensAnew(path, call.flags(tid, args)) {
		return nil
	}
	return &change{call.what, rel}
}

// opensAnew says whether opening a file makes or empties it.
func opensAnew(path string, flags uint64) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return flags&unix.O_CREAT != 0
	}
	return flags&unix.O_TRUNC != 0 && info.Size() > 0
}

// path is a name that a thread has given to the system.
func (t *tracer) path(tid, dir int, args []uint64, name int) string {
	rel := text(tid, uintptr(args[name]))
	if filepath.IsAbs(rel) {
		return filepath.Clean(rel)
	}
	base := fmt.Sprintf("/proc/%d/cwd", tid)
	if dir >= 0 && int32(args[dir]) != unix.AT_FDCWD {
		base = fmt.Sprintf("/proc/%d/fd/%d", tid, int32(args[dir]))
	}
	at, _ := os.Readlink(base)
	return filepath.Join(at, rel)
}

// text is one that ends with a zero in a thread's memory.
func text(tid int, from uintptr) string {
	var out []byte
	page := uintptr(os.Getpagesize())
	for len(out) < unix.PathMax {
		part := make([]byte, page-from%page)
		n, err := unix.ProcessVMReadv(tid, []unix.Iovec{iovec(part)},
			[]unix.RemoteIovec{{Base: from, Len: len(part)}}, 0)
		if err != nil || n == 0 {
			break
		}
		if end := strings.IndexByte(string(part[:n]), 0); end >= 0 {
			return string(append(out, part[:end]...))
		}
		out = append(out, part[:n]...)
		from += uintptr(n)
	}
	return string(out)
}

// word is a number in a thread's memory.
func word(tid int, from uintptr) uint64 {
	b := make([]byte, 8)
	if n, err := unix.ProcessVMReadv(tid, []unix.Iovec{iovec(b)}, []unix.RemoteIovec{{Base: from, Len: 8}}, 0); err != nil || n != 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(b)
}

func iovec(b []byte) unix.Iovec {
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return v
}
