package room

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/sample"
)

// weakenedHelper runs a helper from which the restriction named by its third
// argument was taken. The real program has no such way: Init ignores it.
func weakenedHelper() {
	if len(os.Args) != 3 || os.Args[0] != helperName || os.Args[1] == partInit || os.Args[1] == partDecoy {
		return
	}
	s := realSteps()
	what, arg, _ := strings.Cut(os.Args[2], ":")
	switch what {
	case "landlock":
		s.landlock = func(rules) (int, error) { return landlockABI(), nil }
	case "seccomp":
		s.seccomp = func(Level) error { return nil }
	case "mount":
		s.mount = func(o builderOrders) error { return becomeRoomUser(o) }
		s.landlock = func(r rules) (int, error) {
			r.Write = nil // the room is not there
			return restrictLandlock(r)
		}
	case "reaper":
		s.adopt = func() error { return nil }
	case "probe":
		s.attempts = slices.DeleteFunc(s.attempts, func(a attempt) bool { return a.name == arg })
	case "control": // the thing is not possible in the first place
		for i := range s.attempts {
			if s.attempts[i].name == arg && (os.Args[1] == partWitness) == (s.attempts[i].where == byWitness) {
				s.attempts[i].do = func(*terrain) error { return errors.New("out of order") }
			}
		}
	case "succeed": // the room lets it through
		for i := range s.attempts {
			if s.attempts[i].name == arg {
				s.attempts[i].do = func(*terrain) error { return nil }
			}
		}
	default:
		panic("no such weakness: " + os.Args[2])
	}
	runHelper(os.Args[1], s)
}

// before runs the parts of this test binary that are programs of their own.
func before() {
	if dir := os.Getenv("ROOM_TEST_VICTIM"); dir != "" {
		victim(dir)
	}
	if dirs := os.Getenv("ROOM_TEST_READY"); dirs != "" {
		readyOnDemand(dirs)
	}
}

// victim opens a room, starts a program that runs away from its group, and
// waits to be killed.
func victim(dir string) {
	fail := func(err error) {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	r, err := Open(context.Background(), fencedKinds("victim", dir)[os.Getenv("ROOM_TEST_KIND")])
	if err != nil {
		fail(err)
	}
	pause := os.Getenv("ROOM_TEST_NAP")
	p, err := r.Launch(context.Background(), shell(runaways(pause)+"; exec sleep "+pause))
	if err != nil {
		fail(err)
	}
	b := make([]byte, 16)
	if _, err := p.Stdout().Read(b); err != nil {
		fail(err)
	}
	fmt.Println("ready", p.PID(), filepath.Dir(r.Place().Host))
	select {}
}

// someTests names some of this package's tests.
func someTests(t *testing.T) (names []string) {
	t.Helper()
	list, err := exec.Command(os.Args[0], "-test.list=^Test").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(list))
	for _, i := range sample.Pick(t, len(all), 8, len(all)/4) {
		names = append(names, all[i])
	}
	return names
}

// TestAsOrdinaryUser runs this package's tests a second time in the name of a
// user without any right, when they run as root: most of what a room has to
// hold back does not show under root.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("this run is one of an ordinary user")
		return
	}
	t.Parallel() // beside the other one that mostly waits
	const uid = 54321
	home := base(t)
	for _, d := range []string{"home", "tmp"} {
		p := filepath.Join(home, d)
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(p, uid, uid); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(p) })
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	args := []string{"room.test", "-test.v", "-test.short", "-test.run=^(" + strings.Join(someTests(t), "|") + ")$"}
	cmd := &exec.Cmd{Path: selfPath(), Args: args, Dir: filepath.Join(home, "home"), ExtraFiles: []*os.File{self},
		Env:         []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(home, "home"), "TMPDIR=" + filepath.Join(home, "tmp")},
		SysProcAttr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as an ordinary user: %v\n%s", err, out)
	}
	passed := strings.Count(string(out), "\n--- PASS: ")
	if passed < sample.Count(4, 6, 10) || strings.Contains(string(out), "--- SKIP") {
		t.Fatalf("as an ordinary user %d tests passed:\n%s", passed, out)
	}
	t.Logf("as an ordinary user %d tests passed", passed)
}
