package lockfile

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel32.NewProc("LockFileEx")
	unlockFileEx = kernel32.NewProc("UnlockFileEx")
)

const (
	failImmediately = 0x1
	exclusive       = 0x2

	errorLockViolation = syscall.Errno(33)
)

// beyond is the locked byte: Windows locks are mandatory, so it lies past all
// content and others can still read who the holder is.
func beyond() *syscall.Overlapped {
	return &syscall.Overlapped{Offset: 0xfffffffe, OffsetHigh: 0x7fffffff}
}

func lock(f *os.File) error {
	ok, _, err := lockFileEx.Call(f.Fd(), exclusive|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(beyond())))
	if ok != 0 {
		return nil
	}
	if errors.Is(err, errorLockViolation) || errors.Is(err, syscall.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

func unlock(f *os.File) error {
	ok, _, err := unlockFileEx.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(beyond())))
	if ok != 0 {
		return nil
	}
	return err
}
