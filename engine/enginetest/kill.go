package enginetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"conclave/internal/sample"
)

// Program is what is to survive.
type Program struct {
	// Run runs the program in a workspace to its end, with crash as the
	// engine's CrashPoint. It is called in a process of its own, and again in
	// another one after each kill: it must start its interaction, or resume it
	// when it is open (Engine.Pending), or leave it when it has ended.
	Run func(ctx context.Context, dir string, crash func(label string)) error
	// Scopes are the engine scopes that Run opens. Their databases are made
	// beforehand.
	Scopes []string
	// Prepare fills the workspace; it may be nil.
	Prepare func(dir string) error
	// Check looks at a workspace in the end, after killed runs and the
	// undisturbed one alike; it may be nil.
	Check func(t *testing.T, dir string)
	// Normalise removes what differs between any two runs, such as times, from
	// a file before it is compared; nil compares bytes. Returning nil leaves
	// the file out. Files in .conclave are never compared.
	Normalise func(path string, data []byte) []byte
	// Few and Some are at how many points it is killed in make check and in
	// make test; 0 means at 4 and at 30. In make full it is at all of them.
	Few, Some int
	// Twice kills the resumed process too, at its first point.
	Twice bool
}

const (
	envDir  = "ENGINETEST_DIR"
	envKill = "ENGINETEST_KILL"
	envLog  = "ENGINETEST_LOG"
	envTest = "ENGINETEST_TEST"
)

// KillEverywhere kills p at every point. It returns the labels of the points.
func KillEverywhere(t *testing.T, p Program) []string {
	t.Helper()
	if os.Getenv(envTest) == t.Name() {
		child(t, p)
	}
	base := Workspace(t, p.Scopes...)
	if p.Prepare != nil {
		if err := p.Prepare(base); err != nil {
			t.Fatal(err)
		}
	}
	k := &killer{t: t, p: p, base: base}
	clean := k.copy("clean")
	run := k.exec(clean, 0)
	if run.err != nil {
		t.Fatalf("undisturbed run: %v\n%s", run.err, run.output)
	}
	if len(run.labels) == 0 {
		t.Fatal("undisturbed run: no crash point was met: is Options.CrashPoint set?")
	}
	if p.Check != nil {
		p.Check(t, clean)
	}
	k.want = k.tree(clean)
	k.all(len(run.labels))
	return run.labels
}

// child is the program's process.
func child(t *testing.T, p Program) {
	kill, err := strconv.Atoi(os.Getenv(envKill))
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(os.Getenv(envLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	met := 0
	err = p.Run(t.Context(), os.Getenv(envDir), func(label string) {
		mu.Lock()
		defer mu.Unlock()
		met++
		fmt.Fprintln(log, label)
		if met == kill {
			die()
		}
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "run: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// die ends this process as if the machine had taken it away.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

type killer struct {
	t    *testing.T
	p    Program
	base string
	want map[string][]byte
}

// all kills at every point, a process per processor at a time.
func (k *killer) all(points int) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, point := range sample.Pick(k.t, points, cmp.Or(k.p.Few, 3), cmp.Or(k.p.Some, 4)) {
		at := point + 1
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			k.one(at)
		}()
	}
	wg.Wait()
}

func (k *killer) one(at int) {
	dir := k.copy(fmt.Sprintf("kill%d", at))
	run := k.exec(dir, at)
	if len(run.labels) < at {
		// Parallel parts may meet fewer points when others end first.
		if run.err != nil {
			k.t.Errorf("kill %d: died at %d of its own: %v\n%s", at, len(run.labels), run.err, run.output)
		}
		return
	}
	where := fmt.Sprintf("killed at %d (%s)", at, run.labels[at-1])
	if !run.killed() {
		k.t.Errorf("%s: the process lived on: %v", where, run.err)
		return
	}
	if k.p.Twice {
		k.exec(dir, 1)
	}
	if run := k.exec(dir, 0); run.err != nil {
		k.t.Errorf("%s, resumed: %v\n%s", where, run.err, run.output)
		return
	}
	if k.p.Check != nil {
		k.t.Run(strings.ReplaceAll(where, "/", "_"), func(t *testing.T) { k.p.Check(t, dir) })
	}
	for _, diff := range differences(k.want, k.tree(dir)) {
		k.t.Errorf("%s: %s", where, diff)
	}
	os.RemoveAll(dir)
}

type execution struct {
	labels []string
	output string
	err    error
}

func (x execution) killed() bool {
	var exit *exec.ExitError
	return errors.As(x.err, &exit) && (exit.ExitCode() == -1 || runtime.GOOS == "windows" && exit.ExitCode() == 1)
}

// exec runs the test binary as the program, to be killed at a point.
func (k *killer) exec(dir string, kill int) execution {
	log := filepath.Join(k.t.TempDir(), "points")
	cmd := exec.CommandContext(k.t.Context(), os.Args[0], "-test.run="+pattern(k.t.Name()), "-test.count=1", "-test.timeout=2m")
	// A race detector that waits a second at the end of each process finds no
	// more in hundreds of them.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", envTest+"="+k.t.Name(), envDir+"="+dir, envKill+"="+strconv.Itoa(kill), envLog+"="+log)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	labels, _ := os.ReadFile(log)
	return execution{lines(labels), out.String(), err}
}

func lines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
