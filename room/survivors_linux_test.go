package room

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// fencedKinds are the two ways to keep a fenced room: with namespaces, and
// where the system gives none.
func fencedKinds(role, dir string) map[string]Plan {
	return map[string]Plan{
		"sealed":                {Role: role, Base: dir},
		"fenced":                {Role: role, Base: dir, Lower: Fenced},
		"fenced, no namespaces": {Role: role, Base: dir, Lower: Fenced, test: hooks{dropFlags: newSpaces}},
	}
}

// runaways leaves processes behind by every way out of group, session,
// environment and descent, and says when they are there (W10).
func runaways(sleep string) string {
	return fmt.Sprintf(`one='echo up >>there; exec sleep %[1]s'; rm -f there; : >there
(setsid env -i bash -c "$one" </dev/null >/dev/null 2>&1 &)
setsid -f env -i bash -c "$one" </dev/null >/dev/null 2>&1
(trap "" TERM HUP INT; nohup setsid env -i bash -c "trap '' TERM; $one" </dev/null >/dev/null 2>&1 &)
until [ $(wc -l <there) = 3 ]; do sleep 0.01; done; echo up`, sleep)
}

// W10: what runs away is gone when the room is, by whatever way that ends.
func TestNobodyOutlivesTheRoom(t *testing.T) {
	dir := base(t)
	i := 0
	for name, plan := range fencedKinds("owl", dir) {
		i++
		pause := nap(1100 + i)
		t.Run(name+": close", func(t *testing.T) {
			r := open(t, plan)
			p, err := r.Launch(t.Context(), shell(runaways(pause)+"; exec sleep "+pause))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Stdout().Read(make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			if got := len(processesWith(pause)); got < 3 {
				t.Fatalf("%d ran away: it shows nothing", got)
			}
			if without := r.Enforcement().Without; (without != "") != (plan.test.dropFlags != 0) {
				t.Errorf("without %q", without)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if left := processesWith(pause); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
		t.Run(name+": the program ends", func(t *testing.T) {
			if res := sh(t, open(t, plan), runaways(pause)); !strings.Contains(res.out, "up") {
				t.Errorf("%q %q %v", res.out, res.errs, res.err)
			}
			if left := processesWith(pause); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
		t.Run(name+": interrupted", func(t *testing.T) {
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			r := open(t, plan)
			go func() {
				ended <- r.Run(ctx, shell(runaways(pause)+"; exec sleep "+pause), Stdio{Out: out})
				out.Close()
			}()
			if _, err := in.Read(make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			cancel()
			<-ended
			if left := processesWith(pause); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// W10: and when the process that opened it is killed.
func TestNobodyOutlivesAKilledOwner(t *testing.T) {
	i := 0
	for name := range fencedKinds("", "") {
		i++
		pause := nap(1200 + i)
		t.Run(name, func(t *testing.T) {
			dir := base(t)
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), "ROOM_TEST_VICTIM="+dir, "ROOM_TEST_KIND="+name, "ROOM_TEST_NAP="+pause)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			f := strings.Fields(line)
			if len(f) != 3 || f[0] != "ready" {
				t.Fatalf("%q %v", line, err)
			}
			if got := len(processesWith(pause)); got < 3 {
				t.Errorf("%d ran away: it shows nothing", got)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			pid, _ := strconv.Atoi(f[1])
			eventually(t, "the program dies", func() bool { return !alive(pid) })
			eventually(t, "what ran away dies", func() bool { return len(processesWith(pause)) == 0 })
			if _, err := os.Stat(f[2]); err != nil {
				t.Fatalf("the dead room should still be there: %v", err)
			}
			living := open(t, Plan{Base: dir})
			if _, err := os.Stat(f[2]); err == nil {
				t.Error("the dead room was not swept up")
			}
			open(t, Plan{Base: dir})
			if _, err := os.Stat(living.Place().Host); err != nil {
				t.Errorf("a living room was swept up: %v", err)
			}
		})
	}
}
