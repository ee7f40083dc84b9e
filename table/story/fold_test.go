package story

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/table"
)

// teller writes logs as a table does, and knows by itself what each campaign
// should remember.
type teller struct {
	t     testing.TB
	root  string
	name  string
	seq   int
	cycle int
	known []string          // what was told and stands
	saves map[string]memory // by name
	order []string          // of the saves
}

type memory struct {
	seq, cycle int
	known      []string
}

func newTeller(t testing.TB, root, name string) *teller {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, "campaigns", name), 0o755); err != nil {
		t.Fatal(err)
	}
	return &teller{t: t, root: root, name: name, saves: map[string]memory{}}
}

func (l *teller) event(e Event) {
	l.t.Helper()
	l.seq++
	e.V, e.Seq, e.Cycle, e.Session, e.Time = Version, l.seq, l.cycle, 1, time.Unix(int64(l.seq), 0).UTC()
	name, data := e.File()
	file := filepath.Join(table.PrivatePath(l.root, l.name), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *teller) play(text string) {
	l.cycle++
	blocks := []table.Block{{Audience: table.Audience{Party: true}, Text: text}}
	l.event(Event{Kind: EventCommit, Blocks: blocks, Context: text, Scene: &Scene{Number: l.cycle, Title: text}})
	l.known = append(slices.Clone(l.known), text)
}

func (l *teller) save(name string) {
	// As Save.Make leaves it, without its waiting for the disk.
	dir := filepath.Join(savesDir(l.root, l.name), name)
	data, err := json.Marshal(Save{Name: name, Seq: l.seq, Cycle: l.cycle})
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "campaign"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "save.json"), data, 0o600)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.saves[name], l.order = memory{l.seq, l.cycle, l.known}, append(l.order, name)
	l.event(Event{Kind: EventSave, Name: name})
}

func (l *teller) restore(name string) {
	l.event(Event{Kind: EventRestore, Name: name, To: l.saves[name].seq})
	l.known = l.saves[name].known
}

// fork returns the other campaign.
func (l *teller) fork(to, save string) *teller {
	f := Fork{Root: l.root, Campaign: l.name, To: to, Save: save, Crash: func(string) {},
		Dice: func(file string) error { return os.WriteFile(file, nil, 0o600) }}
	if err := f.Check(); err != nil {
		l.t.Fatal(err)
	}
	if err := f.Make(); err != nil {
		l.t.Fatal(err)
	}
	other := newTeller(l.t, l.root, to)
	other.seq, other.cycle, other.known = l.seq, l.cycle, l.known
	if save != "" {
		m := l.saves[save]
		other.seq, other.cycle, other.known = m.seq, m.cycle, m.known
	}
	l.event(Event{Kind: EventFork, Name: to})
	return other
}

// check asks the state, the story and the play log what has happened.
func (l *teller) check() {
	l.t.Helper()
	s, err := Load(l.root, l.name)
	if err != nil {
		l.t.Fatal(err)
	}
	var recap []string
	for _, x := range s.Recap {
		recap = append(recap, table.PartyText(x.Blocks))
	}
	title, context := "", ""
	if n := len(l.known); n > 0 {
		title, context = l.known[n-1], l.known[n-1]
	}
	if !slices.Equal(recap, l.known) || len(s.Rounds) != len(l.known) || s.Scene.Title != title || s.Context != context {
		l.t.Fatalf("%s: the state knows %q, scene %q, context %q; should know %q", l.name, recap, s.Scene.Title, s.Context, l.known)
	}
	if s.Seq != l.seq || s.Cycle != l.cycle {
		l.t.Fatalf("%s: event %d, cycle %d; should be %d, %d", l.name, s.Seq, s.Cycle, l.seq, l.cycle)
	}
	tell := map[string]func(root, campaign, title, seat string) (string, error){"story": Story, "log": PlayLog}
	for what, tell := range tell {
		text, err := tell(l.root, l.name, "T", table.SeatTable)
		if err != nil {
			l.t.Fatal(err)
		}
		var told []string
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "Beat ") {
				told = append(told, strings.TrimSpace(line))
			}
		}
		if !slices.Equal(told, l.known) {
			l.t.Fatalf("%s: the %s tells %q; the table knows %q", l.name, what, told, l.known)
		}
	}
}

// T13: back to a save point in a branch that a restore had left. The state knew
// one and two, the story told one.
func TestRestoreAcrossBranches(t *testing.T) {
	l := newTeller(t, t.TempDir(), "ash")
	l.play("Beat one")
	l.save("first")
	l.play("Beat two")
	l.save("second")
	l.restore("first")
	l.check()
	l.restore("second")
	l.check()
	if len(l.known) != 2 {
		t.Fatalf("the test knows %q", l.known)
	}
	missed, err := Missed(l.root, l.name, "tilda", 0)
	if err != nil || missed != "While you were away:\n\nBeat one\n\nBeat two" {
		t.Errorf("%q, %v", missed, err)
	}
}

// Whatever is played, saved, gone back to and forked: the story told is what
// the state knows. With the recursion of old forty restores never ended.
func TestStoryIsTheState(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 13))
		l := newTeller(t, t.TempDir(), "ash")
		restores := 0
		for n := 0; restores < 40 && n < 300; n++ {
			save := ""
			if len(l.order) > 0 {
				save = l.order[r.IntN(len(l.order))]
			}
			switch k := r.IntN(10); {
			case k < 3:
				l.play(fmt.Sprintf("Beat %d", n))
			case k < 5:
				l.save(fmt.Sprintf("save-%d", n))
			case k < 9 && save != "":
				l.restore(save)
				restores++
			case k == 9 && n%4 == 0: // it waits for the disk
				if r.IntN(3) == 0 {
					save = ""
				}
				other := l.fork(fmt.Sprintf("fork-%d", n), save)
				other.check()
				if r.IntN(2) == 0 {
					l = other // go on there
				}
			}
			if n%10 == 0 {
				l.check()
			}
		}
		l.check()
		if restores < 20 {
			t.Errorf("seed %d: only %d restores", seed, restores)
		}
	}
}

// BenchmarkRestores: the state of a log of 400 events, however many of them are
// restores.
func BenchmarkRestores(b *testing.B) {
	for _, restores := range []int{0, 5, 10, 20} {
		b.Run(fmt.Sprint(restores), func(b *testing.B) {
			l := newTeller(b, b.TempDir(), "ash")
			l.play("Beat 0")
			l.save("mark")
			for n := range 398 - restores {
				l.play(fmt.Sprint("Beat ", n+1))
				if restores > 0 && n%(398/restores) == 0 {
					l.restore("mark")
				}
			}
			b.ResetTimer()
			for b.Loop() {
				if _, err := Load(l.root, l.name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
