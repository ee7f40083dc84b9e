//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps an open from waiting for the other end of a FIFO that took the
// place of a file meanwhile. O_NOFOLLOW would not help against a link: os.Root
// resolves it by itself; comparing the file before and after does.
const nonblock = syscall.O_NONBLOCK

// euid is who this process acts for.
var euid = os.Geteuid

// links is how many names a file has.
func links(_ *os.File, info fs.FileInfo) (uint64, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("the number of links of a file is unknown here")
	}
	return uint64(st.Nlink), nil
}

// foreign returns the owner of a thing if that is somebody else.
func foreign(info fs.FileInfo) (uid int, yes bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, true
	}
	return int(st.Uid), int(st.Uid) != euid()
}
