package atomicfile

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// SyncDir makes the names in a directory durable, where the system has a call
// for it: Windows has none, nor have some network file systems.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return syncDir(d)
}

// SyncDirIn is SyncDir for a directory below one that is open already.
func SyncDirIn(root *os.Root, dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return syncDir(d)
}

func syncDir(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
