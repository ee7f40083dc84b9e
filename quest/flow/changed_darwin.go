package flow

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when a file was last touched in any way: other than the time of its
// last writing, this one cannot be set.
func changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return info.ModTime()
}
