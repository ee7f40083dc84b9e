//go:build unix

package room

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the leader of a session.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
