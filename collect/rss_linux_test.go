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
