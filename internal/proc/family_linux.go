package proc

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// prepare makes the program the leader of a session, and asks the kernel to
// kill it when the thread that starts it dies. What the caller has set in
// SysProcAttr stays.
func prepare(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// awaitExit returns when the program is dead but not reaped: its process id,
// and so its group, cannot be given to another yet.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// family finds the processes that a program started, however deep.
type family struct {
	pid  int
	mark []byte
}

func newFamily(pid int, mark string) family { return family{pid, []byte(mark)} }

func (f family) afterReap(time.Duration) []string { return nil }

func (f family) terminate() { f.signal(syscall.SIGTERM) }
func (f family) kill()      { f.signal(syscall.SIGKILL) }

func (f family) signal(sig syscall.Signal) {
	_ = syscall.Kill(-f.pid, sig) // the group first: no one can slip out between
	for _, m := range f.members() {
		_ = syscall.Kill(m.pid, sig)
	}
}

// beforeReap kills what is left when the leader is dead, and names what stays.
// One look that finds nobody proves nothing: a process that was being forked
// while /proc was read is in neither half of it. Two in a row do.
func (f family) beforeReap(limit time.Duration) []string {
	deadline := time.Now().Add(limit)
	empty := 0
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		left := f.members()
		if len(left) == 0 {
			if empty++; empty == 2 {
				return nil
			}
			continue
		}
		empty = 0
		if time.Now().After(deadline) {
			var names []string
			for _, m := range left {
				names = append(names, fmt.Sprintf("%d (%s)", m.pid, m.name))
			}
			return names
		}
		for _, m := range left {
			_ = syscall.Kill(m.pid, syscall.SIGKILL)
		}
		time.Sleep(wait)
	}
}

// Children are the living processes whose parent is pid.
func Children(pid int) []int {
	var out []int
	for _, m := range processes() {
		if m.parent == pid {
			out = append(out, m.pid)
		}
	}
	return out
}

type member struct {
	pid, parent, group, session int
	name                        string
}

// Descendants are the living processes below pid, however deep.
func Descendants(pid int) []int {
	in := map[int]bool{pid: true}
	addBelow(in, processes())
	delete(in, pid)
	return slices.Collect(maps.Keys(in))
}

// addBelow adds all processes whose parents are in, however deep.
func addBelow(in map[int]bool, all []member) {
	for grown := true; grown; {
		grown = false
		for _, m := range all {
			if !in[m.pid] && in[m.parent] {
				in[m.pid], grown = true, true
			}
		}
	}
}

// members lists the living processes of the family.
func (f family) members() []member {
	all := processes()
	in := map[int]bool{f.pid: true}
	for _, m := range all {
		if m.group == f.pid || m.session == f.pid || f.marked(m.pid) {
			in[m.pid] = true
		}
	}
	addBelow(in, all)
	return slices.DeleteFunc(all, func(m member) bool { return !in[m.pid] })
}

func (f family) marked(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // gone, or of another user: then it is not ours
	}
	return slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, f.mark) })
}

// processes lists everything alive; a zombie has ended already.
func processes() []member {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read is of use
	var out []member
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if m, ok := stat(pid); ok {
			out = append(out, m)
		}
	}
	return out
}

func stat(pid int) (member, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return member{}, false
	}
	// The name stands in parentheses and may hold any character.
	s := string(b)
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		return member{}, false
	}
	fields := strings.Fields(s[end+1:])
	if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
		return member{}, false
	}
	m := member{pid: pid, name: s[open+1 : end]}
	m.parent, _ = strconv.Atoi(fields[1])
	m.group, _ = strconv.Atoi(fields[2])
	m.session, _ = strconv.Atoi(fields[3])
	return m, true
}
