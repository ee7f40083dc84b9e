//go:build unix

package profile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"conclave/internal/sample"
)

const crashVariable = "CONCLAVE_PROFILE_CRASH"

// TestMain runs the victim of the crash tests when it is asked to: this very
// program in a process of its own, which installs and is killed on the way.
func TestMain(m *testing.M) {
	if order := os.Getenv(crashVariable); order != "" {
		os.Exit(victim(order))
	}
	sample.Tests(12)
	os.Exit(m.Run())
}

// crashOrder says what the victim does, where, and at which step it dies; step 0
// means that it says "ready" and is killed from outside.
type crashOrder struct {
	Dir, Do string
	Step    int
}

func victim(text string) int {
	var order crashOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		fmt.Println(err)
		return 2
	}
	steps := 0
	p := Project{Dir: order.Dir, noSync: true, step: func(string) {
		if steps++; steps == order.Step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
	}}
	var err error
	fmt.Println("ready")
	switch order.Do {
	case "install":
		_, err = p.Install(smallPack("new"), nil, true)
	case "undo":
		_, err = p.Undo(true)
	case "recover":
		err = p.Recover()
	}
	if err != nil {
		fmt.Println(err)
		return 2
	}
	fmt.Println(steps)
	return 0
}

// smallPack is a pack of few words, in two editions: these tests install hundreds.
func smallPack(edition string) *Pack {
	f := &files{name: "deep-sea", where: "deep-sea", inside: "/", data: map[string][]byte{}}
	for name, text := range goodPack() {
		f.data[name] = []byte(text + "\nThe " + edition + " one.\n")
	}
	return newPack(f, FromPath)
}

// crash runs the victim. It reports whether it was killed, and what it said.
func crash(t *testing.T, order crashOrder, delay func()) (killed bool, last string) {
	t.Helper()
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashVariable+"="+string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	if delay != nil {
		delay()
		_ = cmd.Process.Kill()
	}
	for lines.Scan() {
		last = lines.Text()
	}
	_ = cmd.Wait()
	state := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if state.Exited() && state.ExitStatus() != 0 {
		t.Fatalf("the victim ended by itself: %s", last)
	}
	return state.Signaled() && state.Signal() == syscall.SIGKILL, last
}

// scene is a project before a change, and what it may look like after.
type scene struct {
	name     string
	make     func(t *testing.T, p Project)
	do       string
	before   string // a directory to copy
	steps    int    // operations on files in the whole change
	old, new map[string]string
}

// project makes a copy of the scene.
func (s *scene) project(t *testing.T) Project {
	t.Helper()
	p := Project{Dir: t.TempDir(), noSync: true}
	if err := os.CopyFS(p.Dir, os.DirFS(s.before)); err != nil {
		t.Fatal(err)
	}
	return p
}

