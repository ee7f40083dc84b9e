package room

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/agent"
	"conclave/policy"
)

// manyFiles makes a workspace of so many files, twenty to a directory, and a
// hundred more that the Cat is not shown: by their name, by their content, and
// by another name of theirs.
func manyFiles(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n / 20 {
		at := filepath.Join(dir, fmt.Sprintf("pkg%02d", i%50), fmt.Sprintf("part%d", i))
		fine(t, os.MkdirAll(at, 0o755))
		for j := range 20 {
			fine(t, os.WriteFile(filepath.Join(at, fmt.Sprintf("source_file_%d.go", j)), []byte("package part\n"), 0o644))
		}
		if i >= 100 {
			continue
		}
		switch i % 4 {
		case 0, 1:
			write(t, "TOKEN=x", at, ".env")
		case 2:
			write(t, key, at, "server.pem")
		case 3:
			write(t, "TOKEN=x", at, ".env")
			fine(t, os.Link(filepath.Join(at, ".env"), filepath.Join(at, "linked")))
		}
	}
	write(t, "ref", dir, ".git", "HEAD")
}

// ready opens a room for the Cat and returns when a program runs in it.
func ready(ctx context.Context, base, source string) (time.Duration, error) {
	begin := time.Now()
	r, err := Open(ctx, Plan{Role: "cat", Fallback: Fenced, Base: base, Workspace: &View{Source: source, Withheld: policy.View(policy.Cat, nil), Absent: policy.Absent()}})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	p, err := r.Launch(ctx, agent.Command{Path: "/bin/true"})
	if err != nil {
		return 0, err
	}
	took := time.Since(begin)
	<-p.Done()
	return took, p.Err()
}

// readyOnDemand measures in the name of another user, once for each line that
// it is sent.
func readyOnDemand(dirs string) {
	base, source, _ := strings.Cut(dirs, ":")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		took, err := ready(context.Background(), base, source)
		fmt.Println(int64(took), err)
	}
	os.Exit(0)
}

// BenchmarkViewReady: a sealed room over 50,000 files, from nothing to a
// running program, as this user and as one without any right.
func BenchmarkViewReady(b *testing.B) {
	dir := base(b)
	source := filepath.Join(dir, "project")
	b.Cleanup(func() { os.RemoveAll(source) })
	manyFiles(b, source, 50_000)
	b.Run(fmt.Sprintf("uid=%d", os.Geteuid()), func(b *testing.B) {
		median(b, func() time.Duration {
			took, err := ready(b.Context(), dir, source)
			fine(b, err)
			return took
		})
	})
	if os.Geteuid() != 0 {
		return
	}
	b.Run("uid=54321", func(b *testing.B) { median(b, asUser(b, 54321, dir, source)) })
}

// asUser starts a process of another user that measures, and returns how to
// ask it.
func asUser(b *testing.B, uid int, dir, source string) func() time.Duration {
	own := filepath.Join(dir, "own")
	fine(b, os.Mkdir(own, 0o700), os.Chown(own, uid, uid))
	b.Cleanup(func() { os.RemoveAll(own) })
	fine(b, filepath.WalkDir(source, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, uid, uid)
	}))
	self, err := os.Open("/proc/self/exe")
	fine(b, err)
	defer self.Close()
	cmd := &exec.Cmd{Path: selfPath(), Args: []string{"room.test"}, Dir: "/", ExtraFiles: []*os.File{self}, Stderr: os.Stderr,
		Env:         []string{"ROOM_TEST_READY=" + own + ":" + source},
		SysProcAttr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}, Pdeathsig: syscall.SIGKILL}}
	in, err := cmd.StdinPipe()
	fine(b, err)
	out, err := cmd.StdoutPipe()
	fine(b, err)
	fine(b, cmd.Start())
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	return func() time.Duration {
		_, err := fmt.Fprintln(in)
		fine(b, err)
		line, err := lines.ReadString('\n')
		fine(b, err)
		var took int64
		var said string
		if _, err := fmt.Sscan(line, &took, &said); err != nil || said != "<nil>" {
			b.Fatal(line)
		}
		return time.Duration(took)
	}
}

// The figure is BenchmarkViewReady's. This holds that the view is complete, and
// that nothing of the work grows with the number of files but the survey.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	manyFiles(t, dir, 4000)
	r := open(t, Plan{Role: "cat", Workspace: &View{Source: dir, Withheld: policy.View(policy.Cat, nil), Absent: policy.Absent()}})
	m := r.Manifest()
	if i := slices.IndexFunc(m.Items, func(i Item) bool { return i.Mounted }); i < 0 || m.Items[i].Files != 4025 || len(m.LeftOut) != 126 {
		t.Fatalf("%+v, %d left out", m.Items, len(m.LeftOut))
	}
	if res := sh(t, r, `cd workspace; find . -type f | wc -l; find . -name .env -o -name '*.pem' -o -name linked`); res.out != "4000\n" {
		t.Errorf("%q %q", res.out, res.errs)
	}
}
