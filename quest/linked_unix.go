//go:build unix

package quest

import (
	"io/fs"
	"syscall"
)

// mayBeLinked reports whether the file has another name somewhere.
func mayBeLinked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink > 1
}
