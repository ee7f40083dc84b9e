//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// Detach lets a program that is going to be started live on by itself: what ends
// the session of its parent does not end it.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
