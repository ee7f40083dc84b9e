package room

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is written by hand: a list of system calls that fail with EPERM,
// and a few whose arguments decide. It names what reaches around the walls of
// a room (other processes, mounts, namespaces, keys, the kernel itself); the
// walls themselves are namespaces and Landlock, which allow and do not list.

// Offsets in struct seccomp_data. Arguments are 64 bits, low half first on
// both supported architectures.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

const (
	retAllow     = unix.SECCOMP_RET_ALLOW
	retEPERM     = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	retNoSys     = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	retNoSupport = unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)
	retKill      = unix.SECCOMP_RET_KILL_PROCESS
)

// newSpaces are the flags by which clone makes namespaces.
const newSpaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// denied fail at every level.
var denied = append([]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT,
	unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT, sysOpenTreeAttr,
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_SYSLOG,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_PERSONALITY, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, sysProcessMrelease,
}, deniedHere...)

// These are newer than the table of system calls in use.
const (
	sysProcessMrelease = 448
	sysOpenTreeAttr    = 467
)

// sharedMemory fail where there is no IPC namespace.
var sharedMemory = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV,
	unix.SYS_MSGCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL, unix.SYS_SEMTIMEDOP,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | code | unix.BPF_K, K: k, Jt: yes, Jf: no}
}

func load(off uint32) unix.SockFilter { return stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, off) }
func arg(n uint32) unix.SockFilter    { return load(offArgs + 8*n) }
func ret(k uint32) unix.SockFilter    { return stmt(unix.BPF_RET|unix.BPF_K, k) }
func and(mask uint32) unix.SockFilter { return stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, mask) }

// filter is the program for a level. Every block below begins with the number
// of the system call loaded, and leaves it so.
func filter(level Level) []unix.SockFilter {
	p := []unix.SockFilter{
		load(offArch),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		ret(retKill),
		load(offNr),
	}
	if x32Bit != 0 { // the x32 calls would go by other numbers
		p = append(p, jump(unix.BPF_JGE, x32Bit, 0, 1), ret(retEPERM))
	}
	deny := func(nrs []uint32) {
		for _, nr := range nrs {
			p = append(p, jump(unix.BPF_JEQ, nr, 0, 1), ret(retEPERM))
		}
	}
	deny(denied)
	if level == Fenced {
		deny(sharedMemory)
		deny([]uint32{unix.SYS_LISTEN}) // a socket that listens unbound is given a port, and no rule for ports is asked
	}
	p = append(p, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), ret(retNoSys)) // its flags cannot be seen; libc falls back
	// A disk is filled by a word. Who has to write it is seen in time; libc falls back.
	p = append(p, jump(unix.BPF_JEQ, unix.SYS_FALLOCATE, 0, 1), ret(retNoSupport))
	on := func(nr uint32, block ...unix.SockFilter) {
		p = append(p, jump(unix.BPF_JEQ, nr, 0, uint8(len(block))))
		p = append(p, block...)
	}
	on(unix.SYS_CLONE, arg(0), jump(unix.BPF_JSET, newSpaces, 0, 1), ret(retEPERM), ret(retAllow))
	on(unix.SYS_IOCTL, arg(1), // typing into, or drawing on, somebody's terminal
		jump(unix.BPF_JEQ, unix.TIOCSTI, 2, 0), jump(unix.BPF_JEQ, tiocLinux, 1, 0), ret(retAllow), ret(retEPERM))
	on(unix.SYS_SOCKET, socketRules(level)...)
	for nr, block := range onlyItself() {
		on(nr, block...)
	}
	if level == Fenced {
		for nr, block := range noFastOpen() {
			on(nr, block...)
		}
	}
	return append(p, ret(retAllow))
}

const tiocLinux = 0x541C

// socketRules allow TCP, in a network of its own also UDP, unix sockets and
// questions about routes (programs list their interfaces). Multipath TCP goes
// around Landlock's rules for ports, so the protocol counts.
func socketRules(level Level) []unix.SockFilter {
	if level == Sealed {
		return []unix.SockFilter{
			arg(0),
			jump(unix.BPF_JEQ, unix.AF_UNIX, 9, 0),
			jump(unix.BPF_JEQ, unix.AF_NETLINK, 6, 0),
			jump(unix.BPF_JEQ, unix.AF_INET, 1, 0),
			jump(unix.BPF_JEQ, unix.AF_INET6, 0, 7),
			arg(2),
			jump(unix.BPF_JEQ, 0, 4, 0),
			jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 3, 0),
			jump(unix.BPF_JEQ, unix.IPPROTO_UDP, 2, 3),
			arg(2), // of AF_NETLINK
			jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1),
			ret(retAllow),
			ret(retEPERM),
		}
	}
	return []unix.SockFilter{
		arg(0),
		jump(unix.BPF_JEQ, unix.AF_INET, 1, 0),
		jump(unix.BPF_JEQ, unix.AF_INET6, 0, 7),
		arg(1),
		and(0xf),
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 0, 4),
		arg(2),
		jump(unix.BPF_JEQ, 0, 1, 0),
		jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 0, 1),
		ret(retAllow),
		ret(retEPERM),
	}
}

// restrictSeccomp puts the filter on all threads of this process.
func restrictSeccomp(level Level) error {
	if auditArch == 0 {
		return errors.New("there is no filter for this processor: " + runtime.GOARCH)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	p := filter(level)
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return fmt.Errorf("apply seccomp: %w", errno)
	}
	if r != 0 {
		return fmt.Errorf("apply seccomp: thread %d does not take part", r)
	}
	return nil
}
