package room

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asked makes a system call that names nobody, so that no one suffers by it and
// the kernel's answer is its own. The last argument is the address of a zeroed
// structure where it is given as here.
func asked(own unix.Errno, nr uintptr, args ...uintptr) func(*terrain) error {
	return func(*terrain) error {
		zero := new([64]byte)
		var a [4]uintptr
		for i, v := range args {
			if a[i] = v; v == here {
				a[i] = uintptr(unsafe.Pointer(zero))
			}
		}
		_, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], 0, 0)
		runtime.KeepAlive(zero)
		return answered(errno, own)
	}
}

const (
	here = ^uintptr(0) >> 1 // stands for an address
	noFD = ^uintptr(0)      // -1
)

// otherProcesses change how another process fares.
func otherProcesses() []attempt {
	const middle = 2<<13 | 4 // best effort
	return []attempt{
		{"limit another process", bySelf, must, must, asked(unix.ESRCH, unix.SYS_PRLIMIT64, nobody, unix.RLIMIT_CPU)},
		{"choose another's processors", bySelf, must, must, asked(unix.ESRCH, unix.SYS_SCHED_SETAFFINITY, nobody, 8, here)},
		{"choose another's scheduler", bySelf, must, must, asked(unix.ESRCH, unix.SYS_SCHED_SETSCHEDULER, nobody, unix.SCHED_NORMAL, here)},
		{"choose another's scheduling parameters", bySelf, must, must, asked(unix.ESRCH, unix.SYS_SCHED_SETPARAM, nobody, here)},
		{"choose another's scheduling attributes", bySelf, must, must, asked(unix.ESRCH, unix.SYS_SCHED_SETATTR, nobody, here)},
		{"change another's priority", bySelf, must, must, asked(unix.ESRCH, unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, nobody)},
		{"change the priority of a user", bySelf, must, must, asked(unix.ESRCH, unix.SYS_SETPRIORITY, unix.PRIO_USER, nobody)},
		{"reserve space on the disk", bySelf, must, must, asked(unix.EBADF, unix.SYS_FALLOCATE, noFD, 0, 0, 1)},
		{"change another's disk priority", bySelf, must, must, asked(unix.ESRCH, unix.SYS_IOPRIO_SET, ioprioProcess, nobody, middle)},
	}
}

// aroundPorts lead past Landlock's rules for ports. A room with a network of
// its own has no need of those.
func aroundPorts() []attempt {
	fast := uintptr(unix.MSG_FASTOPEN)
	return []attempt{
		{"connect by sending (sendto)", bySelf, none, must, asked(unix.EBADF, unix.SYS_SENDTO, noFD, here, 0, fast)},
		{"connect by sending (sendmsg)", bySelf, none, must, asked(unix.EBADF, unix.SYS_SENDMSG, noFD, here, fast)},
		{"connect by sending (sendmmsg)", bySelf, none, must, asked(unix.EBADF, unix.SYS_SENDMMSG, noFD, here, 0, fast)},
		{"connect when sending", bySelf, none, must, asked(unix.EBADF, unix.SYS_SETSOCKOPT, noFD, unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT)},
		{"listen on a port", bySelf, none, must, asked(unix.EBADF, unix.SYS_LISTEN, noFD, 1)},
		{"open a socket of Multipath TCP", bySelf, must, must, streamOf(ipprotoMPTCP)},
	}
}

const ipprotoMPTCP = 262

// streamOf asks for a stream of another protocol. Where the kernel has none, it
// says so itself.
func streamOf(protocol int) func(*terrain) error {
	return func(*terrain) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
		if err == unix.EPROTONOSUPPORT || err == unix.ENOPROTOOPT {
			return nil
		}
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}
}
