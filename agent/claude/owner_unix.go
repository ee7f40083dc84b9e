//go:build unix

package claude

import (
	"fmt"
	"os"
	"syscall"
)

// giveToOwnerOf makes path belong to whoever owns dir. Only root needs to, and
// can.
func giveToOwnerOf(dir, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("give %s away: %w", path, err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if err := os.Lchown(path, int(st.Uid), int(st.Gid)); err != nil {
		return fmt.Errorf("give %s to its room: %w", path, err)
	}
	return nil
}
