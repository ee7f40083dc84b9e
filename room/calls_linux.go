package room

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The attempts here are system calls that seccomp refuses. Where a call would
// change something it is made with arguments for which the kernel has an
// answer of its own, so that the answer shows who gave it.

func errnoErr(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// answered turns the kernel's own refusal of a harmless call into success.
func answered(errno, own unix.Errno) error {
	if errno == own {
		return nil
	}
	return errnoErr(errno)
}

// nobody is a process id beyond the largest that Linux gives out.
const nobody = 0x3fffffff

func tracing(*terrain) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, nobody, 0, 0, 0, 0)
	return answered(errno, unix.ESRCH)
}

func readMemory(*terrain) error {
	from, to := []byte{42}, []byte{0}
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(1)
	remote := []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&from[0])), Len: 1}}
	_, err := unix.ProcessVMReadv(os.Getpid(), local, remote, 0)
	runtime.KeepAlive(from)
	return err
}

func typing(*terrain) error {
	b := byte('x')
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, fdTalk, unix.TIOCSTI, uintptr(unsafe.Pointer(&b)))
	return answered(errno, unix.ENOTTY)
}

// personality asks for the present one.
func personality(*terrain) error {
	_, _, errno := unix.Syscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0)
	return errnoErr(errno)
}

func otherSocket(*terrain) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// addKey puts a key into a keyring that goes with this process.
func addKey(*terrain) error {
	_, err := unix.AddKey("user", "conclave-probe", []byte("probe"), unix.KEY_SPEC_PROCESS_KEYRING)
	return err
}

// unsharing leaves nothing, but may ask.
func unsharing(*terrain) error { return unix.Unshare(0) }

// cloning asks for flags that exclude each other, so that no process comes of it.
func cloning(*terrain) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_FS, 0, 0, 0, 0, 0)
	return answered(errno, unix.EINVAL)
}

func cloning3(*terrain) error {
	_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
	return answered(errno, unix.EINVAL)
}

func openMounts(*terrain) error {
	fd, err := unix.OpenTree(unix.AT_FDCWD, ".", unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
