package proc

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

func prepare(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP
}

func awaitExit(int) {}

// family is a job object that dies with this process. A child that the program
// started in the instant before it was put into the job is not found; a family
// without a job (assigning was refused) is the program alone.
type family struct {
	pid int
	job windows.Handle
}

func newFamily(pid int, _ string) family {
	f := family{pid: pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return f
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, pid)
	}
	if err != nil {
		windows.CloseHandle(job)
		return f
	}
	f.job = job
	return f
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// terminate has no gentle form on Windows: there is no TERM.
func (f family) terminate() { f.kill() }

func (f family) kill() {
	if f.job != 0 {
		_ = windows.TerminateJobObject(f.job, 1)
		return
	}
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(f.pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	_ = windows.TerminateProcess(h, 1)
}

func (f family) beforeReap(time.Duration) []string { return nil }

func (f family) afterReap(time.Duration) []string {
	if f.job == 0 {
		return []string{fmt.Sprintf("children of %d, if it had any: it was not in a job", f.pid)}
	}
	f.kill()
	windows.CloseHandle(f.job)
	return nil
}