func scenes(t *testing.T) []*scene {
	foreign := func(t *testing.T, p Project) {
		write(t, p, "simon.md", "mine")
		write(t, p, "drafts/x.txt", "mine too")
	}
	install := func(t *testing.T, p Project, name string) {
		if _, err := p.Install(smallPack(name), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	all := []*scene{
		{name: "fresh", make: func(*testing.T, Project) {}, do: "install"},
		{name: "over an edited set", do: "install", make: func(t *testing.T, p Project) {
			foreign(t, p)
			install(t, p, "old")
			write(t, p, "cat.md", "edited")
		}},
		{name: "undo", do: "undo", make: func(t *testing.T, p Project) {
			foreign(t, p)
			install(t, p, "new")
		}},
	}
	for _, s := range all {
		s.before = t.TempDir()
		s.make(t, Project{Dir: s.before, noSync: true})
		p := s.project(t)
		s.old = live(t, p)
		killed, said := crash(t, crashOrder{Dir: p.Dir, Do: s.do}, nil)
		s.new = live(t, p)
		s.steps, _ = strconv.Atoi(said)
		if killed || s.steps < 10 || maps.Equal(s.old, s.new) {
			t.Fatalf("%s: killed %v, %d steps, nothing changed: %v", s.name, killed, s.steps, maps.Equal(s.old, s.new))
		}
	}
	return all
}

// check holds a killed project to the promise, before and after recovery.
func (s *scene) check(t *testing.T, p Project, when string) {
	t.Helper()
	now := live(t, p)
	if !maps.Equal(now, s.old) && !maps.Equal(now, s.new) {
		t.Errorf("%s, killed %s: neither the old set nor the new one: %v", s.name, when, now)
	}
	if err := p.Recover(); err != nil {
		t.Fatalf("%s, killed %s: %v", s.name, when, err)
	}
	recovered := live(t, p)
	if !maps.Equal(recovered, now) {
		t.Errorf("%s, killed %s: recovery changed the set", s.name, when)
	}
	s.checkState(t, p, when, maps.Equal(recovered, s.new))
	if left, _ := filepath.Glob(filepath.Join(p.private(), "staged-*")); len(left) > 0 || exists(p.journalPath()) {
		t.Errorf("%s, killed %s: left behind %v", s.name, when, left)
	}
}

// checkState: the state on disk is that of the set that is live.
func (s *scene) checkState(t *testing.T, p Project, when string, isNew bool) {
	t.Helper()
	want := statusInstalled
	if !isNew {
		want = map[string]Status{"fresh": statusNone, "over an edited set": statusEdited, "undo": statusInstalled}[s.name]
	} else if s.do == "undo" {
		want = statusNone
	}
	if got := status(t, p, "cat"); got != want {
		t.Errorf("%s, killed %s: the cat is %s, want %s", s.name, when, got, want)
	}
	// The change can be made again, and taken back.
	if !isNew {
		err := s.again(p)
		if err != nil || !maps.Equal(live(t, p), s.new) {
			t.Errorf("%s, killed %s: the second try did not make the new set: %v", s.name, when, err)
		}
	}
	if s.do == "install" {
		if _, err := p.Undo(false); err != nil || len(s.old) > 0 && !maps.Equal(live(t, p), s.old) {
			t.Errorf("%s, killed %s: undo: %v", s.name, when, err)
		}
	}
}

func (s *scene) again(p Project) error {
	if s.do == "undo" {
		_, err := p.Undo(true)
		return err
	}
	_, err := p.Install(smallPack("new"), nil, true)
	return err
}

// TestKilled: killing the program at any moment of an installation leaves either
// the old set or the new one.
func TestKilled(t *testing.T) {
	all := scenes(t)
	for _, s := range all {
		t.Run("at every step/"+s.name, func(t *testing.T) {
			t.Parallel()
			s.killAtEveryStep(t)
		})
		t.Run("at random/"+s.name, func(t *testing.T) {
			t.Parallel()
			s.killAtRandom(t)
		})
	}
	t.Run("during recovery", func(t *testing.T) {
		t.Parallel()
		all[1].killDuringRecovery(t)
	})
}

// killAtEveryStep kills after each operation on a file.
func (s *scene) killAtEveryStep(t *testing.T) {
	for _, at := range sample.Pick(t, s.steps, 3, s.steps/3) {
		step := at + 1
		p := s.project(t)
		if killed, _ := crash(t, crashOrder{Dir: p.Dir, Do: s.do, Step: step}, nil); !killed {
			t.Fatalf("not killed at step %d of %d", step, s.steps)
		}
		s.check(t, p, "at step "+strconv.Itoa(step))
	}
}

// killDuringRecovery kills the recovery itself, at every step of it, from every
// state that a kill after the journal leaves.
func (s *scene) killDuringRecovery(t *testing.T) {
	killed, least := 0, sample.Count(1, 5, 5)
	for first := s.steps; !testing.Short() || killed == 0; first-- {
		p := s.project(t)
		crash(t, crashOrder{Dir: p.Dir, Do: s.do, Step: first}, nil)
		if !exists(p.journalPath()) {
			if killed > 0 {
				break // before the journal there is nothing to recover
			}
			continue
		}
		for second := 1; ; second++ {
			if dead, _ := crash(t, crashOrder{Dir: p.Dir, Do: "recover", Step: second}, nil); !dead {
				break
			}
			killed++
		}
		s.check(t, p, "at step "+strconv.Itoa(first)+" and in recovery")
	}
	if killed < least {
		t.Errorf("only %d recoveries were killed", killed)
	}
	t.Logf("killed %d recoveries", killed)
}

// killAtRandom kills from outside, at moments nobody chose.
func (s *scene) killAtRandom(t *testing.T) {
	for range sample.Count(1, 4, 500) {
		p := s.project(t)
		wait := time.Duration(rand.IntN(15000)) * time.Microsecond
		crash(t, crashOrder{Dir: p.Dir, Do: s.do}, func() { <-time.After(wait) })
		s.check(t, p, "after "+wait.String())
	}
}
