package room

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/agent"
)

func alive(pid int) bool {
	return syscall.Kill(pid, 0) == nil || errors.Is(syscall.Kill(pid, 0), syscall.EPERM)
}

// Nothing is inherited: environment, descriptors, terminal, rights, limits.
func TestNothingIsInherited(t *testing.T) {
	t.Setenv("ROOM_TEST_SECRET", "swordfish")
	leak, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	r := open(t, Plan{})
	res := run(t, r, agent.Command{Path: "/usr/bin/env", Env: []string{"A=1", "B=2"}})
	if got := strings.Fields(res.out); !slices.Equal(got, []string{"A=1", "B=2"}) {
		t.Errorf("environment %q", got)
	}
	res = sh(t, r, `cd /proc/$$; ls fd; tty; grep -E "^(Cap|NoNewPrivs|Seccomp:|Groups)" status; ulimit -c; umask; cut -d" " -f6-7 stat; echo $$; pwd -P`)
	for _, want := range []string{"0\n1\n2\n", "not a tty", "NoNewPrivs:\t1", "Seccomp:\t2", "CapInh:\t0000000000000000", "CapPrm:\t0000000000000000",
		"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000", "\n0\n0077\n"} {
		if !strings.Contains(res.out, want) {
			t.Errorf("no %q in\n%s%s", want, res.out, res.errs)
		}
	}
	lines := strings.Split(strings.TrimSpace(res.out), "\n")
	if stat := strings.Fields(lines[len(lines)-3]); len(stat) != 2 || stat[0] != lines[len(lines)-2] || stat[1] != "0" {
		t.Errorf("session and terminal %q of process %s", stat, lines[len(lines)-2])
	}
}

// What the program is told stands on no command line of a helper.
func TestOrdersAreNotOnCommandLines(t *testing.T) {
	r := open(t, Plan{Gateway: nil})
	p, err := r.Launch(t.Context(), agent.Command{Path: "/bin/sleep", Args: []string{"1003"}, Env: []string{"TOKEN=swordfish"}})
	if err != nil {
		t.Fatal(err)
	}
	defer stopNow(p)
	var seen int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		line := strings.ReplaceAll(string(b), "\x00", " ")
		if strings.Contains(line, "sleep 1003") {
			seen++
		}
		if strings.Contains(line, "swordfish") || strings.HasPrefix(line, helperName) && strings.Contains(line, "/") {
			t.Errorf("%s: %s", f, line)
		}
	}
	if seen == 0 {
		t.Error("did not find the program itself")
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID()))
	if err != nil || string(b) != "/bin/sleep\x001003\x00" {
		t.Errorf("process %d is %q (%v)", p.PID(), b, err)
	}
}

func TestExit(t *testing.T) {
	r := open(t, Plan{})
	for script, code := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 128 + 15} {
		res := sh(t, r, script)
		var exit *exec.ExitError
		if code == 0 && res.err != nil || code != 0 && (!errors.As(res.err, &exit) || exit.ExitCode() != code || !strings.HasPrefix(res.err.Error(), "bash: ")) {
			t.Errorf("%s: %v", script, res.err)
		}
	}
	_, err := r.Launch(t.Context(), agent.Command{Path: "/usr/bin/no-such-program"})
	if !strings.Contains(fmt.Sprint(err), "/usr/bin/no-such-program: no such file") || errors.Is(err, ErrLevel) {
		t.Error(err)
	}
	_, err = r.Launch(t.Context(), agent.Command{Path: "/bin/true", Dir: "/nowhere"})
	if !strings.Contains(fmt.Sprint(err), "working directory") {
		t.Error(err)
	}
	_, err = r.Launch(t.Context(), agent.Command{Path: "true"})
	if err == nil {
		t.Error("a relative path was started")
	}
	if _, err := r.Launch(t.Context(), agent.Command{Path: "/bin/true", Args: []string{"a\x00b"}}); err == nil {
		t.Error("an argument with a zero byte was started")
	}
}

