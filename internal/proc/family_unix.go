//go:build unix && !linux

package proc

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

func prepare(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

// awaitExit leaves the waiting to Wait: there is no portable way to wait
// without reaping.
func awaitExit(int) {}

// family is the process group: a child that leaves it is not found.
type family struct{ pid int }

func newFamily(pid int, _ string) family { return family{pid} }

func (f family) terminate() { _ = syscall.Kill(-f.pid, syscall.SIGTERM) }
func (f family) kill()      { _ = syscall.Kill(-f.pid, syscall.SIGKILL) }

// beforeReap leaves the group alone, since its leader still runs.
func (f family) beforeReap(time.Duration) []string { return nil }

// afterReap kills what the dead leader left in its group. A group without a
// living member answers with an error.
func (f family) afterReap(limit time.Duration) []string {
	deadline := time.Now().Add(limit)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if syscall.Kill(-f.pid, syscall.SIGKILL) != nil {
			return nil
		}
		if time.Now().After(deadline) {
			return []string{fmt.Sprintf("group %d", f.pid)}
		}
		time.Sleep(wait)
	}
}
