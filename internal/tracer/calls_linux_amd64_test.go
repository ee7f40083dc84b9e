package tracer

import "golang.org/x/sys/unix"

// The calls that younger systems have no more.
func init() {
	calls[unix.SYS_OPEN] = call{"open", -1, -1, 0, flagsAt(1)}
	calls[unix.SYS_CREAT] = byName("open", -1, 0)
	calls[unix.SYS_MKDIR] = byName("mkdir", -1, 0)
	calls[unix.SYS_MKNOD] = byName("mknod", -1, 0)
	calls[unix.SYS_RMDIR] = byName("unlink", -1, 0)
	calls[unix.SYS_UNLINK] = byName("unlink", -1, 0)
	calls[unix.SYS_RENAME] = byName("rename", -1, 1)
	calls[unix.SYS_LINK] = byName("link", -1, 1)
	calls[unix.SYS_SYMLINK] = byName("symlink", -1, 1)
}
