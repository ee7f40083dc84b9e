package collect

import (
	"os/exec"
	"syscall"
)

// rss is the largest memory that a process had, in bytes.
func rss(cmd *exec.Cmd) int64 {
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return int64(usage.Maxrss) << 10
	}
	return 0
}

// ownRSS is the largest memory that this process had, in bytes.
func ownRSS() int64 {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return int64(used.Maxrss) << 10
}