// A program that ignores TERM and has scattered its children is gone after Stop.
func TestStopLeavesNothing(t *testing.T) {
	for _, level := range []Level{Sealed, Fenced, Advisory} {
		t.Run(string(level), func(t *testing.T) {
			r := open(t, Plan{Lower: level})
			// It says that it is up once the one that runs away has a child.
			p, err := r.Launch(t.Context(), shell(fmt.Sprintf(`trap "" TERM HUP INT; sleep %s & (setsid sh -c 'trap "" TERM; sleep %s & echo up; wait' </dev/null &); while :; do wait; done`,
				nap(1005), nap(1004))))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Stdout().Read(make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			now, cancel := context.WithCancel(t.Context())
			cancel()
			if err := p.Stop(now); err != nil {
				t.Error(err)
			}
			if alive(p.PID()) {
				t.Errorf("%d is alive", p.PID())
			}
			if left := processesWith(nap(1004), nap(1005)); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// nap is a time to sleep that no other run of these tests sleeps.
func nap(seconds int) string { return fmt.Sprintf("%d.%d", seconds, os.Getpid()) }

// processesWith finds sleepers by what they sleep.
func processesWith(args ...string) []string {
	var left []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		b, _ := os.ReadFile(f)
		for _, a := range args {
			if string(b) == "sleep\x00"+a+"\x00" {
				left = append(left, f)
			}
		}
	}
	return left
}

// TERM reaches the program itself, and its answer comes out.
func TestStopIsALadder(t *testing.T) {
	t.Parallel() // it waits as long as the ladder does
	r := open(t, Plan{})
	p, err := r.Launch(t.Context(), shell(`trap "echo bye; exit 3" TERM; echo up; while :; do read x || sleep 0.05; done`))
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(p.Stdout())
	if line, err := out.ReadString('\n'); line != "up\n" {
		t.Fatal(line, err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(out)
	if string(rest) != "bye\n" {
		t.Errorf("said %q (%v)", rest, p.Err())
	}
}

func TestWallLimit(t *testing.T) {
	r := open(t, Plan{Limits: Limits{Wall: 300 * time.Millisecond}})
	res := sh(t, r, "sleep 1006")
	if !strings.Contains(fmt.Sprint(res.err), "longer than its room allows") {
		t.Error(res.err)
	}
}

func TestLimits(t *testing.T) {
	r := open(t, Plan{Limits: Limits{FileSize: 1 << 20, Processes: 64, OpenFiles: 32, Memory: 256 << 20}})
	res := sh(t, r, `ulimit -n; ulimit -u; ulimit -d; trap "" XFSZ; head -c 3000000 /dev/zero >/room/tmp/big; stat -c %s /room/tmp/big`)
	if got := strings.Fields(res.out); !slices.Equal(got, []string{"32", "64", "262144", "1048576"}) {
		t.Errorf("%q %s", got, res.errs)
	}
}

// W13: what no single process or file is over, all of them together are. And
// nobody reserves what is not written.
func TestLimitsOfTheWhole(t *testing.T) {
	for name, c := range map[string]struct {
		limits       Limits
		script, want string
	}{
		"many files":    {Limits{Disk: 8 << 20}, `for i in $(seq 20); do head -c 1000000 /dev/zero >f$i; done; sync -f .; sleep 1011`, "wrote more than its room allows"},
		"deleted files": {Limits{Disk: 8 << 20}, `exec 4>gone; rm gone; head -c 20000000 /dev/zero >&4; sync -f .; sleep 1012`, "wrote more than its room allows"},
		"many processes": {Limits{Memory: 400 << 20}, `for i in 1 2 3 4; do (head -c 180000000 /dev/zero | tail | sleep 1013) & done; wait`,
			"used more memory than its room allows"},
	} {
		for _, level := range []Level{Sealed, Fenced} {
			t.Run(name+", "+string(level), func(t *testing.T) {
				if res := sh(t, open(t, Plan{Lower: level, Limits: c.limits}), c.script); !strings.Contains(fmt.Sprint(res.err), c.want) {
					t.Errorf("%v %q", res.err, res.errs)
				}
			})
		}
	}
	res := sh(t, open(t, Plan{}), `fallocate -l 2G big || fallocate -l 12M big; du -k big | cut -f1; ulimit -v; ulimit -d; ulimit -u; ulimit -n; ulimit -f`)
	if got := strings.Join(strings.Fields(res.out), " "); got != "0 unlimited 4194304 1024 8192 1048576" {
		t.Errorf("%q %q", got, res.errs)
	}
}

func TestClose(t *testing.T) {
	dir := base(t)
	r, err := Open(t.Context(), Plan{Base: dir})
	if err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(filepath.Dir(r.Place().Host))
	if err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
	p, err := r.Launch(t.Context(), shell(`mkdir -p /room/work/a/b; touch /room/work/a/b/c; chmod 000 /room/work/a/b /room/work/a; sleep 1007`))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if alive(p.PID()) {
		t.Error("the program outlived its room")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Launch(t.Context(), shell("true")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// Names of rooms cannot be guessed, and users other than the owner cannot
// list them.
func TestBase(t *testing.T) {
	dir := filepath.Join(base(t), "rooms")
	t.Cleanup(func() { os.Remove(dir) })
	names := map[string]bool{}
	for range 5 {
		r := open(t, Plan{Base: dir})
		name := filepath.Base(filepath.Dir(r.Place().Host))
		if len(name) < 26 || names[name] {
			t.Errorf("name %q", name)
		}
		names[name] = true
	}
	fi, err := os.Stat(dir)
	if err != nil || fi.Mode().Perm()&0o066 != 0 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
}

func TestCancelledStart(t *testing.T) {
	r := open(t, Plan{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Launch(ctx, shell("true")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Several programs may live in one room at a time.
func TestManyAtOnce(t *testing.T) {
	r := open(t, Plan{})
	errs := make(chan error, 4)
	for i := range cap(errs) {
		go func() {
			p, err := r.Launch(t.Context(), shell(fmt.Sprintf("echo %d > /room/outbox/%d", i, i)))
			if err == nil {
				<-p.Done()
				err = errors.Join(p.Err(), p.Stop(context.Background()))
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	files, left, err := r.TakeOutbox()
	if err != nil || len(files) != cap(errs) || len(left) > 0 {
		t.Errorf("%v %v %v", files, left, err)
	}
}
