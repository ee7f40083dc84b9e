package proc

import (
	"os/exec"
	"syscall"
)

// detachedProcess has no console of its parent's.
const detachedProcess = 0x8

// Detach lets a program that is going to be started live on by itself: what ends
// the session of its parent does not end it.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
