package room

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leaveFamily starts a process whose parent ends at once, and looks to whom it
// falls. In a room that is init, who ends it with the room; without one
// it is the system, and nobody who knows of it.
func leaveFamily(t *terrain) error {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(fds[0])
	middle, errno := forkOrphan(fds[1])
	unix.Close(fds[1])
	if errno != 0 {
		return errno
	}
	var st unix.WaitStatus
	for {
		if _, err := unix.Wait4(int(middle), &st, 0, nil); err != unix.EINTR {
			break
		}
	}
	parent, err := readNumber(fds[0])
	if err != nil {
		return err
	}
	if t.Kept && parent == unix.Getppid() {
		return errors.New("it stays with the keeper")
	}
	if parent == unix.Getpid() {
		return fmt.Errorf("it came back to %d", parent)
	}
	return nil
}

func readNumber(fd int) (int, error) {
	var b [8]byte
	n, err := readFD(fd, b[:])
	if err == nil && n != len(b) {
		err = errors.New("the orphan said nothing")
	}
	return int(binary.NativeEndian.Uint64(b[:])), err
}

// forkOrphan forks twice; the first child ends, the second writes the number of
// its new parent into w. A child of a program with threads may do nothing but
// plain system calls, so that is all there is in it. No program is started,
// because the one that asks may have none that it could start.
//
//go:norace
//go:nosplit
func forkOrphan(w int) (middle uintptr, errno unix.Errno) {
	var parent uintptr
	middle, _, errno = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || middle != 0 {
		return middle, errno
	}
	first, _, _ := unix.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
	if second, _, _ := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0); second == 0 {
		for parent = first; parent == first; {
			unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			parent, _, _ = unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
		}
		unix.RawSyscall(unix.SYS_WRITE, uintptr(w), uintptr(unsafe.Pointer(&parent)), 8)
	}
	for {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}
