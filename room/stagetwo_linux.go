package room

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// runStageTwo restricts this process, shows what it can no longer do, waits for the
// parent's word, and becomes the program. All of it happens on one thread, so
// that what was shown holds for what is started.
func runStageTwo(s steps) error {
	runtime.LockOSThread()
	var o stageTwoOrders
	if err := takeOrders(fdOrders, &o); err != nil {
		return err
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	unix.Umask(0o077)
	if o.Terminal {
		if err := unix.IoctlSetInt(0, unix.TIOCSCTTY, 0); err != nil {
			return fmt.Errorf("take the terminal: %w", err)
		}
	}
	before := try(s.attempts, o.Before, &o.Terrain)
	abi, err := s.landlock(o.Rules)
	if err != nil {
		return err
	}
	if err := s.seccomp(o.Level); err != nil {
		return err
	}
	after := try(s.attempts, o.After, &o.Terrain)
	say(fdTalk, report{Before: before, After: after, ABI: abi})
	if err := awaitWord(); err != nil {
		return err
	}
	return become(o)
}

// awaitWord returns when the parent has judged the probes.
func awaitWord() error {
	b := make([]byte, 8)
	n, err := readFD(fdTalk, b)
	switch {
	case err != nil:
		return fmt.Errorf("wait for the word: %w", err)
	case string(b[:n]) != "go":
		return errors.New("the word was no")
	}
	return nil
}

// become is the end of stage two.
func become(o stageTwoOrders) error {
	if err := os.Chdir(cmp.Or(o.Command.Dir, "/")); err != nil {
		return fmt.Errorf("start %s: its working directory: %w", o.Command.Path, err)
	}
	args := append([]string{o.Command.Path}, o.Command.Args...)
	// Last, because they are the program's: this process has threads and memory
	// of its own, and would die of narrow ones without a word.
	if err := setLimits(o.Limits); err != nil {
		return err
	}
	err := syscall.Exec(o.Command.Path, args, o.Command.Env)
	return fmt.Errorf("start %s: %w", o.Command.Path, err)
}

func setLimits(l Limits) error {
	set := func(name string, what int, n uint64) error {
		if n == 0 && what != unix.RLIMIT_CORE {
			return nil
		}
		var have unix.Rlimit
		if err := unix.Getrlimit(what, &have); err != nil {
			return fmt.Errorf("limit %s: %w", name, err)
		}
		n = min(n, have.Max)
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("limit %s: %w", name, err)
		}
		return nil
	}
	return errors.Join(
		set("core files", unix.RLIMIT_CORE, 0), // a core file is a copy of everything
		set("processes", unix.RLIMIT_NPROC, l.Processes),
		set("open files", unix.RLIMIT_NOFILE, l.OpenFiles),
		set("file size", unix.RLIMIT_FSIZE, l.FileSize),
		set("memory", unix.RLIMIT_DATA, l.Memory),
	)
}
