//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps an open from waiting for the other end of a FIFO that took the
// place of a file meanwhile.
const nonblock = syscall.O_NONBLOCK

// euid is who this process acts for.
var euid = os.Geteuid

// names is how many names a file has.
func names(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Nlink)
}

// foreign returns the owner of a thing if that is somebody else.
func foreign(info fs.FileInfo) (uid int, yes bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, true
	}
	return int(st.Uid), int(st.Uid) != euid()
}
