//go:build unix

package codex

import (
	"os"
	"syscall"
)

// giveTo makes path belong to whoever owns like: a room may run as a user of
// its own, who must be able to read what was put there for it.
func giveTo(path, like string) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == os.Geteuid() {
		return nil
	}
	return os.Lchown(path, int(st.Uid), int(st.Gid))
}

// systemEnv is what a program of this system cannot start without: nothing.
func systemEnv() []string { return nil }
