//go:build unix

package room

import (
	"io/fs"
	"syscall"
)

// openFlags keep a pipe that was swapped in from holding the reader up.
const openFlags = syscall.O_NONBLOCK

// identity is a file's inode and how many names it has.
func identity(fi fs.FileInfo) (inode, uint64, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}, 0, false
	}
	return inode{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink), true
}

// ownerOf is the user id that a file belongs to.
func ownerOf(fi fs.FileInfo) (int, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
