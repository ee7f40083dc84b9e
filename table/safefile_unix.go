//go:build unix

package table

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from waiting for the other end of a FIFO that took the
// place of a file meanwhile. O_NOFOLLOW would not help against a link: os.Root
// resolves it by itself; comparing the file before and after does.
const openFlags = syscall.O_NONBLOCK

func links(_ *os.File, info fs.FileInfo) (uint64, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("the number of links of a file is unknown here")
	}
	return uint64(st.Nlink), nil
}
