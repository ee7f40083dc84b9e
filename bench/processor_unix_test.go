//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// processor is how much of the processors this process has used.
func processor() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// peakOf is the most memory that a process has had, in MB.
func peakOf(s *os.ProcessState) float64 {
	used, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(used.Maxrss) / 1e6
	}
	return float64(used.Maxrss) / 1e3
}
