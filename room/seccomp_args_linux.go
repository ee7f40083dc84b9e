package room

import "golang.org/x/sys/unix"

// The blocks here judge a system call by its arguments. All of them are ints
// of 32 bits to the kernel, so that the low half is the whole of it.

// onlyItself are the calls that change how much of the machine a process gets.
// The kernel lets a user do that to all of the user's processes, and Landlock
// has no word for it: a program in a room of an ordinary user could stop the
// person's own with a limit of one second. 0 means the caller. A process's own
// number is as good, but cannot be known when the filter is written.
func onlyItself() map[uint32][]unix.SockFilter {
	itself := func(n uint32) []unix.SockFilter {
		return []unix.SockFilter{arg(n), jump(unix.BPF_JEQ, 0, 0, 1), ret(retAllow), ret(retEPERM)}
	}
	// one process, not a group or everything of a user
	one := func(kind uint32) []unix.SockFilter {
		return append([]unix.SockFilter{arg(0), jump(unix.BPF_JEQ, kind, 0, 3)}, itself(1)...)
	}
	return map[uint32][]unix.SockFilter{
		unix.SYS_PRLIMIT64:          itself(0),
		unix.SYS_SCHED_SETAFFINITY:  itself(0),
		unix.SYS_SCHED_SETSCHEDULER: itself(0),
		unix.SYS_SCHED_SETPARAM:     itself(0),
		unix.SYS_SCHED_SETATTR:      itself(0),
		unix.SYS_SETPRIORITY:        one(unix.PRIO_PROCESS),
		unix.SYS_IOPRIO_SET:         one(ioprioProcess),
	}
}

const ioprioProcess = 1 // IOPRIO_WHO_PROCESS

// noFastOpen refuses to connect by sending: Landlock's rule for ports is asked
// by connect alone.
func noFastOpen() map[uint32][]unix.SockFilter {
	flags := func(n uint32) []unix.SockFilter {
		return []unix.SockFilter{arg(n), jump(unix.BPF_JSET, unix.MSG_FASTOPEN, 0, 1), ret(retEPERM), ret(retAllow)}
	}
	return map[uint32][]unix.SockFilter{
		unix.SYS_SENDTO:   flags(3),
		unix.SYS_SENDMSG:  flags(2),
		unix.SYS_SENDMMSG: flags(3),
		unix.SYS_SETSOCKOPT: {
			arg(1), jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 0, 4),
			arg(2),
			jump(unix.BPF_JEQ, unix.TCP_FASTOPEN, 3, 0),
			jump(unix.BPF_JEQ, unix.TCP_FASTOPEN_CONNECT, 2, 0),
			jump(unix.BPF_JEQ, unix.TCP_FASTOPEN_KEY, 1, 0),
			ret(retAllow), ret(retEPERM),
		},
	}
}
