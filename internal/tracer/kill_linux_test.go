package tracer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/program"
	"conclave/internal/sample"
)

// How many moments of a scenario are tried in make check and in make test. In
// make matrix it is every one; killed in truth are then as many as `really`, and
// twice as many as `pairs`.
const (
	few, some     = 1, 8
	really, pairs = 40, 150
)

// A program is killed after every single write of a session, and goes on: the
// story, the files, every question and every answer, the dice and the journals
// are what they are when nobody kills it.
//
// The session is played once, and at every write everything that the program has
// written is kept, which is what a kill at that moment leaves: so says
// TestKillLeavesWhatIsKept. From each of these the people go on.
//
// Writes that leave the same for whoever goes on are one case, and one of them,
// drawn, is tried: SQLite writes a transaction in many pieces, and all but the last
// change nothing.
func TestKillAfterEveryWrite(t *testing.T) {
	eachScenario(t, func(t *testing.T, k *killer) {
		cases := k.cases()
		list := chosen(t, cases)
		survived, stand, r := 0, 0, sample.Rand(t)
		for _, c := range list {
			if k.goOn(c[r.IntN(len(c))], nil) {
				survived++
				stand += len(c)
			}
		}
		t.Logf("%s: %d writes, %d cases; killed in %d, %d went on as if nothing had been, for %d writes",
			k.name, len(k.moments), len(cases), len(list), survived, stand)
	})
}

// Whoever goes on is killed as well, and the one after that goes on.
func TestKillTwice(t *testing.T) {
	eachScenario(t, func(t *testing.T, k *killer) {
		r := sample.Rand(t)
		survived, tried := 0, 0
		for range sample.Count(1, 2, pairs) {
			m := k.moments[r.IntN(len(k.moments))]
			tried++
			if k.goOn(m, after(1+r.IntN(max(1, len(k.moments)-m.n)))) {
				survived++
			}
		}
		t.Logf("%s: %d times killed twice, %d went on as if nothing had been", k.name, tried, survived)
	})
}

// What is kept at a write is, byte by byte, what a program leaves that is killed
// there; and from that people can go on as well.
func TestKillLeavesWhatIsKept(t *testing.T) {
	eachScenario(t, func(t *testing.T, k *killer) {
		for _, i := range sample.Pick(t, len(k.moments), 1, sample.Count(1, 1, really)) {
			k.kill(i + 1)
		}
	})
}

// eachScenario plays scenarios undisturbed, and hands them over.
func eachScenario(t *testing.T, do func(*testing.T, *killer)) {
	program := build(t)
	for _, i := range sample.Pick(t, len(scenarios), 1, 2) {
		s := scenarios[i]
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			k := &killer{t: t, scenario: s, dir: inMemory(t)}
			k.base = newPlace(t, program, filepath.Join(k.dir, "base"), s)
			k.undisturbed()
			do(t, k)
		})
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

// chosen are the cases that are tried. CONCLAVE_KILL_AT=3-70 or =597 repeats
// single writes, for whoever looks for a cause.
func chosen(t *testing.T, cases [][]moment) (list [][]moment) {
	t.Helper()
	at := os.Getenv("CONCLAVE_KILL_AT")
	if at == "" {
		for _, i := range sample.Pick(t, len(cases), few, some) {
			list = append(list, cases[i])
		}
		return list
	}
	var from, to int
	if n, _ := fmt.Sscanf(at, "%d-%d", &from, &to); n == 1 {
		to = from
	}
	if from < 1 || to < from {
		t.Fatalf("CONCLAVE_KILL_AT=%s: want the number of a write, or the first and the last", at)
	}
	for _, m := range slices.Concat(cases...) {
		if from <= m.n && m.n <= to {
			list = append(list, []moment{m})
		}
	}
	return list
}

// killer kills one scenario's sessions.
type killer struct {
	t *testing.T
	scenario
	dir     string
	base    place
	played  place // where the undisturbed session was
	shelf   shelf
	moments []moment
	want    account
}

// moment is one at which the program may die: right after its n-th write.
type moment struct {
	n    int
	last change
	left snapshot
	past
}

// past is what the people have typed so far.
type past struct {
	commands []string
	said     []string // what was kept of it
}

// result is what a session came to.
type result struct {
	past
	deaths  []standing // as it was at each of them
	last    change     // before the last death
	account account
	bad     []string
	told    string // what was printed
	err     error
}

// undisturbed plays the session as it is without a kill, and keeps every moment
// of it.
func (k *killer) undisturbed() {
	k.shelf.kept = map[[sha256.Size]byte]piece{}
	var r result
	p, err := k.base.copyTo(filepath.Join(k.dir, "at"))
	if err == nil {
		k.played = p
		var failed error
		keep := func(c change) bool {
			left, err := k.shelf.take(p.watched())
			failed = errors.Join(failed, err)
			k.moments = append(k.moments, moment{len(k.moments) + 1, c, left, r.past})
			return err != nil
		}
		k.session(p, &r, func(c command) (ending, error) {
			got, err := trace(c, p.watched(), keep)
			return got, errors.Join(err, failed)
		})
	}
	if err = errors.Join(err, r.err); err != nil || len(r.bad) > 0 {
		k.t.Fatalf("undisturbed: %v\n%s\n%s", err, strings.Join(r.bad, "\n"), r.told)
	}
	if k.want = r.account; len(k.moments) < 100 {
		k.t.Fatalf("only %d writes were seen: is the tracer blind?", len(k.moments))
	}
}

