package git

import (
	"syscall"
	"unsafe"
)

// maxMemory is what git may allocate; mapped packs do not count.
const maxMemory = 384 << 20

const rlimitData = 2

// limitMemory bounds a process that was just started: it has not read anything
// of the repository yet, and what it allocates from now on counts.
func limitMemory(pid int) {
	bound := syscall.Rlimit{Cur: maxMemory, Max: maxMemory}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), rlimitData, uintptr(unsafe.Pointer(&bound)), 0, 0, 0)
}
