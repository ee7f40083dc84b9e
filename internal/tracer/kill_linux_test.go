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

// How much of it is tried in make check, in make test and in make matrix:
// scenarios, cases of each, kills in truth, and kills of those who go on after a
// kill.
var (
	howMany = func() int { return sample.Count(1, 1, len(scenarios)) }
	inTruth = func() int { return sample.Count(1, 1, 12) }
	inPairs = func() int { return sample.Count(0, 2, 40) }
)

const few, some = 1, 8

// A program is killed after every single write of a session, and goes on: the
// story, the files, every question and every answer, the dice and the journals
// are what they are when nobody kills it.
//
// The session is played once, and at every write everything that the program has
// written is kept, which is what a kill at that moment leaves. From each of these
// the people go on. Now and then they are killed as well, and now and then the
// program is killed in truth, and what it leaves is held against what was kept.
func TestKillAfterEveryWrite(t *testing.T) {
	program := build(t)
	for _, i := range sample.Pick(t, len(scenarios), howMany(), howMany()) {
		s := scenarios[i]
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			k := &killer{t: t, scenario: s, dir: inMemory(t)}
			k.base = newPlace(t, program, filepath.Join(k.dir, "base"), s)
			k.undisturbed()
			k.everywhere()
			if os.Getenv("CONCLAVE_KILL_AT") == "" {
				k.twice()
				k.truly()
			}
		})
	}
}

// everywhere lets people go on from every write. Writes that leave the same for
// whoever goes on are one case, of which one is drawn: SQLite writes a transaction
// in many pieces, and all but the last change nothing.
func (k *killer) everywhere() {
	cases := k.cases()
	list := chosen(k.t, cases)
	survived, stand, r := 0, 0, sample.Rand(k.t)
	for _, c := range list {
		if k.goOn(c[r.IntN(len(c))], nil) {
			survived++
			stand += len(c)
		}
	}
	k.t.Logf("%s: %d writes, %d cases; killed in %d, %d went on as if nothing had been, for %d writes",
		k.name, len(k.moments), len(cases), len(list), survived, stand)
}

// twice kills those who go on.
func (k *killer) twice() {
	survived, pairs, r := 0, inPairs(), sample.Rand(k.t)
	for range pairs {
		m := k.moments[r.IntN(len(k.moments))]
		if k.goOn(m, after(1+r.IntN(max(1, len(k.moments)-m.n)))) {
			survived++
		}
	}
	k.t.Logf("%s: %d times killed twice, %d went on as if nothing had been", k.name, pairs, survived)
}

// truly kills the program.
func (k *killer) truly() {
	for _, i := range sample.Pick(k.t, len(k.moments), inTruth(), inTruth()) {
		k.kill(i + 1)
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
		photographer := k.photographer(p)
		keep := func(c change) bool {
			left, err := photographer.take(c.path)
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

func (k *killer) photographer(p place) photographer {
	return photographer{p.watched(), &k.shelf, map[string]kept{}}
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

// closely is over how many writes before a kill in truth everything is kept as in
// the undisturbed session.
const closely = 50

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
		before := k.photographer(p)
		got, err := trace(c, p.watched(), func(c change) bool {
			if count++; count >= n-closely { // as the undisturbed session is kept
				kept, failed = before.take(c.path)
			}
			return count == n
		})
		if err = errors.Join(err, failed); err == nil && got.killed {
			after := k.photographer(p)
			left, err := after.take("")
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
		r.bad = append(r.bad, lost(dead, next)...)
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
