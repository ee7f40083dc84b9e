package tail

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// without runs fn without the right to read path: its mode forbids it, and for
// root, whom no mode binds, the thread takes another user's rights.
func without(t *testing.T, path string, fn func()) {
	t.Helper()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if os.Getuid() == 0 {
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
	}
	_, err := os.ReadFile(path)
	if err != nil {
		fn()
	}
	if os.Getuid() == 0 {
		if err := syscall.Setfsuid(0); err != nil {
			t.Fatal(err)
		}
	}
	if err == nil {
		t.Fatalf("%s could still be read: nothing was shown", path)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file that may not be read any more goes on where it stood when it may.
func TestPermissionLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "a\n")
	f := New(path, Options{})
	defer f.Close()
	want(t, f, "a")
	f.Release()
	appendTo(t, path, "b\n")
	without(t, path, func() {
		if f.Next() {
			t.Error("it was read")
		}
		if f.State() != Denied || f.Err() == nil {
			t.Errorf("state %d, error %v", f.State(), f.Err())
		}
	})
	want(t, f, "b")
	if f.Err() != nil || f.State() != Following || f.Generation() != 0 {
		t.Errorf("state %d, error %v, generation %d", f.State(), f.Err(), f.Generation())
	}
}
