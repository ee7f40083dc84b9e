package tracer

import "golang.org/x/sys/unix"

// call says where a system call that changes the disk has its file: a
// descriptor, or a name below a directory, by the numbers of the arguments; -1
// for none.
type call struct {
	what          string
	fd, dir, name int
	flags         func(tid int, args []uint64) uint64 // of opening: not all of them change anything
}

func byFD(what string, fd int) call { return call{what, fd, -1, -1, nil} }
func flagsAt(n int) func(int, []uint64) uint64 {
	return func(_ int, args []uint64) uint64 { return args[n] }
}

func flagsBehind(n int) func(int, []uint64) uint64 {
	return func(tid int, args []uint64) uint64 { return word(tid, uintptr(args[n])) }
}

func byName(what string, dir, name int) call { return call{what, -1, dir, name, nil} }

// calls are the system calls that change the content of a file or a name. Where
// a call has two names, the one that it makes counts. Modes and times are no
// content.
var calls = map[uint64]call{
	unix.SYS_WRITE:           byFD("write", 0),
	unix.SYS_PWRITE64:        byFD("write", 0),
	unix.SYS_WRITEV:          byFD("write", 0),
	unix.SYS_PWRITEV:         byFD("write", 0),
	unix.SYS_PWRITEV2:        byFD("write", 0),
	unix.SYS_SENDFILE:        byFD("write", 0),
	unix.SYS_SPLICE:          byFD("write", 2),
	unix.SYS_COPY_FILE_RANGE: byFD("write", 2),
	unix.SYS_FTRUNCATE:       byFD("truncate", 0),
	unix.SYS_FALLOCATE:       byFD("allocate", 0),
	unix.SYS_TRUNCATE:        byName("truncate", -1, 0),
	unix.SYS_OPENAT:          {"open", -1, 0, 1, flagsAt(2)},
	unix.SYS_OPENAT2:         {"open", -1, 0, 1, flagsBehind(2)},
	unix.SYS_MKDIRAT:         byName("mkdir", 0, 1),
	unix.SYS_MKNODAT:         byName("mknod", 0, 1),
	unix.SYS_UNLINKAT:        byName("unlink", 0, 1),
	unix.SYS_RENAMEAT:        byName("rename", 2, 3),
	unix.SYS_RENAMEAT2:       byName("rename", 2, 3),
	unix.SYS_LINKAT:          byName("link", 2, 3),
	unix.SYS_SYMLINKAT:       byName("symlink", 1, 2),
}
