package room

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"conclave/internal/proc"
)

func familyOf(roomInit int) []int {
	if roomInit == 0 {
		return nil
	}
	return proc.Descendants(roomInit)
}

// freeBytes is what the file system of a directory has left, for anybody.
func freeBytes(dir string) uint64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return st.Bfree * uint64(st.Bsize)
}

// blocksOf is what a file takes on the disk.
func blocksOf(fi fs.FileInfo) uint64 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Blocks) * 512
}

// privateBytes is the memory that processes have for themselves, and what they
// share with one another but with no file.
func privateBytes(pids []int) uint64 {
	var sum uint64
	for _, pid := range pids {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil {
			continue // gone
		}
		for line := range strings.Lines(string(b)) {
			name, value, _ := strings.Cut(line, ":")
			if name != "RssAnon" && name != "RssShmem" {
				continue
			}
			kb, _, _ := strings.Cut(strings.TrimSpace(value), " ")
			n, _ := strconv.ParseUint(kb, 10, 64)
			sum += n << 10
		}
	}
	return sum
}

// unlinkedBytes is what processes hold open of the disk that holds dir, and no
// directory names any more.
func unlinkedBytes(pids []int, dir string) uint64 {
	var disk syscall.Stat_t
	if syscall.Stat(dir, &disk) != nil {
		return 0
	}
	seen := map[uint64]uint64{}
	for _, pid := range pids {
		files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*") // none of a process that does not let itself be looked at
		for _, f := range files {
			var st syscall.Stat_t
			if syscall.Stat(f, &st) == nil && st.Nlink == 0 && st.Dev == disk.Dev {
				seen[st.Ino] = uint64(st.Blocks) * 512
			}
		}
	}
	var sum uint64
	for _, n := range seen {
		sum += n
	}
	return sum
}
