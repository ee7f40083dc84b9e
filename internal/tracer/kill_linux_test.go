package tracer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"conclave/internal/program"
	"conclave/internal/sample"
)

// few and some are at how many writes of a scenario the program is killed in
// make check and in make test. In make matrix it is at all of them.
const few, some = 1, 5

// The program is killed after every single write of a session, and goes on: the
// story, the files, every question and every answer, the dice and the journals
// are what they are when nobody kills it.
func TestKillAfterEveryWrite(t *testing.T) {
	program := build(t)
	for _, i := range sample.Pick(t, len(scenarios), 1, len(scenarios)) {
		s := scenarios[i]
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) { killEverywhere(t, program, s) })
	}
}

// build makes the program: the one that people run.
func build(t *testing.T) string {
	t.Helper()
	built, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// inMemory is a directory for places: they are made by the thousand.
func inMemory(t *testing.T) string {
	t.Helper()
	const shm = "/dev/shm"
	parent := ""
	var st syscall.Statfs_t
	if err := syscall.Statfs(shm, &st); err == nil && st.Bavail*uint64(st.Bsize) > 1<<30 {
		parent = shm
	}
	dir, err := os.MkdirTemp(parent, "tracer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func killEverywhere(t *testing.T, program string, s scenario) {
	dir := inMemory(t)
	base := newPlace(t, program, filepath.Join(dir, "base"), s)
	k := &killer{t: t, scenario: s, dir: dir, base: base}
	whole := k.session(0)
	if whole.err != nil || len(whole.bad) > 0 {
		t.Fatalf("undisturbed: %v\n%s\n%s", whole.err, strings.Join(whole.bad, "\n"), whole.told)
	}
	k.want = whole.account
	if len(whole.changes) < 100 {
		t.Fatalf("only %d writes were seen: is the tracer blind?", len(whole.changes))
	}
	var wg sync.WaitGroup
	var survived, tried atomic.Int64
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, i := range chosen(t, len(whole.changes)) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			tried.Add(1)
			if k.kill(i + 1) {
				survived.Add(1)
			}
		})
	}
	wg.Wait()
	t.Logf("%s: killed after %d of %d writes, %d went on as if nothing had been", s.name, tried.Load(), len(whole.changes), survived.Load())
}

// chosen are the writes after which it is killed. CONCLAVE_KILL_AT=3-70 or =597
// repeats some of them, for whoever looks for a cause.
func chosen(t *testing.T, writes int) []int {
	t.Helper()
	at := os.Getenv("CONCLAVE_KILL_AT")
	if at == "" {
		return sample.Pick(t, writes, few, some)
	}
	var from, to int
	if n, _ := fmt.Sscanf(at, "%d-%d", &from, &to); n == 1 {
		to = from
	}
	if from < 1 || to < from {
		t.Fatalf("CONCLAVE_KILL_AT=%s: want the number of a write, or the first and the last", at)
	}
	var list []int
	for i := from; i <= min(to, writes); i++ {
		list = append(list, i-1)
	}
	return list
}

// killer kills one scenario's sessions.
type killer struct {
	t *testing.T
	scenario
	dir  string
	base place
	want account
}

// result is what a session came to.
type result struct {
	changes  []change // up to the death
	commands []string
	dead     *standing // as it was at the death
	account  account
	bad      []string
	told     string // what was printed
	err      error
}

// kill lets the program die after its n-th write, and says whether that did no
// harm.
func (k *killer) kill(n int) bool {
	r := k.session(n)
	if r.err == nil && r.dead == nil {
		return len(r.bad) == 0 // others were quicker this time, and there were fewer writes
	}
	bad := r.bad
	if r.err != nil {
		bad = append(bad, r.err.Error())
	} else {
		bad = append(bad, k.want.differences(r.account)...)
	}
	if len(bad) == 0 {
		return true
	}
	where := "?"
	if len(r.changes) > 0 {
		where = r.changes[len(r.changes)-1].String()
	}
	k.t.Errorf("killed after write %d (%s), in %q:\n%s\n%s", n, where, r.commands, strings.Join(bad, "\n"), lastLines(r.told, 20))
	return false
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// most is how many commands a session needs at most, whoever dies in it.
const most = 16

// session plays the scenario in a place of its own. The program is killed after
// the n-th write of all its commands; 0 lets it live.
func (k *killer) session(n int) (r result) {
	dir := filepath.Join(k.dir, fmt.Sprintf("at-%d", n))
	p, err := k.base.copyTo(dir)
	defer os.RemoveAll(dir)
	if err == nil {
		err = k.play(p, n, &r)
	}
	if r.told = p.printed(); err != nil {
		r.err = err
		return r
	}
	now, err := p.look(k.t.Context())
	if err != nil {
		r.err = err
		return r
	}
	r.bad = append(r.bad, p.proofs(now)...)
	if r.dead != nil {
		r.bad = append(r.bad, kept(*r.dead, now)...)
	}
	if got, err := live(p.command([]string{"table", "audit", campaign})); err != nil || got.code != 0 {
		r.bad = append(r.bad, fmt.Sprintf("table audit: exit %d, %v", got.code, err))
		r.told = p.printed()
	}
	r.account, r.err = p.account(now)
	return r
}

// play lets the people type until they are through.
func (k *killer) play(p place, n int, r *result) error {
	said := map[string]bool{}
	for range most {
		now, err := p.look(k.t.Context())
		if err != nil {
			return fmt.Errorf("look at the table: %w", err)
		}
		args, err := k.next(p, now)
		if err != nil || args == nil {
			return err
		}
		line := strings.Join(args, " ")
		r.commands = append(r.commands, line)
		if said[line] {
			r.bad = append(r.bad, fmt.Sprintf("what was kept had to be said again: %s", line))
		}
		var got ending
		if r.dead != nil {
			got, err = live(p.command(args))
		} else {
			got, err = trace(p.command(args), p.workspace(), max(n-len(r.changes), 0))
		}
		if err != nil {
			return fmt.Errorf("conclave %s: %w", line, err)
		}
		if r.dead == nil {
			r.changes = append(r.changes, got.changes...)
		}
		switch {
		case got.killed:
			dead, err := p.look(k.t.Context())
			if err != nil {
				return fmt.Errorf("look at the dead table: %w", err)
			}
			r.dead = &dead
		case got.code != 0 && !(k.waits && got.code == 3):
			return fmt.Errorf("conclave %s: exit %d", line, got.code)
		case args[1] == "say" && len(now.Open) > 0:
			said[line] = true // it was kept
		}
	}
	return errors.New("they do not come to an end")
}
