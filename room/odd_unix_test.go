//go:build unix

package room

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
)

const hasOdd = true

// odd puts a pipe into one directory and a socket into another.
func odd(t testing.TB, fifoDir, socketDir string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(fifoDir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if socketDir == "" {
		return
	}
	l, err := net.Listen("unix", filepath.Join(socketDir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}
