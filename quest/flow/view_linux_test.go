package flow

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"conclave/agent"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/policy/policytest"
	"conclave/room"
)

// listed makes a project of every name that policy is held against.
func listed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range policytest.Paths() {
		content := p.Content
		if p.Path == ".campaign/quest.md" {
			content = aQuest
		}
		write(t, dir, p.Path, content)
	}
	if err := os.Symlink("../.env", filepath.Join(dir, "src", "soft.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, ".netrc"), filepath.Join(dir, "src", "hard.txt")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// found lists the files that a role really has before it, by their paths in
// the project: it looks with a program that runs in its room.
func found(t *testing.T, h *House, rooms string, role policy.Role) []string {
	t.Helper()
	in, paths := "workspace", []string(nil)
	if role.Evaluator() {
		in, paths = "work", []string{"."}
	}
	f, err := h.Room(t.Context(), role, paths)
	if err != nil {
		t.Fatal(err)
	}
	f.Plan.Base = rooms
	r, err := room.Open(t.Context(), f.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	run := agent.Command{Path: "/bin/sh", Args: []string{"-c", "mkdir -p " + in + " 2>/dev/null; cd " + in + " 2>/dev/null && find . -type f -print0"},
		Dir: r.Place().InGuest(agent.WorkDir), Env: []string{"PATH=/usr/bin:/bin"}}
	if err := r.Run(context.WithoutCancel(t.Context()), run, room.Stdio{Out: out, Err: os.Stderr}); err != nil && policy.Decide(role, policy.Workspace).Allow {
		t.Fatalf("%s: %v", role, err)
	}
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range bytes.SplitSeq(bytes.TrimRight(data, "\x00"), []byte{0}) {
		if len(name) > 0 {
			names = append(names, strings.TrimPrefix(string(name), "./"))
		}
	}
	slices.Sort(names)
	return names
}

// W4: what policy says of a name and what a room shows are the same, for every
// role and every name of the list, as root and as an ordinary user.
func TestRoomsShowWhatPolicySays(t *testing.T) {
	t.Parallel()
	dir := listed(t)
	h := New(Options{Root: dir})
	rooms := shared(t)
	for _, role := range policy.Roles() {
		want := map[string]bool{}
		for _, p := range policytest.Paths() {
			if p.Kind == policy.Workspace && (policy.Decide(role, policy.Workspace).Allow || role.Evaluator()) {
				want[p.Path] = true
			}
		}
		got := found(t, h, rooms, role)
		for _, name := range got {
			if !want[name] {
				t.Errorf("%s is shown %q", role, name)
			}
			delete(want, name)
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			t.Errorf("%s is not shown %q", role, name)
		}
	}
}

// shared is a directory that a room's own user can pass through.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "view")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "rooms")
}

func TestRoomsShowWhatPolicySaysToAUser(t *testing.T) {
	t.Parallel()
	sample.Long(t)
	if os.Geteuid() != 0 {
		t.Log("this run is one of an ordinary user")
		return
	}
	const uid = 54323
	home := filepath.Dir(shared(t))
	if err := os.Chown(home, uid, uid); err != nil {
		t.Fatal(err)
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	cmd := &exec.Cmd{Path: "/proc/self/fd/3", Args: []string{"flow.test", "-test.v", "-test.run", "^TestRoomsShowWhatPolicySays$"},
		Dir: home, ExtraFiles: []*os.File{self}, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home},
		SysProcAttr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRoomsShowWhatPolicySays ") {
		t.Fatalf("as an ordinary user: %v\n%s", err, out)
	}
}
