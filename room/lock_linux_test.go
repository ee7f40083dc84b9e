package room

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"conclave/agent"
	"conclave/internal/sample"
)

// refusesToStart launches a program in a weakened room, which must not run.
func refusesToStart(t *testing.T, p Plan) error {
	t.Helper()
	r := open(t, p)
	proc, err := r.Launch(t.Context(), shell("touch /room/outbox/ran $HOME/ran"))
	if err == nil {
		finish(t, proc)
		t.Fatal("the program was started")
	}
	if !errors.Is(err, ErrLevel) {
		t.Errorf("%v is not ErrLevel", err)
	}
	if e := r.Enforcement(); e.Level != "" || len(e.Probes) > 0 {
		t.Errorf("claims %+v", e)
	}
	if _, err := os.Stat(r.Place().OnHost(agent.OutboxDir, "ran")); err == nil {
		t.Error("the program ran")
	}
	return err
}

func TestSealedIsShown(t *testing.T) {
	r := open(t, Plan{Role: "dragon"})
	if e := r.Enforcement(); e.Level != "" {
		t.Fatalf("claims %q before anything was shown", e.Level)
	}
	res := sh(t, r, "echo hello")
	if res.out != "hello\n" || res.err != nil {
		t.Fatalf("%+v", res)
	}
	e := r.Enforcement()
	if e.Level != Sealed || e.Lowered() || len(e.Gaps) > 0 {
		t.Errorf("%+v", e)
	}
	if want := len(needed(allAttempts(), Sealed)); len(e.Probes) != want || want < 30 {
		t.Errorf("%d probes of %d", len(e.Probes), want)
	}
	for _, p := range e.Probes {
		if !p.Holds() {
			t.Errorf("%+v does not hold", p)
		}
	}
	if e.UID == 0 || os.Geteuid() == 0 && e.UID < firstUID {
		t.Errorf("user %d", e.UID)
	}
}

func TestFencedSaysItsGaps(t *testing.T) {
	r := open(t, Plan{Role: "owl", Lower: Fenced})
	res := sh(t, r, "cat "+filepath.Join(r.work.outside(), "*")+"; echo hello >$PWD/../outbox/x && cat $PWD/../outbox/x")
	if res.out != "hello\n" {
		t.Fatalf("%+v", res)
	}
	e := r.Enforcement()
	if e.Level != Fenced || !e.Lowered() || e.Required != Sealed {
		t.Errorf("%+v", e)
	}
	if len(e.Gaps) == 0 {
		t.Error("a fenced room has gaps, and claims none")
	}
}

// Each restriction is taken away in turn. The room must notice by itself.
func TestWithoutOneRestriction(t *testing.T) {
	flags := map[string]uintptr{"user": unix.CLONE_NEWUSER, "mount": unix.CLONE_NEWNS, "pid": unix.CLONE_NEWPID, "ipc": unix.CLONE_NEWIPC,
		"net": unix.CLONE_NEWNET, "uts": unix.CLONE_NEWUTS, "cgroup": unix.CLONE_NEWCGROUP, "all": newSpaces}
	if len(flags) != len(spaces)+1 {
		t.Fatalf("%d namespaces are tried of %d", len(flags)-1, len(spaces))
	}
	for name, flag := range flags {
		t.Run("namespace "+name, func(t *testing.T) {
			t.Log(refusesToStart(t, Plan{Role: "dragon", test: hooks{dropFlags: flag}}))
		})
	}
	for mark, want := range map[string]string{
		"landlock": "read a file that is not granted: is possible",
		"seccomp":  "trace a process: is possible",
		"mount":    "see a file outside: is possible",
	} {
		t.Run(mark, func(t *testing.T) {
			err := refusesToStart(t, Plan{Role: "dragon", test: hooks{mark: mark}})
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %q", err, want)
			}
		})
	}
	for mark, want := range map[string]string{
		"landlock": "read a file outside: is possible",
		"seccomp":  "exchange UDP datagrams outside: is possible",
		"reaper":   "leave its family: is possible",
	} {
		t.Run("fenced "+mark, func(t *testing.T) { // and nothing else to lean on
			err := refusesToStart(t, Plan{Role: "dragon", Lower: Fenced, test: hooks{mark: mark, dropFlags: newSpaces}})
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %q", err, want)
			}
		})
	}
}

