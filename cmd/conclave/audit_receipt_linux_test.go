package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/program"
	"conclave/internal/sample"
)

// emptyRoot is a root that holds the program, a receipt, its work and nothing
// else: no home, no /proc, no network, another user.
type emptyRoot struct{ dir string }

func (r emptyRoot) path(name string) string { return filepath.Join(r.dir, name) }

// check runs the program there, and returns its exit code and what it said.
func (r emptyRoot) check(t *testing.T, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/conclave", append([]string{"audit", "receipt", "/receipt.json"}, args...)...)
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:      r.dir,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 4242, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 4242, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("start the program in an empty root: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestReceiptInAnEmptyRoot: a receipt that was made and signed here is checked
// where there is nothing but the program, the receipt and the work, as another
// user. Every changed byte of the work is found there; of the receipt by its
// signature, and without one by the head (package receipt changes every byte of
// one; here some of a real one).
func TestReceiptInAnEmptyRoot(t *testing.T) {
	bin := t.TempDir()
	path, err := program.Build(bin)
	if err != nil {
		t.Fatal(err)
	}
	root, head := gateIn(t, path)
	signed, err := os.ReadFile(root.path("receipt.json"))
	if err != nil {
		t.Fatal(err)
	}
	byKey, byHead := []string{"--signers", "/signers", "--work", "/work"}, []string{"--head", head, "--work", "/work"}
	for _, args := range [][]string{byKey, byHead} {
		if code, said := root.check(t, args...); code != 0 || !strings.HasPrefix(said, "holds: the verdict is met\n") {
			t.Fatalf("%v: exit %d: %s", args, code, said)
		}
	}
	unsigned := regexp.MustCompile(`(?m)^  "signature": .*\n`).ReplaceAll(signed, nil)
	for name, c := range map[string]struct {
		data []byte
		args []string
	}{"signed": {signed, byKey}, "unsigned": {unsigned, byHead}} {
		for _, at := range sample.Pick(t, len(c.data), 3, 12) {
			changed := bytes.Clone(c.data)
			changed[at] ^= 1
			root.write(t, "receipt.json", changed)
			if code, said := root.check(t, c.args...); code == 0 || !strings.HasPrefix(said, "does not hold: ") {
				t.Fatalf("%s: byte %d changed: exit %d: %s", name, at, code, said)
			}
		}
	}
	root.write(t, "receipt.json", signed)
	work, err := os.ReadFile(root.path("work/REHEARSAL.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range sample.Pick(t, len(work), 2, 8) {
		changed := bytes.Clone(work)
		changed[at] ^= 1
		root.write(t, "work/REHEARSAL.md", changed)
		if code, said := root.check(t, byKey...); code != 1 || !strings.Contains(said, "found work: REHEARSAL.md is not as it was judged") {
			t.Fatalf("byte %d of the work changed: exit %d: %s", at, code, said)
		}
	}
}

func (r emptyRoot) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(r.path(name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// gateIn judges a work by the embedded judge, signs, and puts what a stranger
// gets into an empty root.
func gateIn(t *testing.T, conclave string) (root emptyRoot, head string) {
	t.Helper()
	root = emptyRoot{t.TempDir()}
	ws, home := t.TempDir(), t.TempDir()
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = ws, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	key := filepath.Join(home, "key")
	run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key)
	if err := os.WriteFile(filepath.Join(ws, "REHEARSAL.md"), []byte("The rollback took 14 minutes.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(conclave, "init", "--yes")
	said := run(conclave, "gate", "--criteria", "1. The minutes are written down (check: `grep -q minutes REHEARSAL.md`).",
		"--work", "REHEARSAL.md", "--sign="+key)
	m := regexp.MustCompile(`(?m)^head: ([0-9a-f]{64})$`).FindStringSubmatch(said)
	file := regexp.MustCompile(`(?m)^receipt: (.*)$`).FindStringSubmatch(said)
	if m == nil || file == nil {
		t.Fatalf("the gate names neither head nor receipt:\n%s", said)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root.path("work"), 0o755); err != nil {
		t.Fatal(err)
	}
	root.write(t, "signers", fmt.Appendf(nil, "mara@example.org %s", public))
	for from, to := range map[string]string{file[1]: "receipt.json", filepath.Join(ws, "REHEARSAL.md"): "work/REHEARSAL.md", conclave: "conclave"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		root.write(t, to, data)
	}
	if err := os.Chmod(root.path("conclave"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root, m[1]
}
