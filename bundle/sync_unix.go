//go:build unix

package bundle

import (
	"errors"
	"os"
	"syscall"
)

// nonblock opens a pipe without waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
