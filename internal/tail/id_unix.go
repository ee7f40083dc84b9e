//go:build unix

package tail

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// identity is device and inode.
func identity(_ *os.File, info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(uint64(st.Dev), 16) + ":" + strconv.FormatUint(uint64(st.Ino), 16)
}
