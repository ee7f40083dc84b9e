//go:build unix

package git

import (
	"io/fs"
	"syscall"
)

// nonblock keeps the opening of a FIFO from waiting for its writer.
const nonblock = syscall.O_NONBLOCK

// linked says whether a file has other names.
func linked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || s.Nlink > 1
}

// owner is who a file belongs to.
func owner(info fs.FileInfo) uint32 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Uid
	}
	return 0
}
