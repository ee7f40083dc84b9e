package redteam

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// attack is what the test binary does when it is started as $ATTACK: one verb
// that a shell has no word for.
func attack(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no verb")
	}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch args[0] {
	case "unix":
		return dialAndPrint("unix", arg(1), "")
	case "tcp":
		return dialAndPrint("tcp", arg(1), "")
	case "udp":
		return dialAndPrint("udp", arg(1), "tell\n")
	case "bus":
		return dialAndPrint("unix", arg(1), "\x00AUTH EXTERNAL "+fmt.Sprintf("%x", strconv.Itoa(os.Getuid()))+"\r\n")
	case "inflate":
		return inflate(arg(1))
	case "shm":
		return readShm(number(arg(1)))
	case "msg":
		return readMsg(number(arg(1)))
	case "key":
		return readKey(arg(1))
	case "peek":
		return peek(number(arg(1)), number(arg(2)))
	case "ptrace":
		return ptrace(number(arg(1)), number(arg(2)))
	case "xattr":
		return unix.Setxattr(arg(1), "user.touched", []byte("x"), 0)
	case "hunt":
		return huntEverywhere(arg(1))
	case "fastopen":
		return fastOpen(arg(1), number(arg(2)))
	case "listen":
		return listenUnbound()
	case "prlimit":
		return limitOther(number(arg(1)), arg(2))
	case "schedule":
		return scheduleOther(number(arg(1)), arg(2))
	case "take":
		return take(arg(1))
	case "system":
		return playSystem(arg(1))
	case "decoy":
		return decoy(arg(1))
	}
	return fmt.Errorf("no verb %q", args[0])
}

func number(s string) int {
	n, _ := strconv.ParseInt(s, 0, 64)
	return int(n)
}

func dialAndPrint(network, address, say string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if say != "" {
		if _, err := c.Write([]byte(say)); err != nil {
			return err
		}
	}
	var b [512]byte
	n, err := c.Read(b[:])
	fmt.Printf("%s\n", b[:n])
	return err
}

// inflate prints every git object below dir.
func inflate(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if z, err := zlib.NewReader(bytes.NewReader(data)); err == nil {
			_, _ = io.Copy(os.Stdout, z)
		}
		return nil
	})
}

func readShm(id int) error {
	b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", bytes.TrimRight(b, "\x00"))
	return nil
}

func readKey(name string) error {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", name, 0)
	if err != nil {
		return err
	}
	var b [256]byte
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b[:], 0)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", b[:n])
	return nil
}

func peek(pid, addr int) error {
	b := make([]byte, len(canaryPrefix)+32)
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", b[:n])
	return nil
}

func ptrace(pid, addr int) error {
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	if err := unix.PtraceInterrupt(pid); err != nil {
		return err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return err
	}
	defer func() { _ = unix.PtraceDetach(pid) }()
	b := make([]byte, len(canaryPrefix)+32)
	n, err := unix.PtracePeekData(pid, uintptr(addr), b)
	fmt.Printf("%s\n", b[:n])
	return err
}

// huntEverywhere looks for a text in command line, environment and memory of every other
// process. The text comes reversed, so that the hunter's own traces are not
// what is found.
func huntEverywhere(reversed string) error {
	want := []byte(reversed)
	slices.Reverse(want)
	looked := 0
	pids, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, dir := range pids {
		if filepath.Base(dir) == strconv.Itoa(os.Getpid()) {
			continue
		}
		for _, name := range []string{"cmdline", "environ"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.Contains(data, want) {
				fmt.Printf("FOUND in %s of %s\n", name, dir)
			}
		}
		if huntMemory(dir, want) {
			looked++
		}
	}
	fmt.Printf("hunted in the memory of %d processes\n", looked)
	return nil
}

// huntMemory looks through what a process may write; it is false for one whose
// memory cannot be read.
func huntMemory(dir string, want []byte) bool {
	maps, err := os.ReadFile(filepath.Join(dir, "maps"))
	if err != nil {
		return false
	}
	mem, err := os.Open(filepath.Join(dir, "mem"))
	if err != nil {
		return false
	}
	defer mem.Close()
	buf := make([]byte, 4<<20)
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n != 3 || !strings.HasPrefix(mode, "rw") {
			continue
		}
		for at := from; at < to && at < from+(256<<20); at += int64(len(buf)) - int64(len(want)) {
			n, err := mem.ReadAt(buf[:min(int64(len(buf)), to-at)], at)
			if bytes.Contains(buf[:max(n, 0)], want) {
				fmt.Printf("FOUND in the memory of %s\n", dir)
				return true
			}
			if err != nil {
				break // not there yet: memory that was never touched
			}
		}
	}
	return true
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
