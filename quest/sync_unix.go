//go:build unix

package quest

import (
	"io/fs"
	"os"
	"syscall"
)

// syncDirectory makes a new name durable.
func syncDirectory(dir *os.File) error { return dir.Sync() }

// mayBeLinked reports whether the file has another name somewhere.
func mayBeLinked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink > 1
}