// cases are the moments, those together that leave the same for whoever goes on.
func (k *killer) cases() [][]moment {
	type key struct {
		state
		commands, said int
	}
	r := reader{&k.shelf, map[string]*log{}}
	places := map[key]int{}
	var all [][]moment
	for _, m := range k.moments {
		at := key{r.state(m.left), len(m.commands), len(m.said)}
		i, ok := places[at]
		if !ok {
			i = len(all)
			places[at] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], m)
	}
	return all
}

// goOn lets people go on from a moment, and says whether the death did no harm.
// With again the program dies a second time.
func (k *killer) goOn(m moment, again func(change) bool) bool {
	r := result{past: past{slices.Clip(m.commands), slices.Clip(m.said)}, last: m.last}
	where := fmt.Sprintf("killed after write %d (%s)", m.n, m.last)
	if r.err = k.played.watched().restore(m.left); r.err == nil {
		r.err = os.WriteFile(k.played.output(), nil, 0o600)
	}
	var dead standing
	if r.err == nil {
		dead, r.err = k.played.look(k.t.Context())
	}
	if r.err != nil {
		r.err = fmt.Errorf("look at the dead table: %w", r.err)
		return k.unharmed(where, r)
	}
	r.deaths = append(r.deaths, dead)
	writes := 0
	k.session(k.played, &r, func(c command) (ending, error) {
		if again == nil || len(r.deaths) > 1 {
			return live(c)
		}
		got, err := trace(c, k.played.watched(), again)
		writes += len(got.changes)
		return got, err
	})
	if len(r.deaths) > 1 {
		where += fmt.Sprintf(", and again after write %d (%s) of who went on", writes, r.last)
	}
	return k.unharmed(where, r)
}

// kill lets the program die in truth, after its n-th write.
func (k *killer) kill(n int) {
	dir := filepath.Join(k.dir, fmt.Sprintf("at-%d", n))
	defer os.RemoveAll(dir)
	p, err := k.base.copyTo(dir)
	if err != nil {
		k.t.Fatal(err)
	}
	var r result
	count := 0
	k.session(p, &r, func(c command) (ending, error) {
		if len(r.deaths) > 0 {
			return live(c)
		}
		var kept snapshot
		var failed error
		got, err := trace(c, p.watched(), func(change) bool {
			if count++; count == n {
				kept, failed = k.shelf.take(p.watched())
			}
			return count == n
		})
		if err = errors.Join(err, failed); err == nil && got.killed {
			left, err := k.shelf.take(p.watched())
			if err != nil {
				return got, err
			}
			if what := kept.differs(left); what != "" {
				r.bad = append(r.bad, "what was kept is not what the kill left: "+what)
			}
		}
		return got, err
	})
	k.unharmed(fmt.Sprintf("killed in truth after write %d (%s)", n, r.last), r)
}

// unharmed says whether a session came to what it comes to without a kill.
func (k *killer) unharmed(where string, r result) bool {
	bad := r.bad
	if r.err != nil {
		bad = append(bad, r.err.Error())
	} else {
		bad = append(bad, k.want.differences(r.account)...)
	}
	if len(bad) == 0 {
		return true
	}
	k.t.Errorf("%s, in %q:\n%s\n%s", where, r.commands, strings.Join(bad, "\n"), lastLines(r.told, 20))
	return false
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// most is how many commands a session needs at most, whoever dies in it.
const most = 16

// runner is how a command is run.
type runner func(command) (ending, error)

// session plays the scenario in a place, to its end, and looks at what it came to.
func (k *killer) session(p place, r *result, run runner) {
	r.err = k.play(p, r, run)
	if r.told = p.printed(); r.err != nil {
		return
	}
	now, err := p.look(k.t.Context())
	if err != nil {
		r.err = err
		return
	}
	r.bad = append(r.bad, p.proofs(now)...)
	for i, dead := range r.deaths {
		next := now
		if i+1 < len(r.deaths) {
			next = r.deaths[i+1]
		}
		r.bad = append(r.bad, kept(dead, next)...)
	}
	if got, err := live(p.command([]string{"table", "audit", campaign})); err != nil || got.code != 0 {
		r.bad = append(r.bad, fmt.Sprintf("table audit: exit %d, %v", got.code, err))
		r.told = p.printed()
	}
	r.account, r.err = p.account(now)
}

// play lets the people type until they are through.
func (k *killer) play(p place, r *result, run runner) error {
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
		if slices.Contains(r.said, line) {
			r.bad = append(r.bad, fmt.Sprintf("what was kept had to be said again: %s", line))
		}
		got, err := run(p.command(args))
		if err != nil {
			return fmt.Errorf("conclave %s: %w", line, err)
		}
		switch {
		case got.killed:
			dead, err := p.look(k.t.Context())
			if err != nil {
				return fmt.Errorf("look at the dead table: %w", err)
			}
			r.deaths, r.last = append(r.deaths, dead), got.changes[len(got.changes)-1]
		case got.code != 0 && !(k.waits && got.code == 3):
			return fmt.Errorf("conclave %s: exit %d", line, got.code)
		case args[1] == "say" && len(now.Open) > 0:
			r.said = append(r.said, line) // it was kept
		}
	}
	return errors.New("they do not come to an end")
}