// Every probe is needed: without it, without its control, or with the thing
// let through, nobody starts.
func TestWithoutOneProbe(t *testing.T) {
	list := allAttempts()
	if len(list) == 0 {
		t.Fatal("no probes")
	}
	marks := []string{"probe", "control", "succeed"}
	for _, i := range sample.Pick(t, len(list)*len(marks), len(list)/4, len(list)/2) {
		a, mark := list[i/len(marks)], marks[i%len(marks)]
		t.Run(mark+" "+a.name, func(t *testing.T) {
			p := Plan{test: hooks{mark: mark + ":" + a.name}}
			if a.sealed == none {
				p.Lower = Fenced
			}
			r := open(t, p)
			err := r.Check(t.Context())
			if !errors.Is(err, ErrLevel) || !strings.Contains(err.Error(), "1 probes do not show it: "+a.name) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("witness is not asked", func(t *testing.T) {
		refusesToStart(t, Plan{test: hooks{skipWitness: "read a file outside"}})
	})
}

func TestClaim(t *testing.T) {
	list := []wanted{{"a", byWitness, true}, {"b", bySelf, true}, {"c", byWitness, false}}
	control := func(a, b, c string) map[string]outcomes {
		return map[string]outcomes{byWitness: {"a": a, "c": c}, bySelf: {"b": b}}
	}
	for _, c := range []struct {
		name    string
		control map[string]outcomes
		after   outcomes
		gaps    int
		ok      bool
	}{
		{"all hold", control("ok", "ok", "ok"), outcomes{"a": "no", "b": "no", "c": "no"}, 0, true},
		{"an allowed gap", control("ok", "ok", "ok"), outcomes{"a": "no", "b": "no", "c": "ok"}, 1, true},
		{"an optional control fails", control("ok", "ok", "no"), outcomes{"a": "no", "b": "no", "c": "no"}, 0, true},
		{"a control fails", control("no", "ok", "ok"), outcomes{"a": "no", "b": "no", "c": "no"}, 0, false},
		{"a control is missing", control("", "ok", "ok"), outcomes{"a": "no", "b": "no", "c": "no"}, 0, false},
		{"an attempt is missing", control("ok", "ok", "ok"), outcomes{"b": "no", "c": "no"}, 0, false},
		{"an optional one is missing", control("ok", "ok", "ok"), outcomes{"a": "no", "b": "no"}, 0, false},
		{"an attempt succeeds", control("ok", "ok", "ok"), outcomes{"a": "no", "b": "ok", "c": "no"}, 0, false},
		{"one that nobody asked for", control("ok", "ok", "ok"), outcomes{"a": "no", "b": "no", "c": "no", "d": "no"}, 0, false},
		{"controls by the wrong one", map[string]outcomes{byWitness: {"a": "ok", "b": "ok", "c": "ok"}}, outcomes{"a": "no", "b": "no", "c": "no"}, 0, false},
		{"nothing", nil, nil, 0, false},
	} {
		probes, gaps, err := claim(list, c.control, c.after)
		if (err == nil) != c.ok || len(gaps) != c.gaps {
			t.Errorf("%s: %v %v", c.name, gaps, err)
		}
		for _, p := range probes {
			if !p.Holds() {
				t.Errorf("%s: %+v is reported and does not hold", c.name, p)
			}
		}
	}
	if _, _, err := claim(nil, nil, nil); err == nil {
		t.Error("no probes show a level")
	}
}

func TestUnknownLevel(t *testing.T) {
	for _, p := range []Plan{{Level: "locked"}, {Lower: "SEALED"}, {Level: Advisory, Lower: Sealed}} {
		if _, err := Open(t.Context(), p); err == nil {
			t.Errorf("opened %+v", p)
		}
	}
}

func TestLevelErrorSaysWhatToDo(t *testing.T) {
	err := fmt.Errorf("start: %w", &levelError{Sealed, "dragon", unix.EPERM, hintFor(Sealed)})
	if !errors.Is(err, ErrLevel) || !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "user namespaces") {
		t.Error(err)
	}
}
