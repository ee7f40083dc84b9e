package wire

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain makes the test binary another user's program, which connects, asks by
// the door for people and says what came of either.
func TestMain(m *testing.M) {
	path := os.Getenv("WIRE_TEST_KNOCK")
	if path == "" {
		os.Exit(m.Run())
	}
	_, err := Dial(path, program)
	fmt.Println("dial:", err)
	raw, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println("raw:", err)
		return
	}
	fmt.Fprint(raw, "\x00\x00\x00\x02{}")
	told, err := io.ReadAll(raw)
	fmt.Printf("raw: told %d bytes, %v\n", len(told), err)
}

// TestAnotherUser: a process of another user is told nothing, even where the files
// would let it connect.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: only root can start a program as somebody else")
	}
	dir, err := os.MkdirTemp("/tmp", "wire")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	knock, path := filepath.Join(dir, "knock"), filepath.Join(dir, "table-ash.sock")
	if err := os.WriteFile(knock, self, 0o755); err != nil {
		t.Fatal(err)
	}
	listen(t, path, func(*Conn, error) { t.Error("somebody else was let in") })
	for _, open := range []bool{false, true} {
		want := []string{"dial: " + path, "raw: dial unix", "permission denied"}
		if open { // as if somebody had been careless
			want = []string{"dial: " + path, "a socket of somebody else", "raw: told 0 bytes"}
			for _, f := range []string{path, keyFile(path)} {
				if err := os.Chmod(f, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), knock)
		cmd.Dir, cmd.Env = "/", []string{"WIRE_TEST_KNOCK=" + path}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("open %v: not %q in\n%s", open, w, out)
			}
		}
	}
}
