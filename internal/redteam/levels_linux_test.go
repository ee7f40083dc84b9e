package redteam

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"conclave/internal/sample"
	"conclave/policy"
	"conclave/room"
)

// system is one line of docs/levels.md as this machine can play it.
type system struct {
	line string
	root bool // needs root to be played
	user bool // is an ordinary user's
	play func() error
}

var systems = []system{
	{line: "Linux 6.12 or later, with unprivileged user namespaces", play: func() error { return nil }},
	{line: "Linux as an ordinary user without user namespaces", user: true,
		play: func() error { return refuse(unix.EPERM, newUser, unix.SYS_UNSHARE) }},
	{line: "Linux in a container: root, whose seccomp filter refuses namespaces and mounts", root: true,
		play: func() error {
			return refuse(unix.EPERM, newSpaces, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_KEYCTL)
		}},
	{line: "Linux in a container that covers parts of /proc", root: true, play: coverProc},
	{line: "Linux without Landlock, or with one before Linux 6.12", play: func() error { return refuse(unix.ENOSYS, 0, unix.SYS_LANDLOCK_CREATE_RULESET) }},
}

// elsewhere are the lines that only another system can play.
var elsewhere = []string{"macOS", "Windows"}

const (
	newUser   = unix.CLONE_NEWUSER
	newSpaces = newUser | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
)

// refuse lets system calls fail from now on, and clone with any of the flags.
func refuse(errno unix.Errno, flags uint32, calls ...uint32) error {
	const load, jump, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	fail := unix.SECCOMP_RET_ERRNO | uint32(errno)
	p := []unix.SockFilter{{Code: load, K: 0}}
	for _, nr := range calls {
		p = append(p, unix.SockFilter{Code: jump | unix.BPF_JEQ, K: nr, Jf: 1}, unix.SockFilter{Code: ret, K: fail})
	}
	p = append(p, unix.SockFilter{Code: jump | unix.BPF_JEQ, K: unix.SYS_CLONE, Jf: 3},
		unix.SockFilter{Code: load, K: 16}, unix.SockFilter{Code: jump | unix.BPF_JSET, K: flags, Jf: 1}, unix.SockFilter{Code: ret, K: fail},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}

// coverProc does what containers do with /proc. It runs in a mount namespace of
// its own (see playedAs).
func coverProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount("/dev/null", "/proc/timer_list", "", unix.MS_BIND, "")
}

// programs are the roles that a program can play.
func programs() []policy.Role {
	return slices.DeleteFunc(policy.Roles(), func(r policy.Role) bool { return r == policy.Spectator })
}

// playSystem is the other side of TestLevels: it prints what each role gets.
func playSystem(line string) error {
	for _, s := range systems {
		if s.line != line {
			continue
		}
		if err := s.play(); err != nil {
			return fmt.Errorf("play %q: %w", line, err)
		}
		for _, role := range programs() {
			fmt.Printf("%s: %s\n", role, levelOf(role))
		}
		return nil
	}
	return fmt.Errorf("no system %q", line)
}

// levelOf opens the room of a role as the flows do, and says what came of it.
func levelOf(role policy.Role) string {
	r, err := room.Open(context.Background(), room.Plan{Role: string(role), Level: room.Level(policy.Required(role)),
		Fallback: room.Level(policy.Fallback(role)), Base: os.Getenv("REDTEAM_ROOMS")})
	if err == nil {
		defer r.Close()
		err = r.Check(context.Background())
	}
	if errors.Is(err, room.ErrLevel) && strings.Contains(err.Error(), "lower the level of this role explicitly") {
		return "refused"
	}
	if err != nil {
		return err.Error()
	}
	e := r.Enforcement()
	if weaker := e.Level != room.Sealed; weaker != (e.Fallback != "") || weaker != (r.Weaker() != "") {
		return fmt.Sprintf("%s, and does not say so: %q %q", e.Level, e.Fallback, r.Weaker())
	}
	return string(e.Level)
}

// TestLevels holds docs/levels.md: each system there is played by switching its
// feature off, and each role gets what the table says.
func TestLevels(t *testing.T) {
	table := readLevels(t)
	drawn := sample.Pick(t, len(systems), 2, min(3, len(systems)))
	for i, s := range systems {
		want := table[s.line]
		delete(table, s.line)
		if !slices.Contains(drawn, i) {
			continue
		}
		if len(want) != len(programs()) {
			t.Errorf("docs/levels.md says of %q: %v", s.line, want)
			continue
		}
		t.Run(s.line, func(t *testing.T) {
			if s.root && os.Getuid() != 0 {
				t.Log("only root can play it")
				return
			}
			for line := range strings.Lines(playedAs(t, s)) {
				role, got, _ := strings.Cut(strings.TrimSpace(line), ": ")
				if got != want[role] {
					t.Errorf("%s: %s, the table says %q", role, got, want[role])
				}
				delete(want, role)
			}
			if len(want) > 0 {
				t.Errorf("nothing was heard of %v", want)
			}
		})
	}
	for _, line := range elsewhere {
		delete(table, line)
	}
	if len(table) > 0 {
		t.Errorf("nobody plays %v", table)
	}
}

// playedAs runs a process in which the system is played.
func playedAs(t *testing.T, s system) string {
	t.Helper()
	rooms, err := os.MkdirTemp("", "levels-")
	must(t, err)
	defer os.RemoveAll(rooms)
	must(t, os.Chmod(rooms, 0o711))
	cmd := exec.Command(installAttack(t), "system", s.line)
	cmd.Env = []string{"REDTEAM_ATTACK=1", "REDTEAM_ROOMS=" + rooms, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if s.user && os.Getuid() == 0 {
		must(t, os.Chown(rooms, ordinary, ordinary))
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: ordinary, Gid: ordinary}
	}
	if s.root {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// readLevels is the table of docs/levels.md: role by system.
func readLevels(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/levels.md")
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "| system |")
	rest, _, _ = strings.Cut(rest, "\n\n")
	rows := strings.Split("| system |"+rest, "\n")
	cells := func(row string) []string {
		var out []string
		for c := range strings.SplitSeq(strings.Trim(row, "|"), "|") {
			out = append(out, strings.TrimSpace(c))
		}
		return out
	}
	roles := cells(rows[0])
	table := map[string]map[string]string{}
	for _, row := range rows[2:] {
		c := cells(row)
		table[c[0]] = map[string]string{}
		for i := 1; i < len(c); i++ {
			for role := range strings.SplitSeq(roles[i], ", ") {
				table[c[0]][role] = c[i]
			}
		}
	}
	return table
}
